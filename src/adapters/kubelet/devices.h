// The PodDevices port, by a thread that keeps a plugin for each resource registered.
#pragma once

#include <memory>

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

private:
    class Keeper;
    const Settings settings_;
    std::shared_ptr<Keeper> keeper_;  // Null: nothing is offered.
    std::unique_ptr<Worker> worker_;  // Where keepers end.
};

}  // namespace hostler::kubelet
