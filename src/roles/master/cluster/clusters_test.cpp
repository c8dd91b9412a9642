// Clusters from their creation to their end.
#include "roles/master/testing/cluster_rig.h"

#include "api/types_host.h"
#include "roles/master/cluster/probe.h"
#include "roles/master/cluster/reconcile.h"
#include "roles/master/drain/drain.h"
#include "roles/master/scheduler/capacity.h"

namespace hostler::master {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

struct Clusters : testing::ClusterRig {
    // Two hosts without GPUs, two with.
    Clusters() { a = host("a"), b = host("b"), c = host("c", 4), d = host("d", 8); }
    std::string a, b, c, d;
    static api::ScaleCluster to(std::int64_t workers) { return {.pool = "cpu", .count = workers}; }
    bool held(const std::string& id) const { return estate.claims.by().node_host.has(id); }
    std::string made(std::int64_t workers = 1, std::int64_t control = 1) {
        const std::string id = create(wanted(workers, control));
        go_on();
        EXPECT_EQ(cluster(id).phase, ClusterPhase::ready) << cluster(id).message;
        world->log.clear();
        return id;
    }
};

TEST_F(Clusters, OneAndOneComeToReady) {
    const std::string id = create(wanted());
    EXPECT_EQ(cluster(id).version, "v2") << "the newest";
    go_on();
    EXPECT_EQ(cluster(id).phase, ClusterPhase::ready);
    EXPECT_TRUE(cluster(id).api_answers);
    ASSERT_EQ(nodes(id).size(), 2u);
    EXPECT_EQ(nodes(id)[0]->name, "train-c1");
    EXPECT_EQ(nodes(id)[1]->name, "train-w2");
    EXPECT_EQ(nodes(id)[0]->host, a) << "hosts without GPUs come first";
    EXPECT_EQ(nodes(id)[1]->host, b);
    EXPECT_THAT(world->log,
                UnorderedElementsAre("install " + a, "install " + b, "init " + a, "token " + a, "join " + b));
    const Claim& claim = estate.claims.at(nodes(id)[0]->claim);
    EXPECT_EQ(claim.use, ClaimUse::node);
    EXPECT_EQ(claim.cpu_milli, 64'000);
    EXPECT_EQ(claim.memory_bytes, std::int64_t{512} << 30);
    EXPECT_EQ(nodes(id)[1]->timeline.size(), 3u);
    expect_consistent();
}

TEST_F(Clusters, StepsGetTheirValuesAndOutputsAreSealedSecrets) {
    driver_step("join").run.push_back("{{version}} {{cluster.endpoint}} {{node.address}}");
    const std::string id = create(wanted());
    go_on();
    EXPECT_EQ(values, (StepValues{{"join-token", "secret of train-w2"},
                                  {"control.address", "10.0.0.1"},
                                  {"podSubnet", "10.0.0.0/8"},
                                  {"version", "v2"},
                                  {"cluster.endpoint", id + ".hostler.internal"},
                                  {"node.address", "10.0.0.2"}}));
    EXPECT_THAT(cluster(id).secrets, HasSubstr("secret of train-c1"));
    for (const auto& [key, object] : world->store)
        EXPECT_THAT(object.body, Not(HasSubstr("secret of"))) << key.first << " in the store";
}

TEST_F(Clusters, AFailedStepIsTriedAgainAfterAWhile) {
    world->fails["join"] = 1;
    const std::string id = create(wanted());
    go_on();
    const ClusterNode& worker = *node(id, "train-w2");
    EXPECT_EQ(worker.phase, NodePhase::joining);
    EXPECT_EQ(worker.attempt, 1);
    EXPECT_EQ(worker.reason, "step_failed");
    EXPECT_EQ(worker.timeline.back().problem, "join ended with 1");
    EXPECT_TRUE(worker.doing.empty());
    go_on(12);
    EXPECT_EQ(cluster(id).phase, ClusterPhase::ready);
    EXPECT_EQ(node(id, "train-w2")->timeline.back().attempt, 2);
    EXPECT_TRUE(node(id, "train-w2")->reason.empty());
}

TEST_F(Clusters, AHostThatCannotJoinIsCleanedAndAnotherTakesItsPlace) {
    world->fails["join@" + b] = 2;
    const std::string id = create(wanted());
    go_on(40);
    EXPECT_EQ(cluster(id).phase, ClusterPhase::ready);
    ASSERT_EQ(nodes(id).size(), 2u);
    EXPECT_EQ(nodes(id)[1]->host, c) << "the fewest GPUs of those that are left";
    EXPECT_FALSE(held(b));
    EXPECT_THAT(cluster(id).avoided, ElementsAre(b));
    EXPECT_THAT(world->log, Contains("remove " + b));
    ASSERT_TRUE(scale_cluster(desk, id, to(2)));
    EXPECT_THAT(cluster(id).avoided, IsEmpty()) << "whoever asks again gets all hosts tried again";
}

TEST_F(Clusters, ScalesUpAndDownAndHostsComeBackClean) {
    const std::string id = made();
    ASSERT_TRUE(scale_cluster(desk, id, to(3)));
    go_on();
    EXPECT_EQ(cluster(id).phase, ClusterPhase::ready);
    EXPECT_EQ(ready(id), 4u);
    world->log.clear();
    ASSERT_TRUE(scale_cluster(desk, id, to(1)));
    sweep();
    EXPECT_EQ(cluster(id).phase, ClusterPhase::scaling);
    go_on();
    EXPECT_EQ(ready(id), 2u);
    EXPECT_TRUE(held(b)) << "the newest go first";
    EXPECT_FALSE(held(c) || held(d));
    EXPECT_THAT(world->log, Contains("drain " + a));
    EXPECT_THAT(world->log, Contains("remove " + d));
    expect_consistent();
}

TEST_F(Clusters, ThreeMembersJoinOneAfterTheOtherAndAllLearnTheirAddresses) {
    const std::string id = made(0, 3);
    EXPECT_EQ(ready(id), 3u);
    for (const ClusterNode* one : nodes(id))
        EXPECT_EQ(std::ranges::count(one->addresses, '\n'), 3) << one->name;
    ASSERT_TRUE(scale_cluster(desk, id, {.control = 1}));
    go_on(5);
    EXPECT_EQ(ready(id), 1u);
    EXPECT_EQ(cluster(id).phase, ClusterPhase::ready);
    EXPECT_EQ(std::ranges::count(nodes(id)[0]->addresses, '\n'), 1);
}

TEST_F(Clusters, NothingElseIsPlacedOnTheirHosts) {
    estate.specs.add({.name = "small", .cpu_milli = 1000, .memory_bytes = 1 << 30});
    const std::string id = made(3);
    EXPECT_EQ(nodes(id).size(), 4u);
    Decision decision = room(desk).place(desk, {.cpu_milli = 1});
    EXPECT_FALSE(decision.placement);
    ASSERT_TRUE(decision.denial);
    EXPECT_THAT(decision.denial->sentence, HasSubstr("nodes of clusters"));
    estate.hosts.edit(a).facts.cpus = 128;
    EXPECT_FALSE(room(desk).place(desk, {.cpu_milli = 1}).placement) << "also not on what is added to a host";
}

TEST_F(Clusters, HostsWithWorkOrVolumesAreNotTakenAndIdleStockGivesWay) {
    estate.specs.add({.name = "small",
                      .cpu_milli = 4000,
                      .memory_bytes = std::int64_t{16} << 30,
                      .gpu_type = "H100",
                      .gpu_count = 1});
    ASSERT_TRUE(stock(12));
    for (const std::string& id : {a, b}) estate.hosts.edit(id).cordoned = true;
    const std::string id = create(wanted(0));
    go_on();
    ASSERT_TRUE(nodes(id).empty()) << "its policy keeps stock";
    EXPECT_EQ(cluster(id).reason, "no_host");
    estate.specs.edit("small").reclaim = Reclaim::idle;
    go_on(12);
    ASSERT_EQ(nodes(id).size(), 1u);
    EXPECT_EQ(nodes(id)[0]->host, c);
    EXPECT_EQ(estate.claims.by().host.count(c), 1u);
}

TEST_F(Clusters, DeletionEndsWithoutASilentHostWhichIsCleanedWhenItReturns) {
    const std::string id = made();
    silence(b);
    delete_cluster(desk, id, std::nullopt);
    go_on(5);
    ASSERT_EQ(nodes(id).size(), 1u);
    EXPECT_EQ(cluster(id).phase, ClusterPhase::deleted);
    EXPECT_TRUE(cluster(id).secrets.empty());
    EXPECT_EQ(nodes(id)[0]->phase, NodePhase::unclean);
    EXPECT_TRUE(held(b)) << "its host takes no work";
    EXPECT_FALSE(held(a));
    returns(b);
    go_on(5);
    EXPECT_THAT(world->log, Contains("remove " + b));
    expect_nothing_left();
}

TEST_F(Clusters, AHostThatIsNotCleanTakesNoWorkUntilItIs) {
    const std::string id = made();
    world->leftovers[b] = {"file /etc/kubernetes"};
    ASSERT_TRUE(scale_cluster(desk, id, to(0)));
    go_on(5);
    const ClusterNode* worker = node(id, "train-w2");
    ASSERT_TRUE(worker);
    EXPECT_EQ(worker->phase, NodePhase::unclean);
    EXPECT_THAT(worker->leftovers, ElementsAre("file /etc/kubernetes"));
    EXPECT_TRUE(held(b));
    EXPECT_EQ(cluster(id).phase, ClusterPhase::ready) << "the cluster does not wait for it";
    world->leftovers.clear();
    go_on(60);
    EXPECT_TRUE(held(b)) << "it rests for five minutes";
    go_on(300);
    EXPECT_FALSE(held(b));
    EXPECT_EQ(nodes(id).size(), 1u);
}

TEST_F(Clusters, AnUncleanHostIsCleanedAtOnceWhenSomebodyAsksAgain) {
    const std::string id = made();
    world->leftovers[b] = {"file /etc/kubernetes"};
    delete_cluster(desk, id, std::nullopt);
    go_on(5);
    EXPECT_EQ(nodes(id).at(0)->phase, NodePhase::unclean);
    world->leftovers.clear();
    delete_cluster(desk, id, std::nullopt);
    go_on(5);
    EXPECT_FALSE(held(b));
    expect_nothing_left();
}

TEST_F(Clusters, ACheckThatFailsIsNoCleanHost) {
    const std::string id = made();
    delete_cluster(desk, id, std::nullopt);
    sweep();
    for (int i = 0; i < 40; ++i) {
        for (const auto& [command, row] : std::map{estate.commands.all().as_map()})
            if (row.verb == Verb::node_clean && row.host == b)
                note_answer(desk, b, command,
                            {.code = "timeout", .reason = "look_late", .message = "no answer"});
        act(), sweep(2);
    }
    ASSERT_EQ(nodes(id).size(), 1u);
    EXPECT_EQ(nodes(id)[0]->phase, NodePhase::unclean);
    EXPECT_EQ(nodes(id)[0]->reason, "look_late");
}

TEST_F(Clusters, ForceEndsADeletionAndTellsWhatItLeaves) {
    const std::string id = made();
    world->leftovers[b] = {"mount /var/lib/kubelet"};
    delete_cluster(desk, id, std::nullopt);
    go_on(3);
    EXPECT_EQ(cluster(id).phase, ClusterPhase::deleting) << "a host that answers is waited for";
    EXPECT_THAT(left_behind(desk, id), ElementsAre(HasSubstr("mount /var/lib/kubelet")));
    delete_cluster(desk, id, "the site is closed");
    go_on(3);
    EXPECT_EQ(cluster(id).phase, ClusterPhase::deleted);
    EXPECT_THAT(events, Contains("forced"));
    EXPECT_TRUE(held(b));
    const std::string left = nodes(id)[0]->id;
    ASSERT_TRUE(forget_node(desk, left, "it was installed again"));
    commit();
    expect_nothing_left();
}

TEST_F(Clusters, OnlyAnUncleanNodeIsForgotten) {
    const std::string id = made();
    const auto no = forget_node(desk, nodes(id)[0]->id, "why not");
    ASSERT_FALSE(no);
    EXPECT_EQ(no.error().reason, "node_not_unclean");
}

TEST_F(Clusters, ForcedNodesSkipStepsByWhichTheyLeave) {
    const std::string id = made(2);
    world->fails["drain"] = 1000;
    ASSERT_TRUE(scale_cluster(desk, id, to(1)));
    go_on(30);
    EXPECT_EQ(node(id, "train-w3")->phase, NodePhase::draining);
    EXPECT_THAT(events, Contains("step_failed"));
    estate.cluster_nodes.edit(node(id, "train-w3")->id).forced = true;
    go_on(5);
    EXPECT_EQ(ready(id), 2u);
    EXPECT_EQ(nodes(id).size(), 2u);
}

TEST_F(Clusters, AStepThatFailedTooOftenIsTriedAgainLater) {
    const std::string id = made(2);
    world->fails["drain"] = 2;
    ASSERT_TRUE(scale_cluster(desk, id, to(1)));
    go_on(30);
    EXPECT_EQ(node(id, "train-w3")->phase, NodePhase::draining);
    go_on(300);
    EXPECT_EQ(nodes(id).size(), 2u);
}

TEST_F(Clusters, ARemovedHostIsForgottenByItsCluster) {
    const std::string id = made();
    EXPECT_FALSE(remove_host(desk, b, false)) << "it is in use";
    ASSERT_TRUE(remove_host(desk, b, true));
    commit();
    expect_consistent();
    world->silent.insert(b);
    go_on(10);
    EXPECT_THAT(world->log, Contains("forget " + a));
    EXPECT_EQ(ready(id), 2u);
    EXPECT_EQ(node(id, "train-w3")->host, c);
    EXPECT_EQ(nodes(id).size(), 2u);
    expect_consistent();
}

TEST_F(Clusters, ADrainedHostIsReplaced) {
    const std::string id = made();
    ASSERT_TRUE(drain_host(desk, b, {.host = b, .reason = "new disks"}));
    go_on(10);
    EXPECT_FALSE(held(b));
    EXPECT_EQ(ready(id), 2u);
    EXPECT_EQ(cluster(id).phase, ClusterPhase::ready);
}

TEST_F(Clusters, AHostThatFallsSilentInAStepIsAskedAgain) {
    const std::string id = create(wanted());
    sweep();
    ASSERT_EQ(nodes(id).size(), 2u);
    EXPECT_EQ(nodes(id)[0]->doing, "install");
    silence(a);
    sweep();
    EXPECT_TRUE(nodes(id)[0]->doing.empty());
    EXPECT_EQ(nodes(id)[0]->attempt, 0) << "that is no failure of the step";
    EXPECT_FALSE(commanded(desk, nodes(id)[0]->id));
    returns(a);
    go_on();
    EXPECT_EQ(cluster(id).phase, ClusterPhase::ready);
}

TEST_F(Clusters, WithoutAReadyNodeInTimeItFailsAndItsHostsAreCleaned) {
    world->fails["init"] = 1'000'000;
    const std::string id = create(wanted());
    for (int i = 0; i < 400 && cluster(id).phase == ClusterPhase::provisioning; ++i) {
        sweep(10);
        while (act()) {
        }
    }
    EXPECT_EQ(cluster(id).phase, ClusterPhase::failed);
    EXPECT_EQ(cluster(id).reason, "not_made_in_time");
    go_on(10);
    EXPECT_TRUE(nodes(id).empty());
    EXPECT_TRUE(estate.claims.all().empty());
    delete_cluster(desk, id, std::nullopt);
    go_on();
    expect_nothing_left();
}

TEST_F(Clusters, LosingTheMajorityOfTheControlPlaneDegradesIt) {
    const std::string id = made(0, 3);
    silence(nodes(id)[0]->host);
    go_on();
    EXPECT_TRUE(cluster(id).api_answers) << "two of three agree";
    silence(nodes(id)[1]->host);
    go_on();
    EXPECT_EQ(cluster(id).phase, ClusterPhase::degraded);
    EXPECT_EQ(cluster(id).reason, "api_silent");
    EXPECT_EQ(nodes(id).size(), 3u) << "its hosts stay claimed";
    returns(nodes(id)[1]->host);
    go_on();
    EXPECT_TRUE(cluster(id).api_answers);
}

TEST_F(Clusters, AProbeSaysWhoIsAMemberAndWhetherTheApiAnswers) {
    settings.drivers[0].steps.push_back(step("probe", StepPhase::settle, StepPlace::control));
    world->probe = {{probe_output, "train-c1:member,healthy train-w2:"}};
    const std::string id = made();
    go_on(20);
    EXPECT_TRUE(node(id, "train-c1")->member);
    EXPECT_FALSE(node(id, "train-w2")->healthy) << "as the cluster says";
    for (const ClusterNode* one : nodes(id))
        for (const ClusterStepRecord& line : one->timeline) EXPECT_NE(line.step, "probe");
    const std::size_t rows = world->store.size();
    go_on(120);
    EXPECT_EQ(world->store.size(), rows) << "probes leave nothing in the store";
    world->silent.insert(a);  // Its agent hangs: it has not been noticed yet.
    for (int i = 0; i < 3; ++i) {
        sweep(16);
        if (const HostCommand* asked = command_of(node(id, "train-c1")->id))
            note_answer(desk, a, std::string{asked->id},
                        {.code = "timeout", .reason = "step_late", .message = "late"});
        sweep();
    }
    EXPECT_FALSE(cluster(id).api_answers);
    EXPECT_EQ(cluster(id).phase, ClusterPhase::degraded);
}

TEST_F(Clusters, SettleStepsFollowEachArrival) {
    settings.drivers[0].steps.push_back(step("network", StepPhase::settle, StepPlace::control));
    const std::string id = create(wanted());
    world->fails["network"] = 1;
    go_on();
    EXPECT_NE(cluster(id).phase, ClusterPhase::ready) << "it is not settled";
    go_on(15);
    EXPECT_EQ(cluster(id).phase, ClusterPhase::ready);
    EXPECT_EQ(std::ranges::count(world->log, "network " + a), 3);
}

TEST_F(Clusters, AnIdleClusterChangesNothing) {
    (void)made();
    go_on();
    const std::uint64_t visited = estate.rows_visited();
    for (int i = 0; i < 10; ++i) {
        pass(1);
        expire_commands(desk);
        look_at_clusters(desk);
    }
    EXPECT_EQ(estate.rows_visited(), visited) << "nothing is looked at";
    EXPECT_TRUE(estate.unchanged());
}

// A master dies after each commit in turn; the next goes on from the store.
TEST_F(Clusters, TheNextMasterGoesOnWhereverTheLastOneDied) {
    const auto story = [&](int dies_after) {
        auto rig = std::make_unique<testing::ClusterDesk>();
        for (const char* name : {"a", "b", "c"}) rig->host(name);
        rig->commit();
        int commits_left = dies_after;
        const auto go = [&](auto over) {
            for (int i = 0; i < 300 && !over(); ++i) {
                const auto before = rig->commits;
                if (!rig->act()) rig->sweep();
                commits_left -= static_cast<int>(rig->commits - before);
                if (commits_left <= 0 && dies_after > 0) rig = rig->restarted(), dies_after = 0;
                rig->expect_consistent();
            }
            return over();
        };
        const std::string id = rig->create(testing::ClusterDesk::wanted());
        EXPECT_TRUE(go([&] { return rig->cluster(id).phase == ClusterPhase::ready; }));
        EXPECT_TRUE(scale_cluster(rig->desk, id, to(2)));
        rig->commit();
        EXPECT_TRUE(go([&] { return rig->ready(id) == 3; }));
        delete_cluster(rig->desk, id, std::nullopt);
        rig->commit();
        EXPECT_TRUE(go([&] { return !rig->estate.clusters.find(id); }));
        rig->expect_nothing_left();
        return rig->commits;
    };
    const auto all = static_cast<int>(story(0));
    for (int dies_after = 1; dies_after < all && !HasFailure(); ++dies_after) {
        SCOPED_TRACE(dies_after);
        (void)story(dies_after);
    }
}

}  // namespace
}  // namespace hostler::master
