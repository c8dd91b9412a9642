// Where the kubelet is, and what its pods get.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>

#include "core/result.h"
#include "ports/pod_devices.h"

namespace hostler::kubelet {

struct Settings {
    // What a container with these GPUs gets. Called on other threads, several at a time; may block, shortly.
    std::function<Result<PodGrant>(std::span<const GpuFacts>)> grant;
    std::string folder = "/var/lib/kubelet/device-plugins";
    std::chrono::milliseconds look{500};           // Between two looks at the kubelet's socket.
    std::chrono::milliseconds grant_look{60'000};  // Between two tries whether each GPU could be granted.
    std::chrono::milliseconds call_time{10'000};   // For the kubelet's answer to a registration.
    std::string pods_socket = "/var/lib/kubelet/pod-resources/kubelet.sock";
    std::chrono::milliseconds pods_time{3'000};  // For its answer to which pods have GPUs.
};

}  // namespace hostler::kubelet
