#include "roles/agent/memory_watch.h"

#include "core/log.h"
#include "roles/agent/within.h"

namespace hostler::agent {

Task<> MemoryWatch::run() {
    while (ports_.processes) {
        CO_TRY(co_await look());
        CO_TRY(co_await sleep(ports_.timers, settings_.kills_interval));
    }
    co_return Result<>{};
}

std::optional<MemoryKills> MemoryWatch::of(const std::string& instance, std::uint64_t generation) const {
    const auto found = seen_.find(instance);
    if (found == seen_.end() || found->second.generation != generation) return std::nullopt;
    return found->second.kills;
}

Task<> MemoryWatch::look() {
    std::erase_if(seen_, [&](const auto& one) { return !workloads_.find(one.first); });
    std::map<std::string, std::pair<std::string, std::uint64_t>> instances;  // By container.
    std::vector<std::string> containers;
    for (const auto& [instance, workload] : workloads_.all()) {
        if (workload.state != WorkloadState::running) continue;
        instances[workload.container] = {instance, workload.generation};
        containers.push_back(workload.container);
    }
    if (containers.empty()) co_return Result<>{};
    const auto told = co_await within(ports_.loop, ports_.timers, settings_.engine_deadline,
                                      "processes of containers", ports_.processes->memory_kills(containers));
    CO_TRY(co_await check_cancelled());
    if (!told && !std::exchange(failing_, true))
        log_warn("processes that are killed for want of memory are not seen: {}", told.error().message);
    if (!told) co_return Result<>{};
    failing_ = false;
    for (const auto& [container, kills] : *told)
        if (const auto found = instances.find(container); found != instances.end())
            seen_[found->second.first] = {found->second.second, kills};
    co_return Result<>{};
}

}  // namespace hostler::agent
