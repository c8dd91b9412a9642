// What is free on the hosts, after all claims.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "domain/scheduler/place.h"
#include "roles/master/desk.h"

namespace hostler::master {

// All hosts that are not retired; `spec` is counted for spreading, `image` is what is to run (empty: not
// known).
std::vector<Candidate> candidates(const Desk& desk, const std::string& spec, const std::string& image = {});

// Slots of `spec` per zone, those without a place left out.
std::map<std::string, int> slots_per_zone(const Desk& desk, const std::string& spec);

Demand demand_of(const Spec& spec, const std::string& zone);

// Takes what was decided: a claim that the ledger knows of. Its address is the lowest free one on the host.
const Claim& claim(Desk& desk, const Demand& demand, const Placement& placement, ClaimUse use,
                   const std::string& tenant, const std::string& holder);

// Why nothing new goes to this host; empty: it may.
std::string unavailable(const Host& host);
std::string unavailable(const Desk& desk, const Host& host);  // And in a store that was restored.

}  // namespace hostler::master
