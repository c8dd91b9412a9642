// Which devices a container may open, where the engine does not pass that on. Podman leaves the rules of a
// container out when it has a user namespace of its own, and the runtime then opens none but /dev/null and
// its like. A hook of podman's (`precreate` of oci-hooks(5)) puts them into what the runtime is told.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "adapters/docker/cdi.h"

namespace hostler::docker {

// Where rules of containers lie: root's alone, one file for each, by the container's name. Podman starts
// containers again also while no agent runs and after the host was, so they are kept.
inline constexpr const char* device_rules_folder = "/var/lib/hostler-agent/devices";
// The annotation by which podman finds the hook: the container's name. An image may have it too, so it says
// where to look and nothing else.
inline constexpr const char* device_annotation = "hostler.devices";
// `hostler-agent oci-hook FOLDER`: what podman runs, with the configuration of a container as input and
// output.
inline constexpr const char* hook_command = "oci-hook";

// Who is to be run as a hook, and with which folder.
struct DeviceHook {
    std::string agent;  // The program hostler-agent, absolute.
    std::string rules = device_rules_folder;
};

// The file that podman wants in one of its folders of hooks.
std::string hook_file(const DeviceHook& hook);
// Whether podman finds that of the package, or a copy, where it looks by itself.
bool hook_installed();

// Keeps what the container `id` of this name may open. Blocks, shortly. Errors: exhausted (disk_full),
// unavailable (the folder is not root's alone).
Result<> keep_rules(const std::string& folder, const std::string& name, std::string_view id,
                    std::span<const CdiNode> nodes);
void remove_rules(const std::string& folder, const std::string& name);

// A container's OCI configuration with the rules that are kept for it; as it was where none are, since a
// container of somebody else may have our annotation. Blocks, shortly. Errors: invalid, unavailable.
Result<std::string> with_rules(std::string config, const std::string& folder);

// The hook: from standard input to standard output. Its exit code.
int hook_main(const std::string& folder);

}  // namespace hostler::docker
