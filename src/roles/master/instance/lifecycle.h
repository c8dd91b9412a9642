// Instances: made at a request, and deleted.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct CreateInstance;
}  // namespace hostler::api

namespace hostler::master {

enum class Started { now, before };

// When its host is told: at once, or by the next reconcile_instance(), before which its caller may add to it.
enum class Begins { now, later };

// `program`: it runs without a container, and the request has no image.
enum class RunsAs { container, program };

// Makes an instance in a slot of the stock, else directly where there is room. The same request again, for
// the same owner, answers `before`. `owner`: see owner.h; the caller must check that the
// name is not used in the store (used_name()). Errors: invalid (spec, volumes, zone, protocol),
// conflict (instance_exists, insufficient_capacity, volume_in_use), exhausted (quota_exceeded), forbidden
// (policy_denied, programs_forbidden). `created_by`: as Instance has it.
Result<Started> create_instance(Desk& desk, const api::CreateInstance& request, const std::string& digest,
                                const std::optional<Owner>& owner = std::nullopt,
                                const std::string& created_by = {}, Begins begins = Begins::now,
                                RunsAs runs_as = RunsAs::container);

// Of an instance that ended and was not deleted. A conflict: instance_exists.
Error name_is_taken(const std::string& caller_id);

// It ends for good, and its name is free once it has ended. Deleting what has ended succeeds.
void delete_instance(Desk& desk, const std::string& id, const std::string& why);

// The one that has this name by now.
const Instance* find_instance(const Desk& desk, const std::string& tenant, const std::string& caller_id);

}  // namespace hostler::master
