// The kubelet's API for monitors, v1: which pods have which devices.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "core/result.h"
#include "domain/inventory/gpu_pod.h"

namespace hostler::kubelet {

// By device; of `resources`, the devices of each, alone. A device that two pods have is left out. Blocks for
// `time` at most. Errors: unavailable, timeout, exhausted (the answer is larger than `answer_max`).
Result<std::map<std::string, GpuPod>> ask_holders(
    const std::string& socket, std::chrono::milliseconds time,
    const std::map<std::string, std::set<std::string>>& resources);
inline constexpr int answer_max = 4 << 20;  // A node has some hundred pods, each with less than a KiB.

}  // namespace hostler::kubelet
