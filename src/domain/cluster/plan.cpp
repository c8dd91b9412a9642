#include "domain/cluster/plan.h"

#include <algorithm>

#include "domain/cluster/quorum.h"

namespace hostler {

namespace {

// It comes or goes: the membership of the control plane changes.
bool is_changing(const NodeView& node) {
    return node.role == NodeRole::control &&
           (node.phase == NodePhase::joining || node.phase == NodePhase::draining ||
            node.phase == NodePhase::leaving);
}

// It counts as what the owner wants: it is there, or comes.
bool counts(const NodeView& node) {
    return node.wanted && node.phase != NodePhase::cleaning && node.phase != NodePhase::unclean;
}

class Planner {
public:
    Planner(const ClusterView& cluster, const Driver& driver) : cluster_(cluster), driver_(driver) {
        for (const NodeView& node : cluster.nodes) {
            if (node.member) {
                ++quorum_.members;
                if (node.healthy) ++quorum_.healthy;
            }
            changing_ = changing_ || is_changing(node);
            // It began to go as one that did not answer, perhaps, and is back: no other goes meanwhile.
            const bool counted = node.phase == NodePhase::joining || node.member;
            loses_ =
                loses_ || (node.busy && counted && is_changing(node) && node.phase != NodePhase::draining);
            if (node.phase == NodePhase::creating) creating_ = true;
        }
    }

    ClusterPlan make() {
        const bool ends = cluster_.phase == ClusterPhase::deleting ||
                          cluster_.phase == ClusterPhase::failed || cluster_.phase == ClusterPhase::deleted;
        if (ends)
            end();
        else
            go_on();
        for (const NodeView& node : cluster_.nodes) look(node, ends);
        turn(ends);
        return std::move(plan_);
    }

private:
    void add(ClusterAction action) { plan_.actions.push_back(std::move(action)); }
    void move(const NodeView& node, NodeEvent event) {
        add({.act = ClusterAct::move, .node = node.id, .node_event = event});
    }
    void block(const NodeView& node, std::string token) {
        plan_.blocked.push_back({node.id, std::move(token)});
    }

    void end() {
        for (const NodeView& node : cluster_.nodes)
            if (node.wanted) add({.act = ClusterAct::drop, .node = node.id});
    }

    void go_on() {
        fit(NodeRole::control, "", cluster_.control_wanted);
        for (const PoolView& pool : cluster_.pools) fit(NodeRole::worker, pool.name, pool.wanted);
        for (const NodeView& node : cluster_.nodes)
            if (node.wanted && node.role == NodeRole::worker &&
                std::ranges::none_of(cluster_.pools,
                                     [&](const PoolView& pool) { return pool.name == node.pool; }))
                add({.act = ClusterAct::drop, .node = node.id});
    }

    // So many nodes of a kind are wanted.
    void fit(NodeRole role, const std::string& pool, std::int64_t wanted) {
        std::vector<const NodeView*> here;
        for (const NodeView& node : cluster_.nodes)
            if (node.role == role && node.pool == pool && counts(node)) here.push_back(&node);
        for (auto count = std::ssize(here); count < wanted; ++count)
            add({.act = ClusterAct::claim, .role = role, .pool = pool});
        // First those that are no use, then the newest.
        std::ranges::sort(here, [](const NodeView* one, const NodeView* two) {
            const auto use = [](const NodeView* node) {
                return std::tuple(node->phase == NodePhase::ready && node->healthy,
                                  node->phase == NodePhase::ready);
            };
            return std::tuple(use(one), -static_cast<std::int64_t>(one->number)) <
                   std::tuple(use(two), -static_cast<std::int64_t>(two->number));
        });
        for (std::size_t i = 0; std::ssize(here) - static_cast<std::int64_t>(i) > wanted; ++i)
            add({.act = ClusterAct::drop, .node = here[i]->id});
    }

    void look(const NodeView& node, bool ends) {
        if (node.busy) return;
        switch (node.phase) {
            case NodePhase::claimed: return move(node, node.wanted ? NodeEvent::prepare : NodeEvent::free);
            case NodePhase::preparing:
                if (!node.wanted) return move(node, NodeEvent::clean);
                return node.step < count(node) ? step(node) : join(node);
            case NodePhase::creating:
                if (!node.wanted) return move(node, NodeEvent::clean);
                return node.step < count(node) ? step(node) : move(node, NodeEvent::arrive);
            case NodePhase::joining:
                if (!node.wanted) return undo_join(node, ends);
                if (node.step >= count(node)) return move(node, NodeEvent::arrive);
                if (node.role == NodeRole::control && node.host_answers && !node.exhausted &&
                    std::exchange(loses_, true))
                    return block(node, "quorum");
                return step(node);
            case NodePhase::ready:
                if (!node.wanted) return go(node, ends);
                if (!node.knows_addresses && node.step < count(node)) step(node);
                return;
            case NodePhase::draining:
                if (ends) return move(node, NodeEvent::clean);
                return node.step < count(node) ? step(node) : move(node, NodeEvent::leave);
            case NodePhase::leaving:
                if (ends) return move(node, NodeEvent::clean);
                if (node.member && !may_lose(node)) return block(node, "quorum");
                return node.step < count(node) ? step(node) : move(node, NodeEvent::clean);
            case NodePhase::cleaning:
                if (node.exhausted || !node.host_answers) return move(node, NodeEvent::soil);
                return node.step < count(node) ? step(node) : move(node, NodeEvent::free);
            case NodePhase::unclean:
                // The caller lets it rest between two tries.
                return node.host_answers ? move(node, NodeEvent::clean) : block(node, "host_silent");
            case NodePhase::left: return;
        }
    }

    std::size_t count(const NodeView& node) const {
        const auto phase = steps_now(node);
        return phase ? steps_of(driver_, *phase, node.role).size() : 0;
    }

    void step(const NodeView& node) {
        const auto steps = steps_of(driver_, *steps_now(node), node.role);
        const DriverStep* next = steps[node.step];
        if (node.exhausted) return give_up(node);
        if (next->place == StepPlace::control && !cluster_.api_answers) return block(node, "api_silent");
        if (next->place == StepPlace::node && !node.host_answers) return silent(node);
        add({.act = ClusterAct::step, .node = node.id, .step = next});
    }

    // Its step failed as often as it is tried.
    void give_up(const NodeView& node) {
        const bool comes = node.phase == NodePhase::preparing || node.phase == NodePhase::creating ||
                           node.phase == NodePhase::joining;
        if (comes) return add({.act = ClusterAct::drop, .node = node.id});  // Another host takes its place.
        const bool goes = node.phase == NodePhase::draining || node.phase == NodePhase::leaving;
        const bool in_vain = node.phase == NodePhase::draining && !can_drain(node);
        if ((goes && node.forced) || in_vain) return add({.act = ClusterAct::skip, .node = node.id});
        block(node, "step_failed");
    }

    // Its host does not answer. It is cleaned when it returns.
    void silent(const NodeView& node) {
        if (node.phase == NodePhase::leaving) return add({.act = ClusterAct::skip, .node = node.id});
        block(node, "host_silent");
    }

    void join(const NodeView& node) {
        if (!cluster_.made) {
            const bool first = node.role == NodeRole::control && !std::exchange(creating_, true);
            return first ? move(node, NodeEvent::create) : block(node, "api_silent");
        }
        if (!cluster_.api_answers) return block(node, "api_silent");
        if (node.role == NodeRole::worker) return move(node, NodeEvent::join);
        // One at a time.
        if (std::exchange(changing_, true)) return block(node, "quorum");
        quorum_.may_gain() ? move(node, NodeEvent::join) : block(node, "quorum");
    }

    // It has perhaps joined. Nobody knows how far it came, so the cluster forgets it before it is cleaned.
    void undo_join(const NodeView& node, bool ends) {
        move(node, ends ? NodeEvent::clean : NodeEvent::leave);
    }

    // Its kubelet ends pods, also while its agent is silent. Where neither answers it leaves without that.
    static bool can_drain(const NodeView& node) { return node.host_answers || node.healthy; }

    // One of a plan: what another one of it does is not seen yet.
    bool may_lose(const NodeView& node) {
        return quorum_.may_lose(node.healthy) && !std::exchange(loses_, true);
    }

    // A node that is not wanted.
    void go(const NodeView& node, bool ends) {
        if (ends) return move(node, NodeEvent::clean);
        if (!cluster_.api_answers) return block(node, "api_silent");
        if (node.member) {
            // One at a time. One that does not answer may go before another that waits for a majority.
            if ((node.healthy && std::exchange(changing_, true)) || !may_lose(node))
                return block(node, "quorum");
        }
        move(node, can_drain(node) ? NodeEvent::drain : NodeEvent::leave);
    }

    void turn(ClusterEvent event) {
        if (next(cluster_life, cluster_.phase, event)) add({.act = ClusterAct::turn, .cluster_event = event});
    }

    void turn(bool ends) {
        if (ends) {
            // A host that does not answer is cleaned when it returns; the cluster does not wait for it.
            const bool rest = std::ranges::all_of(cluster_.nodes, [&](const NodeView& node) {
                return node.phase == NodePhase::unclean && (!node.host_answers || cluster_.forced);
            });
            if (rest && cluster_.phase == ClusterPhase::deleting) turn(ClusterEvent::vanish);
            return;
        }
        if (cluster_.phase == ClusterPhase::provisioning && cluster_.out_of_time && !cluster_.made)
            return turn(ClusterEvent::give_up);
        if (!cluster_.made) return;
        if (!cluster_.api_answers) return turn(ClusterEvent::lose);
        const bool settled =
            plan_.actions.empty() && std::ranges::all_of(cluster_.nodes, [](const NodeView& node) {
                return (node.phase == NodePhase::ready && node.wanted) || node.phase == NodePhase::unclean;
            });
        turn(settled ? ClusterEvent::settle : ClusterEvent::scale);
    }

    const ClusterView& cluster_;
    const Driver& driver_;
    ClusterPlan plan_;
    Quorum quorum_;
    bool changing_ = false;  // The membership of the control plane changes.
    bool loses_ = false;     // A member comes or goes by a step that is under way, or goes by this plan.
    bool creating_ = false;  // The first node of the control plane is at it.
};

}  // namespace

std::optional<StepPhase> steps_now(const NodeView& node) {
    switch (node.phase) {
        case NodePhase::preparing: return StepPhase::prepare;
        case NodePhase::creating: return node.restores ? StepPhase::restore : StepPhase::create;
        case NodePhase::joining: return StepPhase::join;
        case NodePhase::ready: return StepPhase::refresh;
        case NodePhase::draining: return StepPhase::drain;
        case NodePhase::leaving: return StepPhase::leave;
        case NodePhase::cleaning: return StepPhase::clean;
        case NodePhase::claimed:
        case NodePhase::unclean:
        case NodePhase::left: return std::nullopt;
    }
    return std::nullopt;
}

ClusterPlan plan(const ClusterView& cluster, const Driver& driver) { return Planner{cluster, driver}.make(); }

}  // namespace hostler
