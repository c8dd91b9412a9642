// Why a cluster is as it is, and what would help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "api/types_cluster.h"
#include "roles/master/cluster/nodes.h"
#include "roles/master/cluster/reconcile.h"
#include "roles/master/cluster/saves.h"
#include "roles/master/cluster/steps.h"
#include "roles/master/cluster/view.h"

namespace hostler::master {

namespace {

class Explainer {
public:
    Explainer(const Desk& desk, const Cluster& cluster) : desk_(desk), cluster_(cluster) {}

    std::vector<api::ClusterWait> waits() {
        const Driver* driver = driver_named(desk_, cluster_.driver);
        if (!driver) {
            add("", "driver_missing", fmt::format("The master that leads has no driver {}.", cluster_.driver),
                "An operator installs the driver on all masters (--drivers).");
            return std::move(waits_);
        }
        const ClusterPlan now = plan(view_of(desk_, cluster_, *driver), *driver);
        for (const ClusterBlock& block : now.blocked) blocked(block, *driver);
        for (const ClusterAction& action : now.actions)
            if (action.act == ClusterAct::claim) claim(action);
        for (const ClusterNode* node : nodes_of(desk_, cluster_.id)) look_at(*node);
        look_at_save();
        return std::move(waits_);
    }

private:
    void add(std::string node, std::string token, std::string sentence, std::string help) {
        waits_.push_back({std::move(node), std::move(token), std::move(sentence), std::move(help)});
    }

    void blocked(const ClusterBlock& block, const Driver& driver) {
        const ClusterNode* node = desk_.estate.cluster_nodes.find(block.node);
        if (!node) return;
        if (block.token == "quorum") {
            add(node->name, block.token,
                fmt::format("Node {} waits: another member of the control plane joins or leaves, or too few "
                            "members are healthy.",
                            node->name),
                "");
        } else if (block.token == "host_silent") {
            silent(*node);
        } else if (block.token == "api_silent") {
            add(node->name, block.token, fmt::format("Node {} waits for the API of the cluster.", node->name),
                cluster_.made ? "Bring the hosts of the control plane back." : "");
        } else {
            const auto steps = steps_due(driver, *node);
            const auto at = static_cast<std::size_t>(node->step);
            add(node->name, block.token,
                fmt::format("Node {}: step {} failed {} times: {}", node->name,
                            at < steps.size() ? steps[at]->name : "?", node->attempt, node->message),
                fmt::format(
                    "Correct the cause; it is tried every 5 minutes. `hostler cluster delete {} --force` "
                    "does not wait for it.",
                    cluster_.name));
        }
    }

    // Who owns the cluster can do nothing about its host; who keeps the hosts can.
    void silent(const ClusterNode& node) {
        if (node.phase != NodePhase::unclean)
            return add(node.name, "host_silent",
                       fmt::format("The host of node {} does not answer.", node.name),
                       "An operator brings the host back or removes it: hostler host remove HOST --force");
        const std::string found =
            node.leftovers.empty() ? ""
                                   : fmt::format(" Found there last: {}.", fmt::join(node.leftovers, ", "));
        add(node.name, "host_silent",
            fmt::format(
                "Node {} has left the cluster, and its host does not answer. The host is cleaned when it "
                "returns; until then it takes no work and counts for the quota.{}",
                node.name, found),
            fmt::format("The cluster does not wait for it. An operator brings the host back, removes it "
                        "(hostler host remove HOST --force), or frees it once it was checked or installed "
                        "again: hostler cluster node forget {} --force --reason TEXT",
                        node.id));
    }

    void claim(const ClusterAction& action) {
        const ClusterPool* pool = pool_named(cluster_, action.role, action.pool);
        const std::string whose =
            action.role == NodeRole::control ? "the control plane" : "pool " + action.pool;
        if (!pool || !claimed_.insert(whose).second) return;
        if (cluster_.reason == "quota_exceeded")
            return add("", "quota_exceeded",
                       fmt::format("No further host is taken for {}: {}.", whose, cluster_.message),
                       "Raise the quota, or delete what is not needed.");
        if (find_host(desk_, cluster_, *pool)) return;
        add("", "no_host",
            fmt::format("No host is free for {}: {}.", whose, why_no_host(desk_, cluster_, *pool)),
            action.role == NodeRole::control
                ? "Free a host."
                : fmt::format("Free a host, or: hostler cluster scale {} --pool {} --count N", cluster_.name,
                              action.pool));
    }

    void look_at(const ClusterNode& node) {
        const bool here = answers(desk_, node.host);
        if (node.phase == NodePhase::unclean && here && !node.leftovers.empty())
            return add(node.name, "host_unclean",
                       fmt::format("The host of node {} is not clean: {}.", node.name,
                                   fmt::join(node.leftovers, ", ")),
                       fmt::format("Remove these parts on the host; then: {}", again()));
        if (node.phase == NodePhase::unclean && here)
            return add(node.name, "host_unclean",
                       fmt::format("The host of node {} could not be cleaned: {}.", node.name, node.message),
                       fmt::format("It is tried every 5 minutes; at once: {}", again()));
        if (!node.doing.empty() || node.checking)
            return add(node.name, "step_runs",
                       fmt::format("Node {} is {}: {}.", node.name, text_of(node.phase),
                                   node.checking ? "its host is asked what is left" : node.doing),
                       "");
        if (node.attempt > 0 && desk_.estate.micros() < node.not_before && !node.reason.empty())
            add(node.name, "step_retried",
                fmt::format("Node {} tries a step again soon; it failed: {}", node.name, node.message), "");
    }

    // By this its hosts are cleaned without a pause.
    std::string again() const {
        return cluster_.phase == ClusterPhase::deleting
                   ? fmt::format("hostler cluster delete {}", cluster_.name)
                   : fmt::format("hostler cluster scale {} --control {}", cluster_.name,
                                 cluster_.control.count);
    }

    // The newest counts.
    void look_at_save() {
        const auto saves = saves_of(desk_, cluster_.id);
        if (saves.empty()) return;
        const ClusterSave& save = *saves.front();
        const std::string why = save.message.empty() ? "" : fmt::format(": {}", save.message);
        if (save.phase == SavePhase::saving)
            add("", "save_runs", fmt::format("Save {} is being made{}.", save.id, why), "");
        if (save.phase == SavePhase::failed)
            add("", "save_failed", fmt::format("Save {} failed{}.", save.id, why),
                fmt::format("Correct the cause, then: hostler cluster save {}", cluster_.name));
    }

    const Desk& desk_;
    const Cluster& cluster_;
    std::vector<api::ClusterWait> waits_;
    std::set<std::string> claimed_;
};

// The more people have to do about it, the earlier it is told.
int weight(const std::string& token) {
    constexpr std::string_view order[] = {"driver_missing", "quota_exceeded", "no_host", "step_failed",
                                          "host_unclean",   "host_silent",    "quorum",  "api_silent"};
    return static_cast<int>(std::ranges::find(order, token) - std::begin(order));
}

}  // namespace

api::ClusterExplanation explain_cluster(const Desk& desk, const Cluster& cluster) {
    api::ClusterExplanation why;
    why.waits = Explainer{desk, cluster}.waits();
    std::ranges::sort(why.waits, {}, [](const api::ClusterWait& wait) {
        return std::tuple{weight(wait.token), std::string_view{wait.node}, std::string_view{wait.sentence}};
    });
    const std::string is = fmt::format("Cluster {} is {}", cluster.name, text_of(cluster.phase));
    if (cluster.phase == ClusterPhase::failed) {
        why.token = cluster.reason;
        why.sentence = fmt::format("{}: {}.", is, cluster.message);
        why.would_help = fmt::format("hostler cluster delete {}", cluster.name);
    } else if (why.waits.empty()) {
        why.token = text_of(cluster.phase);
        why.sentence = is + ".";
    } else {
        why.token = why.waits.front().token;
        why.sentence = fmt::format("{}. {}", is, why.waits.front().sentence);
        if (!why.waits.front().would_help.empty()) why.would_help = why.waits.front().would_help;
    }
    return why;
}

}  // namespace hostler::master
