// What the home of a caller shows, as far as the caller may read it. Numbers come from counts.h; instances
// are looked at up to a bound.
#pragma once

#include <cstddef>

#include "api/handlers.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct Overview;
}  // namespace hostler::api

namespace hostler::master {

inline constexpr std::size_t overview_rows_max = 20;         // Of each list of instances and quotas.
inline constexpr std::size_t overview_places_max = 200;      // Tenants and projects of a caller.
inline constexpr std::size_t overview_instances_max = 2000;  // Whose automatic stops are looked for,
inline constexpr std::size_t overview_quotas_max = 500;      // and whose limits are compared.
inline constexpr std::int64_t overview_stops_within_us = 3'600'000'000;

api::Overview overview(const Desk& desk, const api::Caller& caller);

}  // namespace hostler::master
