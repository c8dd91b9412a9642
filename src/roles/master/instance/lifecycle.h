// Instances: from a request to a claim, a command, a running container, and back.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct CreateInstance;
}  // namespace hostler::api

namespace hostler::master {

enum class Started { now, before };

// Makes an instance in a slot of the stock, else directly where there is room. The same request again, for
// the same owner, answers `before`. `owner`: see owner.h; the caller must check that the
// name is not used in the store (used_name()). Errors: invalid (spec, volumes, zone, protocol),
// conflict (instance_exists, insufficient_capacity, volume_in_use), exhausted (quota_exceeded), forbidden
// (policy_denied). `created_by`: as Instance has it.
Result<Started> create_instance(Desk& desk, const api::CreateInstance& request, const std::string& digest,
                                const std::optional<Owner>& owner = std::nullopt,
                                const std::string& created_by = {});

// Of an instance that ended and was not deleted. A conflict: instance_exists.
Error name_is_taken(const std::string& caller_id);

// Who wants an instance to run. Quotas and policies refuse callers; what the master moves has
// its share already, and of the policies zones and trust alone count for it.
enum class WantedBy { caller, master };

// From stock if there is some, else directly. The claim is taken at once, so that quotas hold whatever is
// asked at the same time. Errors: conflict (insufficient_capacity, placement_impossible), exhausted
// (quota_exceeded).
Result<> give_place(Desk& desk, Instance& instance, const std::string& zone, const std::string& host,
                    WantedBy by);

// Why quotas would refuse to start this one, which holds no place; nullopt: they would not.
std::optional<Error> quota_against_start(const Desk& desk, const Instance& instance);

// Finds a place for one that has none: claim, subnet and address, where its volumes are or come to be. All or
// nothing. Errors: conflict (insufficient_capacity, volume_in_use, no_subnet), exhausted (quota_exceeded).
Result<> settle(Desk& desk, Instance& instance, const std::string& zone, const std::string& host,
                WantedBy by);

// Finds addresses where its claim is. Errors: conflict (no_subnet); then the place is given back.
Result<> move_in(Desk& desk, Instance& instance);

// It ends for good, and its name is free once it has ended. Deleting what has ended succeeds.
void delete_instance(Desk& desk, const std::string& id, const std::string& why);

// Its run is over, if one has begun: when and why is kept, for the newest InstanceRun::kept_max.
void keep_run(Desk& desk, Instance& instance, const std::string& reason);

// Moves it along its life, if `event` leads anywhere; keeps reason and message.
void note(Desk& desk, const std::string& id, InstanceEvent event, std::string reason, std::string message);

// Whether a container that exited with this code did what it was for: none that was to answer a probe first.
bool ended_well(const Instance& instance, int exit_code);
void note_completed(Desk& desk, const std::string& id);

// Compares what is wanted with what is seen, and acts: makes commands, notes ends, frees what is held.
void reconcile_instance(Desk& desk, const std::string& id);

// Those about which something may be to do: what changed since this was asked last, and what waits. By level,
// every second.
std::set<std::string> instances_to_reconcile(Desk& desk);

// Its host has something else at the addresses of its subnet: it gets another, and is started anew. false:
// there is none, or too many were tried.
bool move_to_another_subnet(Desk& desk, const std::string& id);
// The same where its address alone is taken: another one of its subnet.
bool move_to_another_address(Desk& desk, const std::string& id);
// What it wrote is not on its host any more: it begins with its image alone, and its people are told.
bool begin_without_layer(Desk& desk, const std::string& id);

// Nothing of it runs any more: claim, slot and subnet are free.
void let_go(Desk& desk, const std::string& id);

// The one that has this name by now.
const Instance* find_instance(const Desk& desk, const std::string& tenant, const std::string& caller_id);

// Without a wildcard domain each port of an instance is a port of the gateway's own. Errors: conflict
// (no_gateway_port).
Result<> give_own_ports(const Desk& desk, std::vector<InstancePort>& ports);
// The same for ports of this instance that have none, or whose own another instance has by now.
Result<> keep_own_ports(const Desk& desk, const std::string& id, std::vector<InstancePort>& ports);

}  // namespace hostler::master
