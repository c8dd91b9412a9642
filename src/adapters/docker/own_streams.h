// A container's output, as files that its programs can open: /dev/stdout and /dev/stderr. Podman makes their
// pipes as root of the host. Where a container has a user namespace of its own, that is nobody in it, and who
// opens them by name is refused: nginx, httpd and php-fpm do so as they begin. A hook of podman's
// (`createRuntime` of oci-hooks(5)) gives the pipes to root of the container.
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
