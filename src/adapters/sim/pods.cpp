#include "adapters/sim/pods.h"

#include <algorithm>

namespace hostler::sim {

namespace {

constexpr std::chrono::seconds end_time{1}, patience{3};  // As adapters/kubelet has them.

}  // namespace

std::vector<std::string> PodHost::free() const {
    const auto registered = plugin.lock();
    if (!registered || !kubelet_runs || !kubelet_runs()) return {};
    std::vector<std::string> found;
    for (const std::string& gpu : registered->healthy)
        if (std::ranges::none_of(pods, [&](const Pod& pod) { return pod.gpus.contains(gpu); }))
            found.push_back(gpu);
    return found;
}

void PodHost::begin(Pod pod) {
    ++plugin.lock()->counts.allocations;
    pods.push_back(std::move(pod));
}

void SimPodDevices::offer(PodOffer offer) {
    offered_.clear();
    if (!plugin_) host_.plugin = plugin_ = std::make_shared<PodHost::Plugin>();
    plugin_->healthy.clear();
    for (const PodGpu& gpu : offer.gpus) {
        if (pod_resource(gpu.facts).empty()) continue;
        offered_.insert(gpu.facts.uuid);
        if (gpu.healthy) plugin_->healthy.insert(gpu.facts.uuid);
    }
}

// Until it returns a pod may still get a GPU.
Task<> SimPodDevices::end() {
    offered_.clear();
    const auto ending = std::exchange(plugin_, nullptr);
    if (!ending) co_return Result<>{};
    const auto passed = co_await sleep(timers_, up_to(end_time));
    counted_.allocations += ending->counts.allocations;
    co_return passed;
}

// The kubelet looks in the middle of the time that it takes: who asked may have ended its offer since.
Task<std::map<std::string, GpuPod>> SimPodDevices::holders() {
    if (offered_.empty()) co_return fail(Code::unavailable, "pods are offered no GPU");
    const std::set<std::string> asked = offered_;
    if (host_.dice.chance(host_.faults.hang)) {
        CO_TRY(co_await sleep(timers_, patience));
        co_return fail(Code::timeout, "the kubelet does not tell in time which pods have GPUs");
    }
    const bool fails = host_.dice.chance(host_.faults.fail);
    CO_TRY(co_await sleep(timers_, up_to(host_.faults.time_max / 2)));
    const bool answers = !fails && host_.kubelet_runs && host_.kubelet_runs();
    std::map<std::string, GpuPod> told;
    for (const PodHost::Pod& pod : host_.pods)
        for (const std::string& gpu : pod.gpus)
            if (asked.contains(gpu)) told[gpu] = pod.name;
    CO_TRY(co_await sleep(timers_, up_to(host_.faults.time_max / 2)));
    if (!answers) co_return fail(Code::unavailable, "no kubelet answers");
    co_return told;
}

PodDeviceCounts SimPodDevices::counts() const {
    PodDeviceCounts all = counted_;
    if (plugin_) all.allocations += plugin_->counts.allocations;
    return all;
}

Duration SimPodDevices::up_to(Duration most) {
    return Duration{
        static_cast<std::int64_t>(host_.dice.below(static_cast<std::uint64_t>(most.count()) + 1))};
}

}  // namespace hostler::sim
