#include "roles/master/cluster/reconcile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "roles/master/cluster/probe.h"
#include "roles/master/cluster/saves.h"
#include "roles/master/cluster/steps.h"
#include "roles/master/quota/amounts.h"
#include "roles/master/quota/enforce.h"
#include "roles/master/state/refuse.h"

namespace hostler::master {

namespace {

constexpr int rounds_max = 16;

bool host_is_gone(const Desk& desk, const ClusterNode& node) {
    const Host* host = desk.estate.hosts.find(node.host);
    return !host || host->phase == HostPhase::retired;
}

bool comes(const ClusterNode& node) {
    return node.phase == NodePhase::preparing || node.phase == NodePhase::creating ||
           node.phase == NodePhase::joining;
}

class Reconciler {
public:
    Reconciler(Desk& desk, std::string id, const Driver& driver)
        : desk_(desk), id_(std::move(id)), driver_(driver) {}

    std::int64_t go() {
        look_around();
        for (int round = 0; round < rounds_max && there(); ++round) {
            changed_ = false;
            const ClusterPlan now = plan(view_of(desk_, cluster(), driver_), driver_);
            dropped_.clear();
            for (const ClusterAction& action : now.actions) {
                if (!there()) return 0;
                // What was planned for one that is dropped at the same time is past.
                if (action.act == ClusterAct::drop) dropped_.insert(action.node);
                if (action.act == ClusterAct::drop || !dropped_.contains(action.node)) apply(action);
            }
            settle();
            if (!changed_) break;
        }
        if (!there()) return 0;
        note_waits();
        probe(desk_, id_, driver_);
        return next_look();
    }

private:
    bool there() const { return desk_.estate.clusters.find(id_) != nullptr; }
    const Cluster& cluster() const { return desk_.estate.clusters.at(id_); }
    std::vector<std::string> node_ids() const {
        std::vector<std::string> ids;
        for (const ClusterNode* node : nodes_of(desk_, id_)) ids.push_back(node->id);
        return ids;
    }
    const ClusterNode& node(const std::string& id) const { return desk_.estate.cluster_nodes.at(id); }

    // What has happened to its hosts.
    void look_around() {
        for (const std::string& id : node_ids()) look_at_host(id);
        if (there()) note_hosts(desk_, id_, driver_);
    }

    void look_at_host(const std::string& id) {
        const bool busy = !node(id).doing.empty() || node(id).checking;
        if (busy && !commanded(desk_, id))
            abandon(desk_, id, "its command was dropped");
        else if (busy && !answers(desk_, node(id).step_host))
            abandon(desk_, id, "the host does not answer");
        if (host_is_gone(desk_, node(id))) return lose(id);
        if (desk_.estate.drains.find(node(id).host)) drop_node(desk_, id, "its host is drained");
        // It is tried again, but seldom.
        const bool rests = node(id).attempt > 0 && desk_.estate.micros() >= node(id).not_before;
        if (rests && !comes(node(id)) && !node(id).forced && node(id).phase != NodePhase::cleaning &&
            is_exhausted(driver_, node(id)))
            desk_.estate.cluster_nodes.edit(id).attempt = 0;
    }

    // Its host was removed: nothing is to be cleaned. The cluster forgets it first, if it knows it.
    void lose(const std::string& id) {
        const NodePhase phase = node(id).phase;
        const bool known = phase == NodePhase::joining || phase == NodePhase::ready ||
                           phase == NodePhase::draining || phase == NodePhase::leaving;
        if (known) return drop_node(desk_, id, "its host was removed");
        end_node(desk_, id);
    }

    void apply(const ClusterAction& action) {
        switch (action.act) {
            case ClusterAct::claim: return claim(action);
            case ClusterAct::drop: return drop(action.node);
            case ClusterAct::step: {
                const std::uint64_t run = node(action.node).run;
                start_step(desk_, action.node, *action.step);
                changed_ = changed_ || node(action.node).run != run;
                return;
            }
            case ClusterAct::skip: changed_ = true; return skip_step(desk_, action.node);
            case ClusterAct::move: return move(action);
            case ClusterAct::turn: return turn(action.cluster_event);
        }
    }

    void claim(const ClusterAction& action) {
        const std::string key = action.role == NodeRole::control ? "" : "/" + action.pool;
        if (refused_.contains(key)) return;
        if (claims_ == claims_at_once) {
            more_ = true;
            return;
        }
        const auto claimed = claim_node(desk_, id_, action.role, action.pool);
        if (claimed) {
            ++claims_, changed_ = true;
            return;
        }
        refused_.insert(key);
        wait_ = claimed.error();
    }

    void drop(const std::string& id) {
        changed_ = true;
        const bool failed = comes(node(id)) && is_exhausted(driver_, node(id));
        if (failed) {
            auto& avoided = desk_.estate.clusters.edit(id_).avoided;
            if (avoided.size() >= Cluster::avoided_max) avoided.erase(avoided.begin());
            avoided.push_back(node(id).host);
        }
        drop_node(desk_, id, failed ? node(id).message : "the cluster was scaled down");
    }

    void move(const ClusterAction& action) {
        changed_ = true;
        const std::string& id = action.node;
        const NodePhase before = node(id).phase;
        if (action.node_event == NodeEvent::free)
            return before == NodePhase::cleaning ? start_check(desk_, id) : end_node(desk_, id);
        const bool rests = action.node_event == NodeEvent::soil && is_exhausted(driver_, node(id));
        move_node(desk_, id, action.node_event);
        if (rests) desk_.estate.cluster_nodes.edit(id).not_before = desk_.estate.micros() + step_pause_max_us;
        if (before != NodePhase::creating || action.node_event != NodeEvent::arrive) return;
        Cluster& row = desk_.estate.clusters.edit(id_);
        row.made = row.api_answers = true;
        row.made_at = row.api_seen_at = desk_.estate.micros();
        tell(desk_, row, "made", fmt::format("Cluster {} has its first node.", row.name));
    }

    void turn(ClusterEvent event) {
        if (event == ClusterEvent::settle &&
            !std::ranges::all_of(nodes_of(desk_, id_), [](const ClusterNode* one) {
                return one->settled || one->phase != NodePhase::ready;
            }))
            return;
        const auto to = next(cluster_life, cluster().phase, event);
        if (!to || *to == cluster().phase) return;
        changed_ = true;
        Cluster& row = desk_.estate.clusters.edit(id_);
        row.phase = *to;
        row.reason.clear(), row.message.clear();
        if (event == ClusterEvent::lose) row.reason = "api_silent", row.message = "its API does not answer";
        if (event == ClusterEvent::give_up)
            row.reason = "not_made_in_time",
            row.message = fmt::format("it had no ready node {} s after its creation",
                                      desk_.settings.cluster_deadline.count());
        tell(desk_, row, text_of(*to), fmt::format("Cluster {} is {}.", row.name, text_of(*to)));
        if (*to != ClusterPhase::deleted) return;
        row.ended_at = desk_.estate.micros();
        row.secrets.clear();
        if (node_ids().empty()) desk_.estate.clusters.retire(id_);
    }

    // The steps that follow the arrival of a node.
    void settle() {
        for (const std::string& id : node_ids()) {
            const ClusterNode& one = node(id);
            if (one.phase != NodePhase::ready || one.settled || !one.wanted || !one.doing.empty()) continue;
            const auto steps = steps_due(driver_, one);
            if (std::cmp_greater_equal(one.step, steps.size())) {
                ClusterNode& row = desk_.estate.cluster_nodes.edit(id);
                row.settled = true, row.step = 0;
                changed_ = true;
                continue;
            }
            if (desk_.estate.micros() < one.not_before) continue;
            const DriverStep& step = *steps[static_cast<std::size_t>(one.step)];
            if (step.place == StepPlace::control ? cluster().api_answers : answers(desk_, one.host))
                start_step(desk_, id, step);
        }
    }

    void note_waits() {
        const Cluster& row = cluster();
        if (row.phase == ClusterPhase::failed) return;  // Its reason stays, and it claims no hosts.
        const bool says = row.reason == "no_host" || row.reason == "quota_exceeded";
        const std::string reason = wait_ ? wait_->reason : "", message = wait_ ? wait_->message : "";
        if ((!wait_ && !says) || (row.reason == reason && row.message == message)) return;
        Cluster& changed = desk_.estate.clusters.edit(id_);
        changed.reason = reason;
        changed.message = message;
        if (wait_) tell(desk_, changed, reason, fmt::format("Cluster {} waits: {}.", changed.name, message));
    }

    std::int64_t next_look() const {
        const std::int64_t now = desk_.estate.micros();
        std::int64_t next = 0;
        const auto at = [&](std::int64_t moment) { next = next == 0 ? moment : std::min(next, moment); };
        if (more_) at(now);
        if (wait_) at(now + host_retry_us);
        for (const ClusterNode* one : nodes_of(desk_, id_))
            if (one->not_before > now) at(one->not_before);
        if (cluster().phase == ClusterPhase::provisioning && !cluster().made)
            at(deadline_of(desk_, cluster()));
        if (cluster().made)
            if (const std::int64_t probe = next_probe(desk_, id_, driver_); probe != 0)
                at(std::max(probe, now + 1'000'000));
        return next;
    }

public:
    static std::int64_t deadline_of(const Desk& desk, const Cluster& cluster) {
        return cluster.created_at + std::chrono::microseconds{desk.settings.cluster_deadline}.count();
    }

private:
    Desk& desk_;
    const std::string id_;
    const Driver& driver_;
    bool changed_ = false, more_ = false;
    int claims_ = 0;
    std::set<std::string> dropped_;  // Nodes, in this round.
    std::set<std::string> refused_;  // Pools for which there is no host.
    std::optional<Error> wait_;
};

}  // namespace

const ClusterPool* pool_named(const Cluster& cluster, NodeRole role, const std::string& name) {
    if (role == NodeRole::control) return &cluster.control;
    const auto at = std::ranges::find(cluster.pools, name, &ClusterPool::name);
    return at == cluster.pools.end() ? nullptr : &*at;
}

ClusterView view_of(const Desk& desk, const Cluster& cluster, const Driver& driver) {
    const std::int64_t now = desk.estate.micros();
    ClusterView view{.phase = cluster.phase, .control_wanted = cluster.control.count};
    view.made = cluster.made;
    view.api_answers = cluster.api_answers;
    view.out_of_time = now >= Reconciler::deadline_of(desk, cluster);
    view.forced = !cluster.forced.empty();
    for (const ClusterPool& pool : cluster.pools) view.pools.push_back({pool.name, pool.count});
    const std::string addresses = addresses_of(desk, cluster);
    for (const ClusterNode* node : nodes_of(desk, cluster.id)) {
        const bool exhausted = is_exhausted(driver, *node);
        const bool settles = node->phase == NodePhase::ready && node->wanted && !node->settled;
        view.nodes.push_back({.id = node->id,
                              .role = node->role,
                              .pool = node->pool,
                              .phase = node->phase,
                              .wanted = node->wanted,
                              .host_answers = answers(desk, node->host),
                              .member = node->member,
                              .healthy = node->healthy,
                              .knows_addresses = node->addresses == addresses,
                              .busy = !node->doing.empty() || node->checking || settles ||
                                      saves_now(desk, *node) || (now < node->not_before && !exhausted),
                              .exhausted = exhausted && !settles,
                              .forced = node->forced,
                              .restores = node->restores,
                              .step = static_cast<std::size_t>(node->step),
                              .number = static_cast<std::uint64_t>(node->number)});
    }
    return view;
}

Result<> claim_node(Desk& desk, const std::string& id, NodeRole role, const std::string& pool) {
    const Cluster& cluster = desk.estate.clusters.at(id);
    const ClusterPool* wanted = pool_named(cluster, role, pool);
    if (!wanted) return refuse(fmt::format("there is no pool {}", pool), "no_host", "");
    const auto found = find_host(desk, cluster, *wanted);
    const std::string whose = role == NodeRole::control ? "the control plane" : "pool " + pool;
    if (!found)
        return refuse(fmt::format("no host is free for {}", whose), "no_host",
                      fmt::format("`hostler cluster explain {}` says why.", cluster.name));
    if (!desk.estate.quotas.all().empty()) {
        const Host& host = desk.estate.hosts.at(found->host);
        Claim whole{.host = host.id};
        whole.cpu_milli = host.facts.cpus * std::int64_t{1000};
        whole.memory_bytes = host.facts.memory_bytes;
        for (const GpuFacts& gpu : host.facts.gpus) whole.gpus.push_back(gpu.uuid);
        if (auto denied = quota_denial(desk, asker_of(cluster), amounts_of(desk, whole)))
            return std::unexpected(std::move(denied->error));
    }
    add_node(desk, id, role, role == NodeRole::control ? "" : pool, *found);
    return {};
}

std::int64_t reconcile_cluster(Desk& desk, const std::string& id) {
    const Cluster* cluster = desk.estate.clusters.find(id);
    if (!cluster) return 0;
    const Driver* driver = driver_named(desk, cluster->driver);
    if (!driver) return 0;
    return Reconciler{desk, id, *driver}.go();
}

void node_host_gone(Desk& desk, const std::string& host) {
    std::vector<std::string> ids;
    for (const ClusterNode* node : desk.estate.cluster_nodes.by().host.of(host)) ids.push_back(node->id);
    for (const std::string& id : ids) {
        ClusterNode& node = desk.estate.cluster_nodes.edit(id);
        const std::string claim = std::exchange(node.claim, "");
        if (desk.estate.claims.find(claim)) desk.estate.release(claim);
    }
}

}  // namespace hostler::master
