// Control groups as the kernel shows them, version 1 and version 2: where they are, who is in them, and how
// all of them end.
#pragma once

#include <sys/types.h>

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler {

struct Hierarchy {
    std::string path;         // Where it is mounted.
    bool unified = false;     // Version 2.
    bool of_systemd = false;  // Version 1 without a controller: systemd's book of services.
    std::set<std::string> controllers;
    bool operator==(const Hierarchy&) const = default;
};

// As /proc/self/mountinfo lists them; the controllers of version 2 are not there.
std::vector<Hierarchy> parse_hierarchies(std::string_view mountinfo);
// Those of this machine. Blocks, shortly.
std::vector<Hierarchy> find_hierarchies();

Result<> make_group_folder(const std::string& folder);  // Errors: unavailable.
// Writes to a file of a group. Errors: not_found (no such file), unavailable.
Result<> write_group_value(const std::string& path, std::string_view value);
// The folder and all groups below it, the innermost first, at most `names_max`.
std::vector<std::string> groups_below(const std::string& folder, std::size_t names_max = 4096);
Result<> enter_groups(std::span<const std::string> folders, pid_t process);  // Errors: unavailable.
// Ends all processes of the groups, also those that multiply: freezes, kills, and looks again until there is
// none or `rounds_max` are over. Whether none is left. Blocks.
bool kill_groups(std::span<const std::string> folders, int rounds_max);
// Empty groups alone. Blocks, shortly.
void remove_groups(std::span<const std::string> folders);

}  // namespace hostler
