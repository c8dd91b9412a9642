// What pods of a cluster get for their GPUs: as containers of instances do, by the same description.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/kernel_files.h"
#include "core/task.h"
#include "ports/pod_devices.h"

namespace hostler::bin {

struct PodDeviceOptions {
    std::vector<std::string> cdi_folders;  // Empty: where others look, too.
    KernelRoots roots;
};

// By the operator's CDI files, else by what the host's driver has. Blocks, shortly. Errors: not_found,
// invalid, conflict, unavailable.
Result<PodGrant> pod_grant(const PodDeviceOptions& options, std::span<const GpuFacts> gpus);

std::unique_ptr<PodDevices> make_pod_devices(Loop& loop, PodDeviceOptions options);

}  // namespace hostler::bin
