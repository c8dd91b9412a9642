// Instances that ended and are no longer in memory. The store has them; they are answered for until
// `ended_kept` has passed.
#pragma once

#include "roles/master/http/api.h"

namespace hostler::master {

// As instance_named(), among those that ended. A name needs its tenant here; an id does not. nullopt: there
// is none, or it ended too long ago. Errors: forbidden (tenant_differs), those of the store.
Task<std::optional<Instance>> archived_instance(TermPtr term, api::Call call, std::string name,
                                                std::optional<std::string> tenant);
// The same, in memory first. Errors: as instance_named(), those of the store.
Task<Instance> instance_anywhere(TermPtr term, api::Call call, std::string name,
                                 std::optional<std::string> tenant);

// What the store knows of a name; nullopt: no instance of this tenant that left memory had it. Errors: those
// of the store.
Task<std::optional<UsedName>> used_name(TermPtr term, std::string tenant, std::string caller_id);

// As the store has it.
Result<Instance> instance_of(const Object& object);
bool is_answered_for(const Desk& desk, const Instance& ended);
// Errors: conflict (not_running), always: what is asked of it needs one that lives.
std::unexpected<Error> archived(const Instance& instance);

}  // namespace hostler::master
