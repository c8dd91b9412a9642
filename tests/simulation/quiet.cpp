// Moments in which nothing is broken: only then a wait has a bound.
#include <algorithm>

#include "cloud.h"

namespace hostler::simulation {

bool Cloud::is_quiet() {
    const auto now = term();
    if (!now || late_messages || supervisors_die > 0) return false;
    if (world.network.faults.delay > 0 || world.network.faults.refuse_dial > 0) return false;
    for (const auto& [name, machine] : world.machines()) {
        const sim::EngineFaults& engine = machine->engine.faults;
        if (!machine->awake() || machine->disk.faults.fail > 0 || machine->vfs.faults.slow_sync > 0 ||
            engine.down || engine.slow > Duration{} || engine.refuse_start > 0 ||
            engine.late_news > Duration{} || engine.end_news > 0 || engine.drop_news > 0)
            return false;
        for (const auto& [other, there] : world.machines())
            if (!world.network.reaches(name, other)) return false;
    }
    const auto& live = now->look().live.hosts;
    return live.size() == hosts.size() && std::ranges::all_of(live, [](const auto& row) {
               return row.second.connected && row.second.complete;
           });
}

void Cloud::check_jobs(const master::Desk& desk) {
    if (desk.estate.jobs.all().empty()) return;
    jobs_.look_at_ends(desk, quiet_for(), found);
    queues.look_at_waits(desk, quiet_for(), found);
    queues.look_at_shares(desk, found);
}

}  // namespace hostler::simulation
