// For tests: notes what pods are offered.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/signal.h"
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
    Task<std::map<std::string, GpuPod>> holders() override {
        ++questions;
        while (silent) CO_TRY(co_await answers.wait());
        if (no_holders) co_return std::unexpected(*no_holders);
        co_return pods;
    }
    PodDeviceCounts counts() const override { return counted; }

    std::map<std::string, GpuPod> pods;  // By UUID.
    std::optional<Error> no_holders;
    bool silent = false;  // Questions wait until `answers` after it no longer is.
    Signal answers;
    int questions = 0;
    PodDeviceCounts counted;
    std::optional<PodOffer> offered;  // Now.
    std::optional<Error> fails;
    int ends = 0;
};

}  // namespace hostler::agent::testing
