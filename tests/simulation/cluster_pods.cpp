#include "cluster_pods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hostler::simulation {

void ClusterPods::each_second(const std::vector<std::string>& machines) {
    for (const std::string& name : machines) {
        sim::Machine& machine = world_.machine(name);
        go(machine);
        come(machine);
    }
}

const ClusterPods::Pod* ClusterPods::find(const std::string& name) const {
    const auto found = all_.find(name);
    return found == all_.end() ? nullptr : &found->second;
}

// By themselves, or with all that their machine had.
void ClusterPods::go(sim::Machine& machine) {
    constexpr double chance = 1.0 / 30;
    auto& running = running_[machine.name];
    if (running.empty()) return;
    auto& pods = machine.pod_host.pods;
    std::erase_if(pods, [&](const auto&) { return dice_.chance(chance); });
    std::erase_if(running, [&](const std::string& pod) {
        if (std::ranges::any_of(pods, [&](const auto& one) { return one.name.name == pod; })) return false;
        all_.at(pod).until = world_.timers.now();
        world_.note(fmt::format("{}: pod {} ends", machine.name, pod));
        return true;
    });
}

void ClusterPods::come(sim::Machine& machine) {
    constexpr double chance = 0.2;
    constexpr std::size_t gpus_max = 2;
    const auto node = clusters_.node_on(machine.name);
    if (!node || !machine.awake()) return;  // The agent is asked for what a container gets.
    std::vector<std::string> free = machine.pod_host.free();
    if (free.empty() || !dice_.chance(chance)) return;
    Pod pod{.node = *node, .since = world_.timers.now()};
    for (std::size_t left = 1 + dice_.below(gpus_max); left > 0 && !free.empty(); --left) {
        const auto one = free.begin() + static_cast<std::ptrdiff_t>(dice_.below(free.size()));
        pod.gpus.insert(*one);
        free.erase(one);
    }
    const std::string name = fmt::format("{}-{}", node->cluster, all_.size());
    world_.note(fmt::format("{}: pod {} gets {}", machine.name, name, fmt::join(pod.gpus, " ")));
    machine.pod_host.begin({{"default", name, "main"}, pod.gpus});
    running_[machine.name].insert(name);
    all_[name] = std::move(pod);
}

}  // namespace hostler::simulation
