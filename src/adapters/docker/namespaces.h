// Network namespaces of podman's containers, each a mount below /run/netns.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::docker {

inline constexpr const char* namespaces_folder = "/run/netns";

// Has what is mounted below `folder` passed on to mount namespaces that are made from this one. The monitor
// of a container with a user namespace lives in such a one and takes the container's network down: from a
// mount that is not passed on it cannot, and namespace, cable and address stay. Before the engine starts.
// Blocks, shortly. Errors: unavailable, with what is missing.
Result<> share_mounts(const std::string& folder);

// The same as /proc/self/mountinfo tells it, for an absolute path without links.
enum class Sharing {
    shared,   // It is passed on.
    mounted,  // It is not, and the folder is a mount that could be.
    plain,    // It is not, and the folder lies in such a mount.
};
Sharing sharing_of(std::string_view mountinfo, std::string_view folder);

// Removes the namespace at `path` of a removed container, with its end of the network.
// Whether there was one. Nothing is done to what podman does not name so for a container. Blocks, for seconds
// at most. Errors: unavailable.
Result<bool> remove_namespace(const std::string& path);

}  // namespace hostler::docker
