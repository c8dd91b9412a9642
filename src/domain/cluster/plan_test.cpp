#include "domain/cluster/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "domain/cluster/quorum.h"

namespace hostler {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

DriverStep step(std::string name, StepPhase phase, StepPlace place = StepPlace::node,
                std::vector<NodeRole> roles = {}) {
    return {
        .name = std::move(name), .phase = phase, .roles = std::move(roles), .place = place, .run = {"true"}};
}

Driver driver() {
    return {.name = "test",
            .versions = {"v1"},
            .steps = {step("install", StepPhase::prepare), step("init", StepPhase::create),
                      step("token", StepPhase::join, StepPlace::control), step("join", StepPhase::join),
                      step("hosts", StepPhase::refresh), step("drain", StepPhase::drain, StepPlace::control),
                      step("member", StepPhase::leave, StepPlace::control, {NodeRole::control}),
                      step("forget", StepPhase::leave, StepPlace::control), step("reset", StepPhase::leave),
                      step("remove", StepPhase::clean), step("look", StepPhase::clean)}};
}

// Does what the plan says, as the master and its agents would; steps and hosts fail by dice.
class Model {
public:
    explicit Model(unsigned seed) : dice_(seed) {}

    ClusterView view{.pools = {{"gpu", 1}}};
    bool calm = false;

    struct Truth {
        bool alive = true;    // Its host.
        bool member = false;  // Of the store.
        bool drained = false, clean = true;
        bool skipped = false;  // Its drain, as its host was silent.
        int failures = 0;
    };
    std::map<std::string, Truth> truth;

    NodeView& node(const std::string& id) { return *std::ranges::find(view.nodes, id, &NodeView::id); }
    int members() const {
        return static_cast<int>(
            std::ranges::count_if(truth, [](const auto& one) { return one.second.member; }));
    }
    int healthy() const {
        return static_cast<int>(std::ranges::count_if(
            truth, [](const auto& one) { return one.second.member && one.second.alive; }));
    }
    bool quorum() const { return Quorum{members(), healthy()}.holds(); }

    bool may_fail() { return !calm && dice_() % 8 == 0; }

    void weather() {
        for (NodeView& one : view.nodes) {
            Truth& of = truth[one.id];
            of.alive = calm || (of.alive ? dice_() % 60 != 0 : dice_() % 10 == 0);
            one.host_answers = of.alive;
            // It rests, or its step is under way.
            one.busy = !calm && dice_() % 5 == 0;
        }
        view.api_answers = view.made && quorum();
    }

    void see() {
        for (NodeView& one : view.nodes) {
            one.member = truth[one.id].member;
            one.healthy = (one.member || one.phase == NodePhase::ready) && truth[one.id].alive;
        }
        view.api_answers = view.made && quorum();
    }

    void run(NodeView& one, const DriverStep& step) {
        Truth& of = truth[one.id];
        if (step.place == StepPlace::node) {
            EXPECT_TRUE(of.alive) << "a step on a host that does not answer";
        }
        if (step.place == StepPlace::control) {
            EXPECT_TRUE(view.api_answers);
        }
        if (may_fail()) {
            if (++of.failures >= 3) one.exhausted = true;
            return;
        }
        of.failures = 0;
        if (step.name == "install") of.clean = false;
        if (step.name == "init" || step.name == "join") {
            EXPECT_FALSE(of.clean) << "it joins a host that was not prepared";
            of.member = one.role == NodeRole::control;
        }
        if (step.name == "drain") of.drained = true;
        if (step.name == "member") {
            const Quorum before{members(), healthy()};
            EXPECT_TRUE(!of.member || before.may_lose(of.alive))
                << "the store loses its majority: " << before.healthy << " of " << before.members;
            of.member = false;
        }
        if (step.name == "remove") of.clean = true, of.member = false;
        if (step.name == "look") {
            EXPECT_TRUE(of.clean);
        }
        ++one.step;
        if (one.phase == NodePhase::ready && one.step == 1) one.knows_addresses = true, one.step = 0;
    }

    void apply(const ClusterAction& action) {
        switch (action.act) {
            case ClusterAct::claim: {
                const std::string id = "n" + std::to_string(++number_);
                view.nodes.push_back({.id = id, .role = action.role, .pool = action.pool, .number = number_});
                truth[id];
                return;
            }
            case ClusterAct::drop: node(action.node).wanted = false; return;
            case ClusterAct::step: return run(node(action.node), *action.step);
            case ClusterAct::skip:
                ++node(action.node).step;
                truth[action.node].failures = 0;
                if (!truth[action.node].alive) truth[action.node].skipped = true;
                node(action.node).exhausted = false;
                return;
            case ClusterAct::turn: {
                const auto phase = next(cluster_life, view.phase, action.cluster_event);
                ASSERT_TRUE(phase);
                view.phase = *phase;
                return;
            }
            case ClusterAct::move: return move(node(action.node), action.node_event);
        }
    }

    void move(NodeView& one, NodeEvent event) {
        const auto phase = next(node_life, one.phase, event);
        ASSERT_TRUE(phase) << "from " << static_cast<int>(one.phase) << " by " << static_cast<int>(event);
        if (event == NodeEvent::leave && one.phase == NodePhase::draining) {
            EXPECT_TRUE(truth[one.id].drained || one.forced || truth[one.id].skipped);
        }
        if (*phase == NodePhase::left) {
            EXPECT_TRUE(truth[one.id].clean) << "a host is free and not clean";
            truth.erase(one.id);
            std::erase_if(view.nodes, [id = one.id](const NodeView& it) { return it.id == id; });
            return;
        }
        if (*phase == NodePhase::ready) {
            if (one.role == NodeRole::control) {
                view.made = true;
                for (NodeView& other : view.nodes) other.knows_addresses = other.id == one.id;
            }
        }
        one.phase = *phase;
        one.step = 0;
        one.exhausted = false;
        truth[one.id].failures = 0;
    }

    // One thing that may be done now. false: there is nothing.
    bool once() {
        see();
        const ClusterPlan next = plan(view, driver_);
        std::set<std::string> changing;
        EXPECT_LE(std::ranges::count_if(view.nodes,
                                        [](const NodeView& one) {
                                            return one.role == NodeRole::control &&
                                                   one.phase == NodePhase::joining;
                                        }),
                  1);
        if (next.actions.empty()) return false;
        apply(next.actions[dice_() % next.actions.size()]);
        return true;
    }

    void settle() {
        calm = true;
        for (int i = 0; i < 3000; ++i) {
            weather();
            if (!once()) return;
        }
        ADD_FAILURE() << "it does not come to rest";
    }

    std::size_t ready(NodeRole role) const {
        return static_cast<std::size_t>(std::ranges::count_if(view.nodes, [role](const NodeView& one) {
            return one.role == role && one.phase == NodePhase::ready && one.wanted;
        }));
    }
    unsigned dice() { return static_cast<unsigned>(dice_()); }

private:
    std::mt19937 dice_;
    Driver driver_ = driver();
    std::uint64_t number_ = 0;
};

TEST(ClusterPlan, MakesAControlPlaneAndWorkers) {
    Model model{1};
    model.view.control_wanted = 3;
    model.view.pools = {{"gpu", 2}, {"big", 1}};
    model.settle();
    EXPECT_EQ(model.view.phase, ClusterPhase::ready);
    EXPECT_EQ(model.ready(NodeRole::control), 3u);
    EXPECT_EQ(model.ready(NodeRole::worker), 3u);
    for (const NodeView& node : model.view.nodes) EXPECT_TRUE(node.knows_addresses) << node.id;
}

TEST(ClusterPlan, ScalesAndDeletes) {
    Model model{2};
    model.settle();
    model.view.control_wanted = 3;
    model.view.pools = {{"gpu", 2}};
    model.settle();
    EXPECT_EQ(model.ready(NodeRole::control), 3u);
    model.view.control_wanted = 1;
    model.view.pools = {};
    model.settle();
    EXPECT_EQ(model.ready(NodeRole::control), 1u);
    EXPECT_EQ(model.view.nodes.size(), 1u);
    model.view.phase = ClusterPhase::deleting;
    model.settle();
    EXPECT_EQ(model.view.phase, ClusterPhase::deleted);
    EXPECT_THAT(model.view.nodes, IsEmpty());
}

TEST(ClusterPlan, AClusterIsMadeOfASave) {
    Driver driver = hostler::driver();
    driver.steps.push_back(step("from-save", StepPhase::restore));
    for (const bool restores : {false, true}) {
        const ClusterView view{
            .nodes = {
                {.id = "n1", .role = NodeRole::control, .phase = NodePhase::creating, .restores = restores}}};
        const ClusterPlan next = plan(view, driver);
        EXPECT_THAT(next.actions,
                    Contains(ClusterAction{.act = ClusterAct::step,
                                           .node = "n1",
                                           .step = step_named(driver, restores ? "from-save" : "init")}));
    }
}

TEST(ClusterPlan, AClusterIsDeletedWhileAHostDoesNotAnswer) {
    Model model{3};
    model.settle();
    model.view.phase = ClusterPhase::deleting;
    NodeView& off = model.node("n2");
    for (int i = 0; i < 200 && model.view.phase != ClusterPhase::deleted; ++i) {
        off.host_answers = model.truth["n2"].alive = false;
        if (!model.once()) break;
    }
    EXPECT_EQ(model.view.phase, ClusterPhase::deleted);
    ASSERT_EQ(model.view.nodes.size(), 1u);
    EXPECT_EQ(model.view.nodes[0].phase, NodePhase::unclean) << "its host takes no work before it is cleaned";
}

TEST(ClusterPlan, ANodeIsDrainedWhileItsAgentIsSilentButNotWhenItsKubeletIsToo) {
    ClusterView view{
        .phase = ClusterPhase::scaling,
        .made = true,
        .api_answers = true,
        .nodes = {{.id = "n1", .role = NodeRole::control, .phase = NodePhase::ready, .healthy = true},
                  {.id = "n2",
                   .role = NodeRole::worker,
                   .phase = NodePhase::ready,
                   .wanted = false,
                   .host_answers = false,
                   .healthy = true}}};
    const Driver test = driver();
    const auto moves = [](NodeEvent event) {
        return ClusterAction{.act = ClusterAct::move, .node = "n2", .node_event = event};
    };
    EXPECT_THAT(plan(view, test).actions, Contains(moves(NodeEvent::drain)));
    view.nodes[1].healthy = false;
    EXPECT_THAT(plan(view, test).actions, Contains(moves(NodeEvent::leave)));

    const ClusterAction skips{.act = ClusterAct::skip, .node = "n2"};
    view.nodes[1].phase = NodePhase::draining;
    view.nodes[1].exhausted = true;
    EXPECT_THAT(plan(view, test).actions, Contains(skips));
    view.nodes[1].healthy = true;
    EXPECT_THAT(plan(view, test).actions, ::testing::Not(Contains(skips)));
}

TEST(ClusterPlan, TheLastMemberOfAMajorityStays) {
    Model model{4};
    model.view.control_wanted = 3;
    model.settle();
    model.calm = false;
    for (const char* id : {"n1", "n2", "n3"}) model.node(id).busy = false;
    model.truth["n1"].alive = model.truth["n2"].alive = false;
    for (const char* id : {"n1", "n2"}) model.node(id).host_answers = false, model.node(id).healthy = false;
    model.view.api_answers = false;
    model.view.control_wanted = 1;
    const ClusterPlan next = plan(model.view, driver());
    for (const ClusterAction& action : next.actions) EXPECT_NE(action.act, ClusterAct::move);
    EXPECT_THAT(next.actions,
                Contains(ClusterAction{.act = ClusterAct::turn, .cluster_event = ClusterEvent::lose}));
}

TEST(ClusterPlan, NoMemberGoesWhileAnotherIsAtIt) {
    const auto member = [](std::string id, NodePhase phase, bool busy) {
        return NodeView{.id = std::move(id),
                        .role = NodeRole::control,
                        .phase = phase,
                        .wanted = phase == NodePhase::ready,
                        .member = true,
                        .healthy = true,
                        .busy = busy};
    };
    ClusterView view{.phase = ClusterPhase::scaling,
                     .made = true,
                     .api_answers = true,
                     .nodes = {member("n1", NodePhase::ready, false), member("n2", NodePhase::leaving, true),
                               member("n3", NodePhase::leaving, false)}};
    const Driver test = driver();
    const ClusterAction goes{.act = ClusterAct::step, .node = "n3", .step = step_named(test, "member")};
    EXPECT_THAT(plan(view, test).actions, ::testing::Not(Contains(goes)));
    EXPECT_THAT(plan(view, test).blocked, Contains(ClusterBlock{"n3", "quorum"}));
    view.nodes[1].member = false;
    EXPECT_THAT(plan(view, test).actions, Contains(goes));
}

// Anything fails at any time; afterwards it comes to rest with what is wanted, and no promise was broken on
// the way.
TEST(ClusterPlan, ComesToRestAfterAnyStorm) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        Model model{seed};
        const auto wish = [&] {
            model.view.control_wanted = model.dice() % 2 ? 1 : 3;
            model.view.pools.clear();
            for (const char* pool : {"gpu", "big"})
                if (model.dice() % 3) model.view.pools.push_back({pool, model.dice() % 4});
        };
        wish();
        for (int i = 0; i < 400; ++i) {
            if (i % 100 == 99) wish();
            model.weather();
            model.once();
        }
        for (NodeView& one : model.view.nodes) one.forced = true;
        model.settle();
        if (model.view.phase != ClusterPhase::degraded) {
            EXPECT_EQ(model.view.phase, ClusterPhase::ready);
            EXPECT_EQ(model.ready(NodeRole::control), static_cast<std::size_t>(model.view.control_wanted));
            for (const PoolView& pool : model.view.pools) {
                const auto count = std::ranges::count_if(model.view.nodes, [&](const NodeView& one) {
                    return one.pool == pool.name && one.phase == NodePhase::ready && one.wanted;
                });
                EXPECT_EQ(count, pool.wanted) << pool.name;
            }
        }
        model.view.phase = ClusterPhase::deleting;
        model.settle();
        EXPECT_EQ(model.view.phase, ClusterPhase::deleted);
        EXPECT_THAT(model.view.nodes, IsEmpty());
        if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace hostler
