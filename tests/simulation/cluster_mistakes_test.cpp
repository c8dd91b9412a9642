// Each checker of clusters finds the mistake that it is there for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cluster_users.h"
#include "mistakes.h"

namespace hostler::simulation {
namespace {

// A rule that is wrong for clusters; true: it has been applied.
using WrongCluster = std::function<bool(Cloud&, master::Desk&, const Cluster&)>;

Case calm_with_clusters(std::uint64_t seed, Duration calm_max) {
    return {.seed = seed,
            .weather = Weather::calm,
            .hosts = 5,
            .tenants = 1,
            .clusters = true,
            .storm = 240s,
            .calm_max = calm_max};
}

bool finds(const StormReport& report, Invariant invariant, const std::string& saying) {
    for (const Finding& finding : report.found.all())
        if (finding.invariant == invariant && finding.text.contains(saying)) {
            fmt::print("found: {}\n", finding.text.substr(0, 160));
            return true;
        }
    return false;
}

// Rides until the checker says so. 0: it never does.
std::uint64_t seed_that_finds(Invariant invariant, const std::string& saying, const WrongCluster& wrong,
                              Duration calm_max = 1s) {
    constexpr std::uint64_t tries = 4;
    for (std::uint64_t seed = 1; seed <= tries; ++seed) {
        Mistakes mistakes;
        mistakes.only = invariant;
        mistakes.each_second = [wrong](Cloud& cloud, master::Term& term) {
            master::Desk& desk = term.desk("mistake");
            for (const auto& [id, cluster] : std::map{desk.estate.clusters.all().as_map()})
                if (wrong(cloud, desk, cluster)) break;
            term.commit_then(nullptr);
        };
        if (finds(ride(calm_with_clusters(seed, calm_max), std::move(mistakes)), invariant, saying))
            return seed;
    }
    return 0;
}

const ClusterNode* node_of(const master::Desk& desk, const Cluster& cluster, NodePhase phase,
                           NodeRole role = NodeRole::control) {
    for (const ClusterNode* node : desk.estate.cluster_nodes.by().cluster.of(cluster.id))
        if (node->phase == phase && node->role == role) return node;
    return nullptr;
}

TEST(ClusterMistakes, AHostThatIsTwoNodes) {
    const auto wrong = [](Cloud&, master::Desk& desk, const Cluster& cluster) {
        const ClusterNode* node = node_of(desk, cluster, NodePhase::ready);
        if (!node) return false;
        ClusterNode twice = *node;
        twice.id = new_id(desk.random, "kn");
        desk.estate.cluster_nodes.add(std::move(twice));
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::node_host, "is node", wrong), 0u);
}

// Says that a step is done while it still runs.
class HastySteps final : public NodeSteps {
public:
    HastySteps(NodeSteps& steps, Life& life) : steps_(steps), life_(life) {}
    Task<NodeStepDone> perform(NodeStep step) override {
        NodeStepDone done;
        for (const std::string& name : step.outputs) done.outputs[name] = "hasty";
        life_.tasks.start("step", [](NodeSteps& steps, NodeStep what) -> Task<> {
            (void)co_await steps.perform(std::move(what));
            co_return Result<>{};
        }(steps_, std::move(step)));
        CO_TRY(co_await sleep(life_.timers, 10ms));
        co_return done;
    }
    Task<> forget(std::string node) override { return steps_.forget(std::move(node)); }
    Task<std::vector<Leftover>> look(Leftovers what) override { return steps_.look(std::move(what)); }
    Task<NodeApi> api(std::string cluster) override { return steps_.api(std::move(cluster)); }

private:
    NodeSteps& steps_;
    Life& life_;
};

TEST(ClusterMistakes, AnAnswerBeforeTheEndOfAStep) {
    Mistakes mistakes;
    mistakes.only = Invariant::node_step;
    mistakes.agent_node_steps = [](NodeSteps& steps, Life& life) {
        return std::make_unique<HastySteps>(steps, life);
    };
    EXPECT_TRUE(
        finds(ride(calm_with_clusters(1, 1s), std::move(mistakes)), Invariant::node_step, "at a time"));
}

TEST(ClusterMistakes, TwoMembersThatGoTogether) {
    const auto wrong = [](Cloud&, master::Desk& desk, const Cluster& cluster) {
        std::vector<std::string> ready;
        for (const ClusterNode* node : desk.estate.cluster_nodes.by().cluster.of(cluster.id))
            if (node->phase == NodePhase::ready && node->member && node->healthy) ready.push_back(node->id);
        if (ready.size() < 2) return false;
        for (const std::string& id : ready) {
            ClusterNode& node = desk.estate.cluster_nodes.edit(id);
            node.phase = NodePhase::leaving, node.wanted = false;
            node.doing = "forget-member";
        }
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::quorum, "at a time", wrong), 0u);
}

// Two of three have stopped long ago, and a rule lets the third one go.
TEST(ClusterMistakes, AMemberThatTheOthersNeed) {
    const auto wrong = [since = std::map<std::string, Instant>{}](Cloud& cloud, master::Desk& desk,
                                                                  const Cluster& cluster) mutable {
        std::vector<ClusterTruth::Member> members;
        for (const ClusterTruth::Member& one : cloud.clusters.members())
            if (one.cluster == cluster.id) members.push_back(one);
        if (members.size() < 3) return false;
        const auto began = since.try_emplace(cluster.id, cloud.world.timers.now()).first->second;
        for (std::size_t i = 1; i < members.size(); ++i)
            cloud.world.machine(members[i].machine).node_host.programs.clear();
        if (cloud.world.timers.now() - began < ClusterCheck::belief_max + 5s) return false;
        for (const ClusterNode* node : desk.estate.cluster_nodes.by().cluster.of(cluster.id))
            if (node->name == members[0].node) {
                ClusterNode& row = desk.estate.cluster_nodes.edit(std::string{node->id});
                row.phase = NodePhase::leaving, row.wanted = false;
                row.doing = "forget-member", ++row.run;
                return true;
            }
        return false;
    };
    EXPECT_NE(seed_that_finds(Invariant::quorum, "do not answer", wrong, 3min), 0u);
}

TEST(ClusterMistakes, AHostThatIsFreeBeforeItIsClean) {
    const auto wrong = [](Cloud&, master::Desk& desk, const Cluster& cluster) {
        const ClusterNode* node = node_of(desk, cluster, NodePhase::ready, NodeRole::worker);
        if (!node) return false;
        const std::string id = node->id, claim = node->claim;
        desk.estate.cluster_nodes.erase(id);
        desk.estate.release(claim);
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::clean_host, "is no node and has", wrong), 0u);
}

TEST(ClusterMistakes, AnOutputInAnEvent) {
    const auto wrong = [](Cloud&, master::Desk& desk, const Cluster& cluster) {
        if (cluster.secrets.empty()) return false;
        desk.estate.event("cluster", cluster.id, cluster.tenant, "told", cluster.secrets);
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::output, "an event", wrong), 0u);
}

TEST(ClusterMistakes, AClusterThatIsForgotten) {
    const auto wrong = [](Cloud&, master::Desk& desk, const Cluster& cluster) {
        if (cluster.made) return false;
        for (const ClusterNode* node : desk.estate.cluster_nodes.by().cluster.of(cluster.id)) {
            const std::string id = node->id, claim = node->claim;
            desk.estate.cluster_nodes.erase(id);
            desk.estate.release(claim);
        }
        desk.estate.clusters.erase(cluster.id);
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::durable, "was acknowledged", wrong), 0u);
}

TEST(ClusterMistakes, ADeletionThatIsForgotten) {
    const auto wrong = [](Cloud&, master::Desk& desk, const Cluster& cluster) {
        if (cluster.phase != ClusterPhase::deleting) return false;
        desk.estate.clusters.edit(cluster.id).phase = ClusterPhase::scaling;
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::durable, "was deleted, and is", wrong, 3min), 0u);
}

TEST(ClusterMistakes, ANodeThatNeverGoesOn) {
    const auto wrong = [](Cloud&, master::Desk& desk, const Cluster& cluster) {
        for (const ClusterNode* node : desk.estate.cluster_nodes.by().cluster.of(cluster.id))
            if (node->phase == NodePhase::preparing && node->doing.empty())
                desk.estate.cluster_nodes.edit(std::string{node->id}).not_before =
                    desk.estate.micros() + 60'000'000;
        return false;
    };
    EXPECT_NE(seed_that_finds(Invariant::settled, "cluster", wrong, 6min), 0u);
}

}  // namespace
}  // namespace hostler::simulation
