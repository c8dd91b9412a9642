// Why clusters wait, and which are refused.
#include "roles/master/testing/cluster_rig.h"

#include "api/handlers.h"
#include "api/types_tenant.h"
#include "roles/master/cluster/view.h"
#include "roles/master/quota/usage.h"
#include "roles/master/tenant/tenants.h"

namespace hostler::master {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct ClusterWaits : testing::ClusterRig {
    ClusterWaits() { a = host("a"), b = host("b"), c = host("c", 4); }
    std::string a, b, c;
    api::ClusterExplanation why(const std::string& id) const { return explain_cluster(desk, cluster(id)); }
    std::string made(std::int64_t workers = 1, std::int64_t control = 1) {
        const std::string id = create(wanted(workers, control));
        go_on();
        return id;
    }
    static std::vector<std::string> fields(const Error& error) {
        std::vector<std::string> paths;
        for (const FieldError& one : error.fields) paths.push_back(one.path);
        return paths;
    }
};

TEST_F(ClusterWaits, AReadyOneWaitsForNothing) {
    const std::string id = made();
    EXPECT_EQ(why(id).token, "ready");
    EXPECT_TRUE(why(id).waits.empty());
}

TEST_F(ClusterWaits, NoHostIsFree) {
    estate.hosts.edit(b).cordoned = true;
    estate.hosts.edit(c).cordoned = true;
    const std::string id = made();
    EXPECT_EQ(cluster(id).reason, "no_host");
    EXPECT_EQ(why(id).token, "no_host");
    EXPECT_THAT(why(id).sentence,
                AllOf(HasSubstr("pool cpu"), HasSubstr("cordoned: 2"), HasSubstr("a node of a cluster: 1")));
    ASSERT_TRUE(why(id).would_help);
    EXPECT_THAT(*why(id).would_help, HasSubstr("cluster scale train --pool cpu"));
    estate.hosts.edit(b).cordoned = false;
    go_on(12);
    EXPECT_EQ(why(id).token, "ready");
    EXPECT_EQ(cluster(id).reason, "");
}

TEST_F(ClusterWaits, AStepFailedAHostIsSilentAndAHostIsUnclean) {
    const std::string id = made();
    world->fails["drain"] = 100;
    ASSERT_TRUE(scale_cluster(desk, id, {.pool = "cpu", .count = 0}));
    go_on();
    EXPECT_EQ(why(id).token, "step_retried");
    go_on(20);
    EXPECT_EQ(why(id).token, "step_failed");
    EXPECT_THAT(why(id).sentence, AllOf(HasSubstr("train-w2"), HasSubstr("drain ended with 1")));
    world->fails.clear();
    world->leftovers[b] = {"process kubelet (pid 7)"};
    go_on(300);
    EXPECT_EQ(why(id).token, "host_unclean");
    EXPECT_THAT(why(id).sentence, HasSubstr("process kubelet (pid 7)"));
    silence(b);
    go_on(300);
    EXPECT_EQ(why(id).token, "host_silent");
    EXPECT_EQ(why(id).waits.size(), 1u) << "nothing can be removed there now";
    EXPECT_THAT(why(id).sentence, HasSubstr("process kubelet (pid 7)"));
}

TEST_F(ClusterWaits, ANodeWithASilentHostLeavesAndItsOwnerIsToldWhoCanFreeTheHost) {
    const std::string id = made();
    silence(b);
    ASSERT_TRUE(scale_cluster(desk, id, {.pool = "cpu", .count = 0}));
    go_on(5);
    EXPECT_EQ(cluster(id).phase, ClusterPhase::ready) << "the cluster does not wait for it";
    ASSERT_EQ(nodes(id).size(), 2u);
    EXPECT_EQ(nodes(id)[1]->phase, NodePhase::unclean);
    EXPECT_EQ(why(id).token, "host_silent");
    EXPECT_THAT(why(id).sentence,
                AllOf(HasSubstr("train-w2 has left"), HasSubstr("cleaned when it returns")));
    ASSERT_TRUE(why(id).would_help);
    EXPECT_THAT(*why(id).would_help,
                AllOf(HasSubstr("host remove HOST --force"),
                      HasSubstr("node forget " + nodes(id)[1]->id + " --force --reason")));
    ASSERT_TRUE(forget_node(desk, nodes(id)[1]->id, "it was installed again"));
    go_on();
    EXPECT_EQ(why(id).token, "ready");
}

TEST_F(ClusterWaits, AHostThatFallsSilentWhileItIsDrainedHoldsNothingUp) {
    const std::string id = made();
    world->fails["drain"] = 1'000'000;
    ASSERT_TRUE(scale_cluster(desk, id, {.pool = "cpu", .count = 0}));
    go_on();
    ASSERT_EQ(nodes(id)[1]->phase, NodePhase::draining);
    silence(b);
    go_on(60);
    EXPECT_EQ(nodes(id)[1]->phase, NodePhase::unclean) << why(id).sentence;
    EXPECT_EQ(why(id).token, "host_silent");
}

TEST_F(ClusterWaits, AQuorumIsKeptAndASilentApiIsTold) {
    const std::string id = made(0, 3);
    silence(b);
    go_on();
    ASSERT_TRUE(scale_cluster(desk, id, {.control = 1}));
    silence(c);
    go_on();
    EXPECT_EQ(cluster(id).phase, ClusterPhase::degraded);
    EXPECT_EQ(why(id).token, "api_silent");
    returns(c);
    silence(b);
    go_on(2);
    EXPECT_EQ(cluster(id).phase == ClusterPhase::degraded, false);
}

TEST_F(ClusterWaits, AMasterWithoutItsDriverSaysSo) {
    const std::string id = made();
    settings.drivers.clear();
    go_on();
    EXPECT_EQ(why(id).token, "driver_missing");
}

TEST_F(ClusterWaits, QuotasCountClustersAndWholeHosts) {
    estate.quotas.add({.id = "acme", .tenant = "acme", .limits = {{"clusters", 1}, {"gpus", 4}}});
    api::CreateCluster request = wanted(0);
    request.pools.push_back({.name = "gpu", .count = 1, .gpu_type = "H100", .gpus = 4});
    const std::string id = create(request);
    go_on();
    EXPECT_EQ(cluster(id).phase, ClusterPhase::ready);
    EXPECT_EQ(usage(desk).used("acme", "", "").at("gpus"), 4);
    EXPECT_EQ(usage(desk).used("acme", "", "").at("cpu"), 128'000);
    EXPECT_EQ(usage(desk).used("acme", "default", "").at("clusters"), 1);
    request.name = "second";
    EXPECT_EQ(refused(request).reason, "quota_exceeded");
    delete_cluster(desk, id, std::nullopt);
    go_on(3);
    EXPECT_EQ(usage(desk).used("acme", "", ""), Amounts{});
}

TEST_F(ClusterWaits, AHostBeyondTheQuotaIsNotClaimed) {
    const std::string id = create(wanted());
    estate.quotas.add({.id = "acme", .tenant = "acme", .limits = {{"cpu", 64'000}}});
    go_on();
    EXPECT_EQ(nodes(id).size(), 1u);
    EXPECT_EQ(why(id).token, "quota_exceeded");
    estate.quotas.edit("acme").limits[0].limit = 128'000;
    go_on(12);
    EXPECT_EQ(nodes(id).size(), 2u);
}

TEST_F(ClusterWaits, EveryWrongFieldIsNamed) {
    api::CreateCluster request = wanted();
    request.version = "v9";
    request.values = {{"podSubnets", "1"}, {"podSubnet", "two\nlines"}};
    request.control_zone = "moon";
    request.control_hosts = {"h-none"};
    request.pools[0].zone = "mars";
    const Error error = refused(request);
    EXPECT_EQ(error.code, Code::invalid);
    EXPECT_THAT(fields(error), ElementsAre("version", "values.podSubnet", "values.podSubnets", "controlZone",
                                           "controlHosts[0]", "pools[0].zone"));
    request = wanted();
    request.driver = "tset";
    EXPECT_THAT(refused(request).fields.at(0).message, HasSubstr("did you mean test?"));
}

TEST_F(ClusterWaits, OneThatHostsCouldNeverTakeIsRefusedWithTheNearest) {
    EXPECT_EQ(refused(wanted(2, 3)).reason, "cluster_impossible") << "five of three";
    EXPECT_THAT(refused(wanted(3)).fields.at(0).message,
                "of 3 wanted hosts there are 3, and the rest of the cluster leaves 2 of these");
    api::CreateCluster request = wanted(0);
    request.pools.push_back({.name = "gpu", .count = 1, .gpu_type = "H100", .gpus = 8});
    EXPECT_THAT(refused(request).fields.at(0).message, HasSubstr("1 would with at least 4 GPUs"));
    request.pools[0].gpus = 4;
    request.pools[0].zone = "lon";
    EXPECT_THAT(refused(request).fields.at(0).message, HasSubstr("1 would in any zone"));
    // The only host with GPUs cannot be both.
    request.pools[0].zone = "";
    request.control_hosts = {"c"};
    const Error error = refused(request);
    EXPECT_EQ(error.reason, "cluster_impossible");
    EXPECT_THAT(fields(error), ElementsAre("pools[0].count"));
    estate.hosts.edit(c).facts.clusters = false;
    EXPECT_EQ(refused(wanted(2)).reason, "cluster_impossible") << "its agent does not allow it";
}

TEST_F(ClusterWaits, PoolsGetTheHostsThatTheyAskFor) {
    estate.hosts.edit(a).labels = {{"disk", "nvme"}};
    api::CreateCluster request = wanted(0);
    request.pools.push_back({.name = "fast", .count = 1, .host_labels = {{"disk", "nvme"}}});
    request.control_hosts = {"b"};
    const std::string id = create(request);
    go_on();
    ASSERT_EQ(nodes(id).size(), 2u);
    EXPECT_EQ(nodes(id)[0]->host, b);
    EXPECT_EQ(nodes(id)[1]->host, a);
    EXPECT_THAT(refused(wanted(0)).reason, "cluster_exists");
}

TEST_F(ClusterWaits, ADisabledTenantCreatesNoneAndATenantWithOneStays) {
    (void)made();
    EXPECT_FALSE(delete_tenant(desk, "acme", {.tenant = "acme"}));
    estate.tenants.edit("acme").disabled_at = 1;
    api::CreateCluster request = wanted(0);
    request.name = "second";
    EXPECT_EQ(refused(request).reason, "tenant_disabled");
}

TEST_F(ClusterWaits, ScalingNamesWhatIsWrong) {
    const std::string id = made();
    const auto no = scale_cluster(desk, id, {.pool = "cpus", .count = 2});
    ASSERT_FALSE(no);
    EXPECT_THAT(no.error().fields.at(0).message, HasSubstr("did you mean cpu?"));
    EXPECT_EQ(scale_cluster(desk, id, {.pool = "cpu", .count = 9}).error().reason, "cluster_impossible");
    delete_cluster(desk, id, std::nullopt);
    EXPECT_EQ(scale_cluster(desk, id, {.pool = "cpu", .count = 2}).error().reason, "cluster_ending");
}

}  // namespace
}  // namespace hostler::master
