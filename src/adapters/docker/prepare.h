// What a host has for a container before it is made: limits, devices, drivers, files.
#pragma once

#include <span>

#include "adapters/docker/bodies.h"
#include "adapters/docker/engine_settings.h"

namespace hostler::docker {

// An engine cannot give more than it has, and has about what we have; its monitor is also bound by the number
// of process ids.
Confinement confinement(const EngineSettings& settings);

// Older kernels cannot show an image's files under other users: each tenant would cost a copy of each image.
bool kernel_maps_layers();

// By the operator's files; a GPU that none of them defines, by what the host's driver has for it now. Blocks:
// reads the CDI folders. Errors: not_found, invalid, conflict, unavailable (gpu_unreachable).
Result<CdiEdits> resolve_devices(const EngineSettings& settings, std::span<const std::string> names,
                                 std::span<const GpuFacts> gpus);

// Blocks: writes the profile, reads the CDI folders and looks whether what is to be mounted is there.
Result<CdiEdits> prepare(const EngineSettings& settings, const ContainerSpec& spec, std::string_view resolver,
                         std::string_view user, std::span<const GpuFacts> gpus);

}  // namespace hostler::docker
