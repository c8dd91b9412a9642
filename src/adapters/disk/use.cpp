#include "adapters/disk/use.h"

#include <sys/statvfs.h>

namespace hostler::disk {

std::optional<DiskUse> use_at(const std::string& at, const std::string& beside) {
    struct statvfs here{}, there{};
    if (::statvfs(at.c_str(), &here) != 0 || ::statvfs(beside.c_str(), &there) != 0) return std::nullopt;
    if (here.f_fsid == there.f_fsid) return std::nullopt;
    const auto count = [](auto number) { return static_cast<std::int64_t>(number); };
    const auto unit = count(here.f_frsize);
    return DiskUse{.used_bytes = count(here.f_blocks - here.f_bfree) * unit,
                   .total_bytes = count(here.f_blocks) * unit,
                   .used_inodes = count(here.f_files - here.f_ffree),
                   .total_inodes = count(here.f_files)};
}

}  // namespace hostler::disk
