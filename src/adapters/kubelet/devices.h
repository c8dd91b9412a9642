// The PodDevices port, by a thread that keeps a plugin for each resource registered.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "adapters/kubelet/plugin.h"
#include "adapters/kubelet/settings.h"
#include "core/worker.h"
#include "ports/pod_devices.h"

namespace hostler::kubelet {

class KubeletDevices final : public PodDevices {
public:
    KubeletDevices(Loop& loop, Settings settings);
    ~KubeletDevices() override;  // As end().

    void offer(PodOffer offer) override;
    Task<> end() override;
    Task<std::map<std::string, GpuPod>> holders() override;
    PodDeviceCounts counts() const override;

private:
    class Keeper;
    const Settings settings_;
    std::shared_ptr<Keeper> keeper_;  // Null: nothing is offered.
    std::shared_ptr<Counts> counts_;
    std::map<std::string, std::set<std::string>> offered_;  // Devices by resource.
    std::unique_ptr<Worker> worker_;                        // Where keepers end.
    std::unique_ptr<Worker> asker_;                         // Where the kubelet is asked for holders.
};

}  // namespace hostler::kubelet
