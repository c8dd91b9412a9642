// What the API shows of times, events and long operations.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Event;
struct LongOperation;
}  // namespace hostler::api

namespace hostler::master {

WallTime wall(std::int64_t micros);
std::optional<WallTime> wall_if(std::int64_t micros);  // nullopt for 0.

api::LongOperation view(const LongOperation& operation);
api::Event view(const EventRecord& event);

}  // namespace hostler::master
