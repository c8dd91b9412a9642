#include "bin/program_devices.h"

#include <algorithm>

#include "adapters/docker/prepare.h"

namespace hostler::bin {

std::function<program::ResolveDevices()> program_devices(docker::EngineSettings settings) {
    return [settings = std::move(settings)]() -> program::ResolveDevices {
        return [settings, gpus = settings.gpus ? settings.gpus() : std::vector<GpuFacts>{}](
                   std::span<const std::string> names) -> Result<program::DeviceEdits> {
            const auto found = TRY(docker::resolve_devices(settings, names, gpus));
            program::DeviceEdits edits{.environment = found.environment};
            for (const auto& node : found.nodes) edits.nodes.push_back({node.path, node.host_path});
            // Hooks make links to libraries, which lie where the host has them.
            for (const auto& mount : found.mounts) edits.mounts.emplace_back(mount.host_path, mount.path);
            return edits;
        };
    };
}

}  // namespace hostler::bin
