// What the API shows of times, events and long operations.
#pragma once

#include "api/types_common.h"
#include "api/types_key.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

WallTime wall(std::int64_t micros);
std::optional<WallTime> wall_if(std::int64_t micros);  // nullopt for 0.

api::LongOperation view(const LongOperation& operation);
api::Event view(const EventRecord& event);

}  // namespace hostler::master
