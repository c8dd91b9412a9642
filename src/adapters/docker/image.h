// An image made on the spot, without a registry.
#pragma once

#include <string>
#include <string_view>

namespace hostler::docker {

// The archive (ustar) of a root file system that holds one executable at `path` ("/demo"), owned by root, and
// the folders that a program may expect: /tmp, /etc, /data. The same bytes for the same arguments.
std::string rootfs_of_program(std::string_view path, std::string_view program);

}  // namespace hostler::docker
