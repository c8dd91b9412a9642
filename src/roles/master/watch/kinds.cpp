#include "roles/master/watch/kinds.h"

#include "roles/master/changes/notice.h"
#include "roles/master/state/kinds.h"

namespace hostler::master {

namespace {

constexpr ShownKind shown_rows[] = {
#define PART(type)
#define KIND(...)
#define HIDDEN(type, why)
#define SHOWN(type, word, permission, ...) {word, Kind<type>::name, Permission::permission},
#define SHOWN_PART SHOWN
#include "roles/master/kinds.def"
#undef KIND
#undef PART
    {event_kind, "", Permission::event_read},
};

constexpr HiddenKind hidden[] = {
#define PART(type)
#define KIND(...)
#define SHOWN(...)
#define SHOWN_PART(...)
#define HIDDEN(type, why) {Kind<type>::name, why},
#include "roles/master/kinds.def"
#undef KIND
#undef PART
};

}  // namespace

std::span<const ShownKind> shown_kinds() { return shown_rows; }
std::span<const HiddenKind> hidden_kinds() { return hidden; }

}  // namespace hostler::master
