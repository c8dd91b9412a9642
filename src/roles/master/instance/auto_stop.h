// What the clock does to instances: their people are told in time, and then they are stopped, as their owners
// said. By level, from what is stored and what hosts report.
#pragma once

#include "domain/instance/schedule.h"
#include "roles/master/command/commands.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct UpdateInstance;
}  // namespace hostler::api

namespace hostler::master {

struct InstanceUse {
    bool in_use = false;       // At its host's last report.
    std::int64_t used_at = 0;  // Microseconds since 1970, by our clock.
    std::string by;
};
// What its host says; nullopt: nothing that counts now. Then it may be in use, for all that we know.
std::optional<InstanceUse> use_of(const Desk& desk, const Instance& instance);

// The rule that stops it first, and when; nullopt: none does, as things are.
std::optional<NextStop> next_stop(const Desk& desk, const Instance& instance);

// Tells of what is to be stopped soon, and stops what is due.
void follow_schedules(Desk& desk);

// Nothing stops it by itself for so long from now. Errors: conflict (not_running; instance_stopping: its host
// was told to).
Result<> keep_alive(Desk& desk, const std::string& id, std::chrono::seconds time);

// What a request says of when to stop; wrong fields are added to `wrong`. What it does not name stays.
void read_schedule(const Desk& desk, std::optional<std::int64_t> inactivity_s,
                   std::optional<std::int64_t> max_run_s, const std::optional<std::string>& stop_at,
                   StopSchedule& into, std::vector<FieldError>& wrong);

// Its schedule, and what it runs. Errors: invalid (a time that is past), conflict (instance_ended), those of
// change_container().
Result<> update_instance(Desk& desk, const std::string& id, const api::UpdateInstance& request);

// The host was to stop it if nobody uses it.
void note_unused_stop(Desk& desk, const HostCommand& command, const CommandAnswer& answer);

}  // namespace hostler::master
