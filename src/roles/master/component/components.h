// The parts that a cloud consists of, as the leading master knows them.
#pragma once

#include <optional>
#include <vector>

#include "ports/series.h"
#include "roles/master/leader/term.h"

namespace hostler::api {
struct Component;
}  // namespace hostler::api

namespace hostler::master {

// A master on standby that is silent for longer is `down`. It asks for series every few seconds.
inline constexpr std::chrono::seconds master_silent_after{60};

// Masters, gateways, access points, store, series, authorities; those of a kind in the order of their ids.
// `series`: nullopt: unknown.
std::vector<api::Component> components(Term& term, const std::optional<SeriesStats>& series);

}  // namespace hostler::master
