// Control groups that hold what a command or a program began, so that all of it can be ended.
#pragma once

#include <string>
#include <vector>

#include "adapters/node_steps/settings.h"

namespace hostler::node_steps {

// A name for files, groups and units: all but letters, digits, '.', '_' and '-' become '_', and it begins
// with none of these.
std::string plain(std::string_view name);

// Folders of groups of `name`: in version 2 where it is mounted, and in the freezer of version 1. Agents
// beside each other on one machine have different ones. Empty: no groups can be made on this host.
std::vector<std::string> group_folders(const StepSettings& settings, const std::string& name);
// Folders of those groups that are there whose names begin with `name` and '.', and end with '.' and one of
// `endings`.
std::vector<std::string> groups_named(const StepSettings& settings, const std::string& name,
                                      const std::vector<std::string>& endings);
// Makes them. Those that cannot be made are left out: what is in none is ended by its session.
std::vector<std::string> make_groups(const std::vector<std::string>& folders);
// Ends all that runs in them or below, and removes them. Whether nothing is left. Blocks, for some seconds at
// most.
bool end_groups(const std::vector<std::string>& folders);

}  // namespace hostler::node_steps
