#include "roles/master/container/memory.h"

#include <fmt/format.h>

namespace hostler::master {

namespace {

// "its process python3", "3 of its processes, the last was python3"; a process may have no name.
std::string killed(std::int64_t count, const std::string& process) {
    if (count == 1) return process.empty() ? "one of its processes" : fmt::format("its process {}", process);
    return fmt::format("{} of its processes{}{}", count, process.empty() ? "" : ", the last was ", process);
}

bool has_kills(const Instance& instance) {
    return instance.memory_kills.count > 0 && instance.memory_kills.generation == instance.run_generation;
}

}  // namespace

void note_memory_kills(Desk& desk, const std::string& id) {
    const Instance* instance = desk.estate.instances.find(id);
    const auto host = instance ? desk.live.hosts.find(instance->host) : desk.live.hosts.end();
    if (host == desk.live.hosts.end()) return;
    const auto seen = host->second.workloads.find(id);
    if (seen == host->second.workloads.end() || !seen->second.memory_kills ||
        seen->second.generation != instance->run_generation)
        return;
    // That its program was among them is told when it ends.
    if (seen->second.state == "exited" && seen->second.oom_killed) return;
    const auto& [count, process] = *seen->second.memory_kills;
    InstanceKills known = instance->memory_kills;
    if (known.generation != instance->run_generation) known = {.generation = instance->run_generation};
    if (count == known.count) return;
    // Its container was started again by itself, and counts from the beginning.
    const std::int64_t more = count > known.count ? count - known.count : count;
    const std::int64_t now = desk.estate.micros();
    if (more > 0 && known.told_at != 0 && now - known.told_at < memory_kill_rest_us) return;
    known.count = count;
    if (more > 0) known.process = process, known.told_at = now;
    desk.estate.instances.edit(id).memory_kills = known;
    if (more > 0)
        desk.estate.event(
            "instance", id, instance->tenant, "process_out_of_memory",
            fmt::format("its memory was used up, and the kernel killed {}", killed(more, process)));
}

bool has_untold_kills(const Desk& desk, const Instance& instance) {
    const auto host = desk.live.hosts.find(instance.host);
    if (host == desk.live.hosts.end()) return false;
    const auto seen = host->second.workloads.find(instance.id);
    if (seen == host->second.workloads.end() || !seen->second.memory_kills ||
        seen->second.generation != instance.run_generation)
        return false;
    const InstanceKills& known = instance.memory_kills;
    return seen->second.memory_kills->count !=
           (known.generation == instance.run_generation ? known.count : 0);
}

std::string memory_kills_sentence(const Instance& instance) {
    if (!has_kills(instance)) return {};
    const auto& kills = instance.memory_kills;
    return fmt::format("Its memory was used up, and the kernel killed {}.",
                       killed(kills.count, kills.process));
}

std::string memory_kills_help(const Instance& instance) {
    if (!has_kills(instance)) return {};
    const std::string& process = instance.memory_kills.process;
    return fmt::format("Let {} use less memory, or make an instance of a larger spec (`hostler spec list`).",
                       process.empty() ? "its processes" : process);
}

}  // namespace hostler::master
