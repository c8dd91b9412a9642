// A save of a cluster's control plane: its state and its keys, in a folder that hosts share.
#pragma once

#include <algorithm>
#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "domain/cluster/life.h"
#include "domain/object.h"

namespace hostler {

struct ClusterSave {
    static constexpr std::size_t of_cluster_max = 20;
    static constexpr std::size_t of_tenant_max = 200;
    std::string id;  // "ks-7f3k2m9qxy"
    std::string tenant;
    std::string project = "default";
    std::string created_by;
    std::string cluster;  // Id. It may be deleted.
    std::string cluster_name;
    std::string driver;
    std::string version;
    std::map<std::string, std::string> values;  // Of the driver, as of the cluster.
    SavePhase phase = SavePhase::saving;
    std::string reason;           // A token,
    std::string message;          // a sentence: why it failed, or does not go on.
    std::int64_t bytes = 0;       // 0: the driver does not say.
    std::int64_t step = 0;        // The next of its phase.
    std::int64_t attempt = 0;     // Of that step, that failed.
    std::string doing;            // The step whose command is under way; empty: none is.
    std::uint64_t run = 0;        // Counts commands.
    std::string host;             // That does the step, or did it last.
    std::int64_t began_at = 0;    // That step.
    std::int64_t not_before = 0;  // The next try.
    std::int64_t created_at = 0;
    std::int64_t phase_since = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(ClusterSave, (),
                      (id, tenant, project, created_by, cluster, cluster_name, driver, version, values, phase,
                       reason, message, bytes, step, attempt, doing, run, host, began_at, not_before,
                       created_at, phase_since))

// It is the name of a file, and of no path.
constexpr bool is_save_id(std::string_view id) {
    return !id.empty() && id.size() <= 63 && id.front() != '-' && std::ranges::all_of(id, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    });
}
static_assert(is_save_id("ks-7f3k2m9qxy") && !is_save_id("../x") && !is_save_id("a.b") && !is_save_id(""));

}  // namespace hostler
