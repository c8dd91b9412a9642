// A Kubernetes cluster and its nodes, as they are stored.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "domain/cluster/life.h"
#include "domain/labels.h"
#include "domain/object.h"

namespace hostler {

inline constexpr std::int64_t cluster_nodes_max = 1000;
inline constexpr std::size_t cluster_pools_max = 32;

// Workers of one kind: whole hosts.
struct ClusterPool {
    std::string name;
    std::int64_t count = 0;
    std::string gpu_type;   // Words of the model of a host's GPUs, as of a spec; empty: any host, those
                            // without GPUs first.
    std::int64_t gpus = 0;  // At least so many on each host.
    std::string zone;       // Empty: any.
    std::vector<std::string> hosts;  // Only these, by id; empty: any.
    Labels host_labels;              // Only hosts with each of them.
    bool saves = false;              // Only hosts with a folder of saves.
    bool operator==(const ClusterPool&) const = default;
};
BOOST_DESCRIBE_STRUCT(ClusterPool, (), (name, count, gpu_type, gpus, zone, hosts, host_labels, saves))

struct Cluster {
    static constexpr std::size_t avoided_max = 128;
    std::string id;    // "kc-7f3k2m9qxy"
    std::string name;  // Unique in its project.
    std::string tenant;
    std::string project = "default";
    std::string created_by;
    std::string driver = "kubeadm";
    std::string version;                        // "v1.36.3"
    std::map<std::string, std::string> values;  // Of the driver, as the owner chose them: "podSubnet".
    std::string restores;                       // The save that it is made of; empty: none.
    // Wanted.
    ClusterPool control{.name = "control", .count = 1};  // 1 or 3 hosts.
    std::vector<ClusterPool> pools;
    // Seen.
    ClusterPhase phase = ClusterPhase::provisioning;
    std::string reason;   // A token,
    std::string message;  // a sentence: why it is in this phase, or does not go on.
    bool made = false;    // A node of its control plane has been ready.
    bool api_answers = false;
    std::int64_t api_seen_at = 0;      // It was asked last; microseconds since 1970, so for all times.
    std::string secrets;               // Outputs of steps, JSON of names and values; sealed in the store.
    std::vector<std::string> avoided;  // Hosts that could not be made nodes of it, the newest last.
    std::string forced;                // Why it is deleted though hosts are not clean; empty: it is not.
    std::int64_t nodes_made = 0;       // The number of the newest node.
    std::int64_t created_at = 0;
    std::int64_t made_at = 0;
    std::int64_t ended_at = 0;
    Labels labels;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Cluster, (),
                      (id, name, tenant, project, created_by, driver, version, values, restores, control,
                       pools, phase, reason, message, made, api_answers, api_seen_at, secrets, avoided,
                       forced, nodes_made, created_at, made_at, ended_at, labels))

// A line of the timeline of a node.
struct ClusterStepRecord {
    static constexpr std::size_t kept_max = 64;  // Of a node: the newest.
    std::string step;
    std::int64_t attempt = 1;
    std::int64_t began_at = 0;
    std::int64_t ended_at = 0;  // 0: it is under way.
    std::string problem;        // Empty: it went well.
    bool operator==(const ClusterStepRecord&) const = default;
};
BOOST_DESCRIBE_STRUCT(ClusterStepRecord, (), (step, attempt, began_at, ended_at, problem))

struct ClusterNode {
    std::string id;       // "kn-7f3k2m9qxy"
    std::string cluster;  // Id. It may be deleted while a host is still to be cleaned.
    std::string tenant;
    std::string project = "default";
    std::string name;  // In Kubernetes: "train-w3".
    std::int64_t number = 0;
    NodeRole role = NodeRole::worker;
    std::string pool;  // Of a worker.
    std::string host;
    std::string address;  // On the hosts' own network.
    std::string claim;    // The host as a whole.
    NodePhase phase = NodePhase::claimed;
    bool wanted = true;
    bool forced = false;
    bool restores = false;                 // As in NodeView.
    std::int64_t step = 0;                 // The next of its phase.
    std::int64_t attempt = 0;              // Of that step, that failed.
    std::string doing;                     // The step whose command is under way; empty: none is.
    bool checking = false;                 // It is asked what is left on its host.
    std::uint64_t run = 0;                 // Counts commands.
    std::string step_host;                 // Where that step runs, when not on its own host.
    std::int64_t not_before = 0;           // The next try.
    bool member = false, healthy = false;  // As in NodeView, as seen last.
    std::string addresses;                 // Of the control plane, that it was last told,
    std::string telling;                   // and that it is being told.
    bool settled = false;                  // The steps that follow its arrival are done.
    std::vector<std::string> leftovers;    // That its host still has; shown to people.
    std::string reason, message;
    std::vector<ClusterStepRecord> timeline;
    std::int64_t created_at = 0;
    std::int64_t phase_since = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(ClusterNode, (),
                      (id, cluster, tenant, project, name, number, role, pool, host, address, claim, phase,
                       wanted, forced, restores, step, attempt, doing, checking, run, step_host, not_before,
                       member, healthy, addresses, telling, settled, leftovers, reason, message, timeline,
                       created_at, phase_since))

}  // namespace hostler
