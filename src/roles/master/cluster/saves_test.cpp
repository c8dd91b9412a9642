// Saves of clusters from their creation to their deletion, and clusters that are made of one.
#include "roles/master/testing/cluster_rig.h"

#include "roles/master/cluster/reconcile.h"
#include "roles/master/cluster/view.h"

namespace hostler::master {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Saves : testing::ClusterRig {
    Saves() {
        for (const char* name : {"a", "b", "c", "d"}) hosts.push_back(host(name));
        has_folder(hosts[0]);
    }
    void has_folder(const std::string& id, bool has = true) {
        estate.hosts.edit(id).facts.cluster_saves = has;
    }
    std::string made(std::int64_t control = 1) {
        const std::string id = create(wanted(0, control));
        go_on();
        EXPECT_EQ(cluster(id).phase, ClusterPhase::ready) << cluster(id).message;
        world->log.clear();
        return id;
    }
    std::string asked(const std::string& of) {
        const auto save = create_save(desk, cluster(of), "user/ann");
        if (!save) ADD_FAILURE() << save.error().message;
        HOSTLER_ASSERT(save);
        const std::string id = (*save)->id;
        commit();
        return id;
    }
    std::string saved(const std::string& of) {
        const std::string id = asked(of);
        go_on();
        EXPECT_EQ(save(id).phase, SavePhase::saved) << save(id).message;
        world->log.clear();
        return id;
    }
    const ClusterSave& save(const std::string& id) const { return estate.cluster_saves.at(id); }
    std::string not_saved(const std::string& of) {
        const auto made = create_save(desk, cluster(of), "user/ann");
        return made ? "" : made.error().reason;
    }
    static api::CreateCluster again(const std::string& of) {
        return {.name = "again", .restore = of, .control = 1};
    }
    std::vector<std::string> hosts;
};

TEST_F(Saves, AHostOfTheControlPlaneMakesIt) {
    const std::string id = made(), saving = asked(id);
    EXPECT_EQ(save(saving).phase, SavePhase::saving);
    go_on();
    const ClusterSave& done = save(saving);
    EXPECT_EQ(done.phase, SavePhase::saved);
    EXPECT_EQ(done.bytes, 4096);
    EXPECT_EQ(done.version, "v2");
    EXPECT_EQ(done.cluster_name, "train");
    EXPECT_THAT(world->log, ElementsAre("save " + hosts[0]));
    EXPECT_EQ(values, (StepValues{{"save.id", saving}})) << "the path is the agent's";
    EXPECT_THAT(events, Contains("saved"));
    EXPECT_TRUE(estate.commands.all().empty());
}

TEST_F(Saves, RefusalsSayWhatToDo) {
    const std::string id = create(wanted(0));
    EXPECT_EQ(not_saved(id), "cluster_not_made");
    go_on();
    has_folder(hosts[0], false);
    const auto refused = create_save(desk, cluster(id), "user/ann");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "no_saves_folder");
    EXPECT_THAT(refused.error().help, HasSubstr("--cluster-saves"));
    has_folder(hosts[0]);
    auto& steps = settings.drivers[0].steps;
    const auto all = steps;
    std::erase_if(steps, [](const DriverStep& one) { return one.phase == StepPhase::save; });
    EXPECT_EQ(not_saved(id), "driver_cannot_save");
    steps = all;
    delete_cluster(desk, id, std::nullopt);
    EXPECT_EQ(not_saved(id), "cluster_ending");
}

TEST_F(Saves, OneAtATimeAndSoManyAreKept) {
    const std::string id = made();
    const std::string first = asked(id);
    EXPECT_EQ(not_saved(id), "cluster_save_runs");
    EXPECT_EQ(delete_save(desk, first).error().reason, "cluster_save_runs");
    go_on();
    for (std::size_t i = 1; i < ClusterSave::of_cluster_max; ++i) saved(id);
    const auto refused = create_save(desk, cluster(id), "user/ann");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "too_many_saves");
    EXPECT_THAT(refused.error().help, HasSubstr("delete-save " + first));
    ASSERT_TRUE(delete_save(desk, first));
    go_on();
    EXPECT_EQ(not_saved(id), "");
}

TEST_F(Saves, TheNextMasterGoesOnWithIt) {
    const std::string id = made(), saving = asked(id);
    sweep();
    ASSERT_EQ(estate.commands.all().size(), 1u);
    const auto next = restarted();
    next->go_on();
    EXPECT_EQ(next->estate.cluster_saves.at(saving).phase, SavePhase::saved);
    EXPECT_THAT(world->log, ElementsAre("save " + hosts[0])) << "once";
}

TEST_F(Saves, AStepIsTriedAgainAndThenTheSaveHasFailed) {
    const std::string id = made();
    world->fails["save"] = 1;
    const std::string first = asked(id);
    go_on(15);
    EXPECT_EQ(save(first).phase, SavePhase::saved);
    world->fails["save"] = 2;
    const std::string second = asked(id);
    go_on(15);
    EXPECT_EQ(save(second).phase, SavePhase::failed);
    EXPECT_EQ(save(second).reason, "step_failed");
    EXPECT_EQ(save(second).message, "save ended with 1");
    EXPECT_THAT(events, Contains("save_failed"));
    EXPECT_EQ(explain_cluster(desk, cluster(id)).token, "save_failed");
    ASSERT_TRUE(delete_save(desk, second));
    go_on();
    EXPECT_FALSE(estate.cluster_saves.find(second)) << "what it left is removed, too";
}

TEST_F(Saves, AnotherHostMakesItOnceTheFirstIsSurelyOver) {
    for (const std::string& one : hosts) has_folder(one);
    const std::string id = made(3), saving = asked(id);
    sweep();
    const std::string first = save(saving).host;
    silence(first);
    go_on(60);
    EXPECT_EQ(save(saving).phase, SavePhase::saving) << "the silent host may write until its deadline";
    EXPECT_EQ(explain_cluster(desk, cluster(id)).token, "save_runs");
    go_on(90);
    EXPECT_EQ(save(saving).phase, SavePhase::saved);
    EXPECT_NE(save(saving).host, first);
}

TEST_F(Saves, ANodeDoesNotLeaveItsHostWhileThatSaves) {
    const std::string id = made(), saving = asked(id);
    sweep();
    ASSERT_FALSE(save(saving).doing.empty());
    delete_cluster(desk, id, std::nullopt);
    for (int i = 0; i < 5; ++i) sweep();
    ASSERT_EQ(nodes(id).size(), 1u);
    EXPECT_EQ(nodes(id)[0]->phase, NodePhase::ready);
    go_on();
    EXPECT_EQ(save(saving).phase, SavePhase::saved);
    EXPECT_FALSE(estate.clusters.find(id));
}

TEST_F(Saves, OneThatNoHostCanMakeFailsInTheEnd) {
    const std::string id = made(), saving = asked(id);
    has_folder(hosts[0], false);
    go_on(30);
    EXPECT_EQ(save(saving).phase, SavePhase::saving);
    EXPECT_EQ(save(saving).reason, "no_saves_folder");
    pass(3600);
    go_on();
    EXPECT_EQ(save(saving).phase, SavePhase::failed);
    EXPECT_EQ(save(saving).reason, "no_saves_folder");
}

TEST_F(Saves, ADeletionIsRetriedUntilItsFileIsGone) {
    const std::string id = made(), done = saved(id);
    world->fails["erase"] = 5;
    ASSERT_TRUE(delete_save(desk, done));
    ASSERT_TRUE(delete_save(desk, done)) << "may be said again";
    go_on(15);
    EXPECT_EQ(save(done).phase, SavePhase::deleting);
    EXPECT_EQ(save(done).message, "erase ended with 1");
    EXPECT_EQ(save_to_restore(desk, "acme", "default", done).error().reason, "cluster_save_unfinished");
    go_on(400);
    EXPECT_FALSE(estate.cluster_saves.find(done));
    EXPECT_THAT(events, Contains("save_deleted"));
}

TEST_F(Saves, ASaveOutlivesItsClusterAndAnyHostWithTheFolderDeletesIt) {
    const std::string id = made(), done = saved(id);
    delete_cluster(desk, id, std::nullopt);
    go_on();
    ASSERT_FALSE(estate.clusters.find(id));
    has_folder(hosts[0], false);
    ASSERT_TRUE(delete_save(desk, done));
    go_on(15);
    EXPECT_EQ(save(done).reason, "no_saves_folder") << "it waits";
    has_folder(hosts[3]);
    go_on(15);
    EXPECT_THAT(world->log, Contains("erase " + hosts[3]));
    EXPECT_TRUE(estate.cluster_saves.all().empty());
    expect_nothing_left();
}

TEST_F(Saves, HostsWithTheFolderDeleteItInTurnWithoutALookAtAll) {
    for (int i = 0; i < 100; ++i) {
        hosts.push_back(host(fmt::format("more{}", i)));
        has_folder(hosts.back());
    }
    const std::string id = made(), done = saved(id), first = save(done).host;
    world->fails["erase"] = 2;
    ASSERT_TRUE(delete_save(desk, done));
    go_on(60);
    EXPECT_FALSE(estate.cluster_saves.find(done));
    ASSERT_EQ(world->log.size(), 3u);
    EXPECT_EQ(world->log[0], "erase " + first);
    EXPECT_EQ((std::set<std::string>{world->log.begin(), world->log.end()}).size(), 3u)
        << "another each time";

    const std::string other = saved(id);
    silence(save(other).host);
    commit();
    whole_hosts(desk);
    const std::uint64_t before = estate.rows_visited();
    ASSERT_TRUE(save_to_restore(desk, "acme", "default", other));
    ASSERT_TRUE(delete_save(desk, other));
    look_at_saves(desk);
    EXPECT_LT(estate.rows_visited() - before, 50u);
    EXPECT_NE(save(other).doing, "") << "a host that answers does it";
}

TEST_F(Saves, AClusterIsMadeOfOne) {
    api::CreateCluster request = wanted(0);
    request.version = "v1";
    request.values = {{"podSubnet", "10.9.0.0/16"}};
    const std::string id = create(request);
    go_on();
    const std::string done = saved(id);
    delete_cluster(desk, id, std::nullopt);
    go_on();
    has_folder(hosts[0], false), has_folder(hosts[2]);
    world->log.clear();
    const std::string of = create(again(done));
    sweep();
    EXPECT_EQ(delete_save(desk, done).error().reason, "cluster_save_used");
    go_on();
    EXPECT_EQ(cluster(of).phase, ClusterPhase::ready);
    EXPECT_EQ(cluster(of).version, "v1");
    EXPECT_EQ(cluster(of).values.at("podSubnet"), "10.9.0.0/16");
    EXPECT_EQ(cluster(of).restores, done);
    EXPECT_THAT(world->log, Contains("restore " + hosts[2])) << "the only one with the folder";
    EXPECT_THAT(world->log, Not(Contains(HasSubstr("init"))));
    EXPECT_THAT(cluster(of).secrets, HasSubstr("secret of again-c1"));
    EXPECT_TRUE(delete_save(desk, done));
}

TEST_F(Saves, OnlyAFinishedSaveOfTheSameProjectIsRestored) {
    const std::string id = made(), saving = asked(id);
    EXPECT_EQ(refused(again(saving)).reason, "cluster_save_unfinished");
    go_on();
    EXPECT_EQ(refused(again("ks-none")).reason, "cluster_save_not_found");
    EXPECT_EQ(save_to_restore(desk, "globex", "default", saving).error().reason, "cluster_save_not_found");
    EXPECT_EQ(save_to_restore(desk, "acme", "lab", saving).error().reason, "cluster_save_not_found");
    api::CreateCluster other = again(saving);
    other.driver = "other";
    EXPECT_EQ(refused(other).fields.at(0).path, "driver");
    has_folder(hosts[0], false);
    EXPECT_EQ(refused(again(saving)).reason, "no_saves_folder");
    has_folder(hosts[1]);
    api::CreateCluster three = again(saving);
    three.control = 3;
    const Error impossible = refused(three);
    EXPECT_EQ(impossible.reason, "cluster_impossible");
    EXPECT_TRUE(estate.clusters.all().size() == 1);
}

}  // namespace
}  // namespace hostler::master
