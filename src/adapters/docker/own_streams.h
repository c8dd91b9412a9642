// Programs open /dev/stdout and /dev/stderr by name: nginx, httpd and php-fpm do when they start. Podman
// creates these pipes as root of the host, who has no number in a container with a user namespace, so that
// the open fails. A podman hook (`createRuntime` of oci-hooks(5)) gives the pipes to root of the container.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::docker {

// The annotation by which podman finds the hook. An image may have it, too; it gets its own pipes then.
inline constexpr const char* streams_annotation = "hostler.streams";
// `hostler-agent oci-streams`: what podman runs, with the state of a container as input.
inline constexpr const char* streams_command = "oci-streams";

std::string streams_hook_file(const std::string& agent);

// Gives the pipes that are standard output and error of the container whose OCI state this is to the user and
// group that are 0 in it. What is no pipe of root's stays. Errors: invalid (no such state), unavailable.
Result<> own_streams(std::string_view state);

// The hook: what it cannot do is told, and keeps no container from starting. Its exit code.
int streams_main();

}  // namespace hostler::docker
