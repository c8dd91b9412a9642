// What is free on the hosts, after all claims.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/scheduler/denial.h"
#include "domain/scheduler/place.h"
#include "roles/master/scheduler/room.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

inline constexpr int address_first = 2;  // .0 is the network, .1 the gateway,
inline constexpr int address_last = 254;
inline constexpr int addresses_per_host = address_last - address_first + 1;

// What is free on the hosts that are not removed, as it is now, and where the next demand goes.
Room& room(const Desk& desk);

// All claims on a host that is not removed, by id, without looking at any others.
std::vector<const Claim*> claims_on(const Desk& desk, const std::string& host);

// Slots of `spec` per zone, those without a place left out.
std::map<std::string, int> slots_per_zone(const Desk& desk, const std::string& spec);

Demand demand_of(const Spec& spec, const std::string& zone);
// With what its owner wishes, as far as policies allow it; where its volumes lie is left open.
Demand demand_of(const Desk& desk, const Spec& spec, const Instance& instance);
// A tenant's group, among all tenants'.
std::string group_key(const std::string& tenant, const std::string& group);

// What a refused demand is answered with: `before` and why. Conflict: placement_impossible (no host could
// take it, even if nothing ran there), insufficient_capacity.
Error refusal(const Denial& why, const std::string& before);

// The lowest place in its subnets, from `from` on, that no claim on the host has; nullopt: none is left.
std::optional<int> free_address(const Desk& desk, const std::string& host, int from = address_first);

// Takes what was decided: a claim that the ledger knows of. Its address is the lowest free one on the host.
const Claim& claim(Desk& desk, const Demand& demand, const Placement& placement, ClaimUse use, ClaimOf of);

// Whether a GPU of this host, by its UUID, may take work.
bool usable(const Host& host, const std::string& gpu);
// Whether none of the GPUs that it holds is known to be unfit.
bool fit(const Desk& desk, const Claim& claim);

// Why nothing new goes to this host; empty: it may.
std::string unavailable(const Host& host);
// And in a store that was restored, or while it is to be free.
std::string unavailable(const Desk& desk, const Host& host);
std::optional<Obstacle> closed_by(const Desk& desk, const Host& host);

// Instances that hold something there, by id.
std::set<std::string> instances_on(const Desk& desk, const std::string& host);

}  // namespace hostler::master
