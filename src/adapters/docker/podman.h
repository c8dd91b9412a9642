// A podman service of its own, for a machine where no engine runs.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "adapters/docker/device_rules.h"
#include "core/result.h"

namespace hostler::docker {

// How to run it as a child: it serves until it gets SIGTERM. Containers live on without it.
struct PodmanService {
    std::string socket;
    std::vector<std::string> command;
    std::vector<std::pair<std::string, std::string>> environment;  // Beside what the parent has.
    // What it leaves here when it ends is of no use: imports, halves of downloads, answers of the firewall.
    std::filesystem::path scratch;
};

// Programs of ours that it runs.
struct PodmanHelpers {
    DeviceHook hook;
    std::string iptables;  // hostler-iptables, absolute: it stands before the host's own.
};

// Writes its configuration under `folder`, where its images and containers then lie too; what another podman
// of this machine has is not touched. Its containers open the devices that the hook knows of. The same
// folder again finds everything. Blocks, shortly. Errors: not_found (podman is not installed), invalid (the
// folder's name is too long for a socket), unavailable.
Result<PodmanService> prepare_podman(std::filesystem::path folder, const PodmanHelpers& helpers);

// Empties PodmanService::scratch. Only while the service does not run.
void clear_scratch(const std::filesystem::path& scratch);

// Takes away the mounts that podman has left on its storage, once the service has ended and no container of
// it runs.
void release_podman(const std::filesystem::path& folder);

}  // namespace hostler::docker
