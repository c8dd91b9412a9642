// The small files in which the kernel tells things: sysfs and procfs. Reading one may block when a device
// hangs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostler {

// Where to look: a container, a test, or another machine's tree may have them elsewhere.
struct KernelRoots {
    std::string sys = "/sys";
    std::string proc = "/proc";
    std::string dev = "/dev";
    std::string etc = "/etc";
};

// All of a file; nullopt: not there, not readable, or larger than `size_max`.
std::optional<std::string> read_bytes(const std::string& path, std::size_t size_max);
// The same without trailing white space.
std::optional<std::string> read_text(const std::string& path, std::size_t size_max = 4096);
// The number that a file begins with, decimal or 0x…; nullopt also: none.
std::optional<std::int64_t> read_number(const std::string& path);
std::optional<std::int64_t> parse_number(std::string_view text);
// Names in a folder, numbers in them in order ("card2" before "card10"); empty: not there. Of more than
// `names_max` any `names_max`.
std::vector<std::string> list_folder(const std::string& path, std::size_t names_max = 4096);
// The last part of where a link points: "amdgpu" of ".../device/driver". Empty: not a link.
std::string link_name(const std::string& path);
// The path without links; empty: it leads nowhere.
std::string real_path(const std::string& path);
// The value of "Key: value" or "key value" or "KEY=value" lines; nullopt: no such line.
std::optional<std::string> value_of_line(std::string_view text, std::string_view key);

// 1 … 6 for a link speed as sysfs writes it ("16.0 GT/s PCIe" is 4); 0: unknown.
int pcie_generation(std::string_view speed);

}  // namespace hostler
