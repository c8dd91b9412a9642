// What comes late: an answer to an old question, a second try of hosts.
#include "roles/master/cluster/reconcile.h"
#include "roles/master/testing/cluster_rig.h"

namespace hostler::master {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

struct LateNews : testing::ClusterRig {
    LateNews() {
        for (const char* name : {"a", "b", "c", "d"}) hosts.push_back(host(name));
    }
    std::string made(std::int64_t workers, std::int64_t control) {
        const std::string id = create(wanted(workers, control));
        go_on();
        EXPECT_EQ(cluster(id).phase, ClusterPhase::ready) << cluster(id).message;
        world->log.clear();
        return id;
    }
    std::vector<std::string> hosts;
};

TEST_F(LateNews, AnAnswerSaysNothingOfANodeThatCameAfterTheQuestion) {
    const std::string id = made(0, 3);
    const ClusterNode& newest = *nodes(id)[2];
    const CommandAnswer answer{.done = true, .outputs = {{probe_output, "train-c1:member,healthy"}}};
    note_probe(desk, id, answer, newest.phase_since - 1);
    EXPECT_TRUE(newest.member) << "it would leave as one that nobody counts";
    EXPECT_TRUE(newest.healthy);
    note_probe(desk, id, answer, newest.phase_since + 1);
    EXPECT_FALSE(newest.member);
}

TEST_F(LateNews, WhoeverAsksForTheSameAgainGetsAllHostsTriedAgain) {
    const std::string id = create(wanted(1, 1));
    world->fails["join"] = 2;
    go_on(40);
    ASSERT_THAT(cluster(id).avoided, Not(IsEmpty()));
    ASSERT_TRUE(scale_cluster(desk, id, {.pool = "cpu", .count = 1}));
    EXPECT_THAT(cluster(id).avoided, IsEmpty());
}

TEST_F(LateNews, StepsOfTheControlPlaneRunWhereItAnswers) {
    const std::string id = made(0, 3);
    const std::string first = nodes(id)[0]->host;
    settings.drivers[0].steps.push_back(step("probe", StepPhase::settle, StepPlace::control));
    world->probe = {{probe_output, "train-c1:member train-c2:member,healthy train-c3:member,healthy"}};
    note_probe(desk, id, {.done = true, .outputs = world->probe}, estate.micros());
    ASSERT_FALSE(nodes(id)[0]->healthy);
    world->log.clear();
    ASSERT_TRUE(
        scale_cluster(desk, id, {.pools = std::vector<api::ClusterPool>{{.name = "cpu", .count = 1}}}));
    go_on(3);
    EXPECT_THAT(world->log, Not(::testing::Contains("token " + first)));
    EXPECT_EQ(ready(id), 4u);
}

TEST_F(LateNews, AHostThatCannotBeCleanedRests) {
    const std::string id = made(1, 1);
    world->fails["remove"] = 2;
    ASSERT_TRUE(scale_cluster(desk, id, {.pool = "cpu", .count = 0}));
    go_on(60);
    ASSERT_EQ(nodes(id).size(), 2u);
    EXPECT_EQ(nodes(id)[1]->phase, NodePhase::unclean) << "it is shown for a while, and tried again later";
    go_on(400);
    EXPECT_EQ(nodes(id).size(), 1u);
}

}  // namespace
}  // namespace hostler::master
