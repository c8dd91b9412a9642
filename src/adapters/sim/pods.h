// Pods that have GPUs of a simulated machine. They outlive the agent that offered them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "adapters/sim/dice.h"
#include "core/timers.h"
#include "ports/pod_devices.h"

namespace hostler::sim {

struct PodFaults {
    double fail = 0;  // Chances of each question to the kubelet: it fails after all the time of an answer;
    double hang = 0;  // it gets no answer.
    Duration time_max = std::chrono::milliseconds{50};  // Of an answer.
};

// What the machine keeps over the death of its agent.
struct PodHost {
    struct Pod {
        GpuPod name;
        std::set<std::string> gpus;  // UUIDs.
    };
    // What an agent has registered with the kubelet; it goes with the agent's process.
    struct Plugin {
        std::set<std::string> healthy;  // UUIDs.
        PodDeviceCounts counts;
    };

    explicit PodHost(Dice with) : dice(with) {}
    std::vector<std::string> free() const;  // GPUs that a pod could get now, by UUID.
    void begin(Pod pod);                    // With GPUs that are free.
    void power_cut() { pods.clear(); }

    Dice dice;
    PodFaults faults;
    std::vector<Pod> pods;               // That run.
    std::function<bool()> kubelet_runs;  // Unset: none does.
    std::weak_ptr<Plugin> plugin;
};

class SimPodDevices final : public PodDevices {
public:
    SimPodDevices(PodHost& host, Timers& timers) : host_(host), timers_(timers) {}

    void offer(PodOffer offer) override;
    Task<> end() override;
    Task<std::map<std::string, GpuPod>> holders() override;
    PodDeviceCounts counts() const override;

private:
    Duration up_to(Duration most);

    PodHost& host_;
    Timers& timers_;
    std::set<std::string> offered_;  // UUIDs, healthy or not.
    std::shared_ptr<PodHost::Plugin> plugin_;
    PodDeviceCounts counted_;  // By plugins that have ended.
};

}  // namespace hostler::sim
