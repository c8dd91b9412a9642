// Which system calls a container may make, on every engine.
#pragma once

#include <string>

namespace hostler::docker {

// A profile in the form that dockerd and podman read: what is not allowed answers ENOSYS, and what is known
// to lead out of a container EPERM. Only programs of the machine's own word size run: the 32-bit calls of a
// 64-bit machine would be a way around it.
std::string seccomp_profile();

}  // namespace hostler::docker
