// An image made on the spot, without a registry.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hostler::docker {

inline constexpr std::size_t archive_name_max = 99;  // Bytes.

struct ArchiveFile {
    std::string name;  // At most archive_name_max. A folder ends with "/".
    std::string content;
    unsigned mode = 0644;
};
// An archive (ustar) of files that belong to root. A folder stands before what is in it.
std::string archive_of(const std::vector<ArchiveFile>& files);

// The archive (ustar) of a root file system that holds one executable at `path` ("/demo"), owned by root, and
// the folders that a program may expect: /tmp, /etc, /data. The same bytes for the same arguments.
std::string rootfs_of_program(std::string_view path, std::string_view program);

// "registry:5000/name:tag" → its name and tag (or digest).
std::pair<std::string, std::string> split_image(std::string_view image);

}  // namespace hostler::docker
