// Instances that ended: how long they stay in memory, and who answers for them afterwards. The store has
// them; they are answered for until `ended_kept` has passed.
#pragma once

#include "core/task.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct Call;
}  // namespace hostler::api

namespace hostler::master {

class Term;
using TermPtr = std::shared_ptr<Term>;

// Instances that ended leave memory, a bounded number at a time. true: there are more.
bool archive_instances(Desk& desk);
// The store knows from the next commit on whose this name was, and whether it is free.
void keep_name(Desk& desk, UsedName name);

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
