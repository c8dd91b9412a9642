#include "roles/agent/uses.h"

#include <algorithm>

namespace hostler::agent {

namespace {

void add(Metric& into, const Metric& more) {
    if (more) into = into.value_or(0) + *more;
}

void clamp_percent(Metric& percent) {
    if (percent) percent = std::clamp<std::int64_t>(*percent, 0, 100);
}

}  // namespace

std::vector<WorkloadUse> uses_of(const Sampler::Samples& samples,
                                 const std::map<std::string, Workload>& workloads) {
    std::map<std::string, std::string> instances;  // By container.
    for (const auto& [instance, workload] : workloads)
        if (!workload.container_id.empty()) instances[workload.container_id] = instance;
    const auto instance_of = [&](std::int64_t pid) -> std::string {
        const auto container = samples.containers.find(pid);
        if (container == samples.containers.end()) return {};
        const auto instance = instances.find(container->second);
        return instance == instances.end() ? std::string{} : instance->second;
    };
    std::map<std::pair<std::string, std::string>, WorkloadUse> uses;
    for (const auto& gpu : samples.gpus) {
        if (!gpu.processes) continue;
        for (const auto& process : *gpu.processes) {
            const std::string instance = instance_of(process.pid);
            WorkloadUse& use = uses[{gpu.uuid, instance}];
            use.gpu = gpu.uuid;
            use.instance = instance;
            ++use.processes;
            add(use.memory_bytes, process.memory_bytes);
            add(use.utilisation_percent, process.utilisation_percent);
            add(use.memory_utilisation_percent, process.memory_utilisation_percent);
        }
    }
    std::vector<WorkloadUse> all;
    for (auto& [key, use] : uses) {
        clamp_percent(use.utilisation_percent);
        clamp_percent(use.memory_utilisation_percent);
        all.push_back(std::move(use));
    }
    return all;
}

}  // namespace hostler::agent
