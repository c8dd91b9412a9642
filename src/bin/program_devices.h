// Devices of programs without containers, found as for containers.
#pragma once

#include "adapters/docker/engine_settings.h"
#include "adapters/program/settings.h"

namespace hostler::bin {

// For ProgramSettings::devices, by the same CDI files and driver as the container engine of the settings.
std::function<program::ResolveDevices()> program_devices(docker::EngineSettings settings);

}  // namespace hostler::bin
