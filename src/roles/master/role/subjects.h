// Users, groups and service accounts as requests about roles name them.
#pragma once

#include <string>

#include "api/handlers.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// By id or login: of a home tenant whose users the caller sees, or with a role in `tenant`. Others come by
// invitation. Errors: not_found (user_not_found).
Result<const User*> user_known(const Desk& desk, const api::Call& call, const std::string& tenant,
                               const std::string& name);
// By id, or by name in `tenant`. Errors: not_found (group_not_found), forbidden (permission_missing).
Result<const Group*> group_named(const Desk& desk, const api::Call& call, const std::string& tenant,
                                 const std::string& name);
// "user/LOGIN", "group/NAME", "account/NAME", or with ids, as "user/u-…". Errors: invalid, not_found.
Result<std::string> subject_named_by(const Desk& desk, const api::Call& call, const std::string& tenant,
                                     const std::string& text);
// Login of the user, name of the group or service account; empty: it has gone.
std::string name_of_subject(const Desk& desk, const std::string& subject);

}  // namespace hostler::master
