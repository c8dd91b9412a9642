// What subjects hold: by grants of their own, and by those of their groups.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/tenancy/principal.h"
#include "domain/tenancy/role.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

inline constexpr std::string_view user_subject = "user/", group_subject = "group/",
                                  account_subject = "account/";

// Of a role that is built in, or that the tenant defined; nullopt: there is none.
std::optional<Permissions> permissions_of_role(const Desk& desk, const std::string& tenant,
                                               const std::string& name);

// What "user/u-…" or "account/sa-…" holds at `now`, in microseconds. A subject that is disabled holds
// nothing.
std::vector<Held> held_by(const Desk& desk, const std::string& subject, std::int64_t now);
// What that stands on, for those who keep an answer about it: "grant/gr-…", "group/g-…@N", "role/acme/ops@N".
std::vector<std::string> marks_held_by(const Desk& desk, const std::string& subject, std::int64_t now);
bool is_mark_held(std::string_view mark);  // It is one of these.
// Whether it no longer stands.
bool is_over_held(const Desk& desk, const std::string& mark, std::int64_t now);
// Marks that a change of this row may have ended.
std::vector<std::string> marks_of_touched(const Desk& desk, const Touched& touched);

// Tenants in which the subject has a role.
std::vector<std::string> tenants_of(const Desk& desk, const std::string& subject);

// Somebody can manage people and roles of the tenant: an enabled user who has both permissions there, for
// good.
bool has_admin(const Desk& desk, const std::string& tenant);

}  // namespace hostler::master
