// Container images of the parts and of workloads, made of the programs: no registry is asked.
#pragma once

#include <string>

#include "core/result.h"

namespace hostler::kube {

inline constexpr const char* hello_image =
    "hostler.test/hello:1";  // Answers HTTP on port 8080 with its pod's name.

// Writes an archive for `ctr images import` to `archive`, and uses `folder` for it: those that the driver of
// kubeadm names, and hello_image. Errors: unavailable.
Result<> write_images(const std::string& archive, const std::string& folder);

// The pause image that the kubelets of this release expect.
Result<std::string> pause_image();

}  // namespace hostler::kube
