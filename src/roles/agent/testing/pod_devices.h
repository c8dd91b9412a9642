// For tests: notes what pods are offered.
#pragma once

#include <optional>
#include <vector>

#include "ports/pod_devices.h"

namespace hostler::agent::testing {

class FakePodDevices : public PodDevices {
public:
    void offer(PodOffer offer) override { offered = std::move(offer); }
    Task<> end() override {
        ++ends;
        if (fails) co_return std::unexpected(*fails);
        offered.reset();
        co_return Result<>{};
    }
    std::optional<PodOffer> offered;  // Now.
    std::optional<Error> fails;
    int ends = 0;
};

}  // namespace hostler::agent::testing
