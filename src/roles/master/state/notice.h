// What a watch over all kinds is told of a commit, and who may know. The rows are in kinds.def: one for each
// kind of objects, so that none is forgotten.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/tenancy/principal.h"

namespace hostler::master {

// Who may know of an object: those with its permission at `scope`,
struct Audience {
    Scope scope;
    bool everywhere = false;  // or at any scope,
    bool own = false;         // or not even those,
    std::string subject{};    // and this one whatever they may: "user/u-…".
};

enum class Happened { added, changed, removed };

struct Notice {
    std::string_view kind;  // As people call it: of shown_kinds().
    Permission permission = Permission::self_read;
    std::string id, name;
    Audience audience;
    Happened what = Happened::changed;
};

// `actor`: as events name the caller.
bool may_know(const Principal& principal, const std::string& actor, const Notice& notice);

// Kinds that a watch tells of, in the order of kinds.def; `stored`: as the store calls the rows.
struct ShownKind {
    std::string_view word;
    std::string_view stored;
    Permission permission;
};
std::span<const ShownKind> shown_kinds();
// Kinds of rows that it does not tell of, and why.
struct HiddenKind {
    std::string_view stored;
    std::string_view why;
};
std::span<const HiddenKind> hidden_kinds();

// Events have no rows: that there are new ones is told once for each tenant and commit, with the tenant as
// id.
inline constexpr std::string_view event_kind = "event", cloud_events = "cloud";
Notice notice_of_events(const std::string& tenant);

}  // namespace hostler::master
