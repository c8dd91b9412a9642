// What the holder of a program is told: all decisions are made, no setting is left to look up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/program/settings.h"
#include "ports/engine.h"

namespace hostler::program {

inline constexpr std::string_view image_name = "program";

struct PlanMount {
    std::string source, target;
    bool read_only = false;
};
BOOST_DESCRIBE_STRUCT(PlanMount, (), (source, target, read_only))

struct PlanSecret {
    std::string path, text;
};
BOOST_DESCRIBE_STRUCT(PlanSecret, (), (path, text))

struct PlanNode {
    std::string path;
    bool block = false;
    std::uint32_t major = 0, minor = 0;
};
BOOST_DESCRIBE_STRUCT(PlanNode, (), (path, block, major, minor))

struct Plan {
    std::string name, folder;              // Its state folder.
    std::vector<std::string> command;      // Looked up in PATH of `environment`.
    std::vector<std::string> environment;  // "NAME=value"
    std::string hostname;
    std::uint32_t user = 0;
    std::uint32_t mount_owner = 0;  // On disk, its files in mounts are this user's; 0: its own.
    std::vector<PlanMount> mounts;
    std::vector<PlanSecret> secrets;
    std::vector<PlanNode> nodes;  // Beside /dev/null and its like.
    std::vector<std::string> hidden;
    std::vector<std::string> groups;         // Control groups that it enters.
    std::vector<std::string> holder_groups;  // Those of its holder.
    std::int64_t scratch_bytes = 0, shm_bytes = 0;
    std::int64_t open_files_max = 0, processes_max = 0;
    std::int64_t log_bytes_max = 0, log_bytes_per_s = 0;
    std::int64_t start_ms = 0;
    bool share_network = false;
};
BOOST_DESCRIBE_STRUCT(Plan, (),
                      (name, folder, command, environment, hostname, user, mount_owner, mounts, secrets,
                       nodes, hidden, groups, holder_groups, scratch_bytes, shm_bytes, open_files_max,
                       processes_max, log_bytes_max, log_bytes_per_s, start_ms, share_network))

// Errors: invalid, with every wrong field; not_found (image_missing, layer_missing).
Result<> check_spec(const ContainerSpec& spec);

// Of a spec that passed the check: all but user, groups and nodes.
Plan make_plan(const ContainerSpec& spec, const ProgramSettings& settings, const DeviceEdits& edits);

std::string to_text(const Plan& plan);
Result<Plan> parse_plan(std::string_view text);  // Errors: invalid.

}  // namespace hostler::program
