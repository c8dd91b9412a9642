// What to do next about a cluster. Pure: what is wanted and what is seen go in, all that may be done now
// comes out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/cluster/driver.h"
#include "domain/cluster/life.h"

namespace hostler {

struct NodeView {
    std::string id;
    NodeRole role = NodeRole::worker;
    std::string pool;  // Of a worker.
    NodePhase phase = NodePhase::claimed;
    bool wanted = true;        // False: it is to leave.
    bool host_answers = true;  // Its agent takes commands.
    bool member = false;       // Of the store of the control plane, as that says.
    bool healthy = false;  // The cluster says so: of a member, that it answers, else that the node is ready.
    bool knows_addresses = true;  // The present ones of the control plane.
    bool busy = false;            // A step of it runs, or waits for the time of its next try.
    bool exhausted = false;       // Its step failed as often as it is tried.
    bool forced = false;          // Steps by which it leaves are skipped when they are exhausted.
    bool restores = false;        // When it makes the cluster, it makes it of a save.
    std::size_t step = 0;         // The next of its phase.
    std::uint64_t number = 0;     // The later it was claimed, the higher.
};

struct PoolView {
    std::string name;
    std::int64_t wanted = 0;
};

struct ClusterView {
    ClusterPhase phase = ClusterPhase::provisioning;
    std::int64_t control_wanted = 1;  // 1 or 3.
    std::vector<PoolView> pools;
    bool made = false;  // A node of the control plane has been ready.
    bool api_answers = false;
    bool out_of_time = false;     // To be made.
    bool forced = false;          // Its end waits for no host that cannot be cleaned.
    std::vector<NodeView> nodes;  // Without those that have left.
};

enum class ClusterAct {
    claim,  // A host for a node of `role` and `pool`.
    drop,   // The node is not wanted any more.
    step,   // Do `step`, of the node's phase.
    skip,   // Go on without the node's next step.
    move,   // The node's phase changes by `node_event`.
    turn,   // The cluster's phase changes by `cluster_event`.
};

struct ClusterAction {
    ClusterAct act = ClusterAct::step;
    std::string node;
    NodeRole role = NodeRole::worker;  // Of claim.
    std::string pool;
    const DriverStep* step = nullptr;
    NodeEvent node_event = NodeEvent::prepare;
    ClusterEvent cluster_event = ClusterEvent::settle;
    bool operator==(const ClusterAction&) const = default;
};

// Why nothing more can be done now, for `explain`.
struct ClusterBlock {
    std::string node;   // Empty: the cluster.
    std::string token;  // "quorum", "host_silent", "api_silent", "step_failed"
    bool operator==(const ClusterBlock&) const = default;
};

struct ClusterPlan {
    std::vector<ClusterAction> actions;  // Each may be done beside the others.
    std::vector<ClusterBlock> blocked;
};

// After the actions were applied, ask again. The same view gives the same plan.
ClusterPlan plan(const ClusterView& cluster, const Driver& driver);

// The phase of steps that a node does now; nullopt: none.
std::optional<StepPhase> steps_now(const NodeView& node);

}  // namespace hostler
