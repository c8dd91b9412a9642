// Clusters through the API.
#include <gmock/gmock.h>

#include "api/types_cluster.h"
#include "proto/uplink.pb.h"
#include "roles/master/cluster/nodes.h"
#include "roles/master/cluster/watch.h"
#include "roles/master/testing/api_rig.h"
#include "roles/master/testing/cluster_rig.h"
#include "roles/master/uplink/messages.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct ClustersApi : testing::ApiRig {
    ClustersApi() {
        settings.drivers = {testing::ClusterDesk::test_driver()};
        settings.driver_digests = {{"test", "d1"}};
        for (const char* name : {"b", "c"})
            desk().estate.hosts.add({.id = fmt::format("h-{}", name),
                                     .zone = "nj",
                                     .phase = HostPhase::ready,
                                     .facts = testing::DeskRig::facts_of(name, 0)});
        for (const char* name : {"h-a", "h-b", "h-c"}) {
            Host& host = desk().estate.hosts.edit(name);
            host.facts.clusters = true;
            host.facts.addresses = {"10.0.0.1"};
        }
        (void)commit();
    }
    static std::string train(const std::string& more = "") {
        return R"({"name":"train","tenantID":"acme","driver":"test","pools":[{"name":"gpu","gpuType":"H100","gpus":8}])" +
               more + "}";
    }
    json::object got(const std::string& target, const std::string& tenant = "acme") {
        const auto reply = call(tenant, "GET", target);
        EXPECT_EQ(reply.status, 200) << reply.body;
        return json::parse(reply.body).as_object();
    }
    std::vector<std::string> wrong(const std::string& body) {
        const auto reply = call("", "POST", "/v1/clusters", body);
        EXPECT_EQ(reply.status, 400) << reply.body;
        std::vector<std::string> fields;
        for (const auto& one : json::parse(reply.body).at("errors").as_array())
            fields.emplace_back(one.at("field").as_string());
        return fields;
    }
};

TEST_F(ClustersApi, OneIsCreatedShownScaledAndDeleted) {
    ASSERT_EQ(call("acme", "POST", "/v1/clusters", train()).status, 201);
    look_at_clusters(desk());
    (void)commit();
    const json::object shown = got("/v1/clusters/train");
    EXPECT_EQ(shown.at("state"), "provisioning");
    EXPECT_EQ(shown.at("version"), "v2");
    EXPECT_EQ(shown.at("wantedNodes"), 2);
    ASSERT_EQ(shown.at("nodes").as_array().size(), 2u);
    const json::object& node = shown.at("nodes").at(1).as_object();
    EXPECT_EQ(node.at("name"), "train-w2");
    EXPECT_EQ(node.at("gpus"), 8);
    EXPECT_EQ(node.at("host"), "") << "tenants do not see hosts";
    EXPECT_EQ(node.at("timeline").at(0).at("step"), "install");
    EXPECT_EQ(got("/v1/clusters/train?tenantID=acme", "").at("nodes").at(1).at("host"), "h-a");
    EXPECT_TRUE(got("/v1/clusters")["items"].at(0).at("nodes").as_array().empty());
    EXPECT_EQ(got("/v1/clusters/train/explain").at("token"), "step_runs");
    EXPECT_FALSE(got("/v1/clusters/train/events")["items"].as_array().empty());
    EXPECT_EQ(problem(call("globex", "GET", "/v1/clusters/train")), "cluster_not_found");
    EXPECT_EQ(call("acme", "PATCH", "/v1/clusters/train", R"({"pool":"gpu","count":0})").status, 200);
    const auto gone = call("acme", "DELETE", "/v1/clusters/train?force=true&reason=closed");
    ASSERT_EQ(gone.status, 200) << gone.body;
    EXPECT_EQ(json::parse(gone.body).at("state"), "deleting");
    EXPECT_EQ(json::parse(gone.body).at("leaves").as_array().size(), 2u);
}

TEST_F(ClustersApi, ACredentialIsForAClusterThatWasMade) {
    ASSERT_EQ(call("acme", "POST", "/v1/clusters", train()).status, 201);
    EXPECT_EQ(problem(call("acme", "POST", "/v1/clusters/train/credentials")), "cluster_not_made");
    const std::string id{got("/v1/clusters/train").at("id").as_string()};
    Cluster& cluster = desk().estate.clusters.edit(id);
    cluster.made = true, cluster.phase = ClusterPhase::ready;
    (void)commit();
    EXPECT_EQ(problem(call("acme", "POST", "/v1/clusters/train/credentials")), "no_gateway");
    desk().estate.gateways.add({.name = "gw-1", .address = "https://gpu.example:8443/"});
    (void)commit();
    const auto made = call("acme", "POST", "/v1/clusters/train/credentials");
    ASSERT_EQ(made.status, 201) << made.body;
    const json::object shown = json::parse(made.body).as_object();
    EXPECT_EQ(std::string{shown.at("server").as_string()}, "https://gpu.example:8443/clusters/" + id);
    EXPECT_EQ(shown.at("groups").at(0), "hostler:admins");
    EXPECT_TRUE(shown.at("token").as_string().starts_with("hs_"));
    EXPECT_EQ(
        json::parse(call("acme", "POST", "/v1/clusters/train/credentials?dryRun=true").body).at("token"), "");
    EXPECT_EQ(problem(call("globex", "POST", "/v1/clusters/train/credentials")), "cluster_not_found");
}

TEST_F(ClustersApi, TheSameKeyCreatesItOnce) {
    const auto first = call("acme", "POST", "/v1/clusters", train(), "key-1");
    ASSERT_EQ(first.status, 201);
    EXPECT_EQ(call("acme", "POST", "/v1/clusters", train(), "key-1").body, first.body);
    EXPECT_EQ(problem(call("acme", "POST", "/v1/clusters", train())), "cluster_exists");
}

TEST_F(ClustersApi, ADryRunSaysWhatItTakesAndCosts) {
    ASSERT_EQ(
        call("", "PUT", "/v1/prices", R"({"gpuType":"H100 SXM5 80GB","amount":"2.50","currency":"USD"})")
            .status,
        200);
    const auto reply = call("", "POST", "/v1/clusters?dryRun=true", train());
    ASSERT_EQ(reply.status, 201) << reply.body;
    const json::value made = json::parse(reply.body);
    const json::object& plan = made.at("plan").as_object();
    EXPECT_EQ(plan.at("fits"), true);
    EXPECT_EQ(plan.at("hosts").as_array().size(), 2u);
    EXPECT_EQ(plan.at("gpus"), 8);
    EXPECT_EQ(plan.at("pricePerHour"), "20.00");
    EXPECT_TRUE(got("/v1/clusters")["items"].as_array().empty());
    EXPECT_TRUE(desk().estate.claims.all().empty());
}

TEST_F(ClustersApi, BadInputNamesEachWrongField) {
    EXPECT_THAT(
        wrong(
            R"({"name":"Train","tenantID":"acme","control":2,"pools":[{"name":"a"},{"name":"a","count":-1}]})"),
        ::testing::UnorderedElementsAre("name", "control", "pools[1].name", "pools[1].count"));
    EXPECT_THAT(
        wrong(R"({"name":"train","tenantID":"acme","driver":"test","version":"v0","values":{"x":"1"}})"),
        ::testing::UnorderedElementsAre("version", "values.x"));
    ASSERT_EQ(call("acme", "POST", "/v1/clusters", train()).status, 201);
    EXPECT_EQ(call("acme", "DELETE", "/v1/clusters/train?force=true").status, 400) << "force has a reason";
    EXPECT_EQ(call("acme", "PATCH", "/v1/clusters/train", R"({"pool":"gpu"})").status, 400);
    EXPECT_EQ(call("acme", "PATCH", "/v1/clusters/train", R"({"control":2})").status, 400);
}

TEST_F(ClustersApi, DriversAndTheirImagesAreShown) {
    EXPECT_EQ(got("/v1/cluster-drivers").at("drivers").at(0).at("versions").at(0), "v2");
    EXPECT_EQ(got("/v1/cluster-images?driver=test&version=v1").at("images").at(0), "example.com/api:v1");
    EXPECT_EQ(call("acme", "GET", "/v1/cluster-images?driver=none").status, 400);
}

TEST_F(ClustersApi, OnlyOperatorsForgetNodes) {
    ASSERT_EQ(call("acme", "POST", "/v1/clusters", train()).status, 201);
    look_at_clusters(desk());
    const std::string node = desk().estate.cluster_nodes.all().begin()->first;
    desk().estate.cluster_nodes.edit(node).phase = NodePhase::unclean;
    (void)commit();
    const std::string target = fmt::format("/v1/cluster-nodes/{}/forget", node),
                      body = R"({"force":true,"reason":"new disks"})";
    EXPECT_EQ(problem(call("acme", "POST", target, body)), "permission_missing");
    EXPECT_EQ(call("", "POST", target, R"({"reason":"new disks"})").status, 400) << "it must be forced";
    EXPECT_EQ(call("", "POST", target, body).status, 200);
    EXPECT_FALSE(desk().estate.cluster_nodes.find(node));
}

TEST_F(ClustersApi, ASaveIsMadeListedAndDeleted) {
    ASSERT_EQ(call("acme", "POST", "/v1/clusters", train()).status, 201);
    EXPECT_EQ(problem(call("acme", "POST", "/v1/clusters/train/saves")), "cluster_not_made");
    const std::string cluster{got("/v1/clusters/train").at("id").as_string()};
    desk().estate.clusters.edit(cluster).made = true;
    look_at_clusters(desk());
    for (const ClusterNode* node : nodes_of(desk(), cluster))
        desk().estate.cluster_nodes.edit(std::string{node->id}).phase = NodePhase::ready;
    (void)commit();
    EXPECT_EQ(problem(call("acme", "POST", "/v1/clusters/train/saves")), "no_saves_folder");
    for (const char* name : {"h-a", "h-b", "h-c"}) desk().estate.hosts.edit(name).facts.cluster_saves = true;
    (void)commit();
    const auto made = call("acme", "POST", "/v1/clusters/train/saves");
    ASSERT_EQ(made.status, 201) << made.body;
    const std::string id{json::parse(made.body).at("id").as_string()};
    const std::string target = "/v1/cluster-saves/" + id;
    EXPECT_EQ(got(target).at("clusterName"), "train");
    EXPECT_EQ(got("/v1/cluster-saves?cluster=train")["items"].as_array().size(), 1u);
    EXPECT_TRUE(got("/v1/cluster-saves?cluster=other")["items"].as_array().empty());
    EXPECT_TRUE(got("/v1/cluster-saves", "globex")["items"].as_array().empty());
    for (const char* method : {"GET", "DELETE"})
        EXPECT_EQ(problem(call("globex", method, target)), "cluster_save_not_found");
    EXPECT_EQ(problem(call("acme", "DELETE", target)), "cluster_save_runs");
    desk().estate.cluster_saves.edit(id).phase = SavePhase::saved;
    (void)commit();
    const std::string of = fmt::format(R"({{"name":"again","restore":"{}"}})", id);
    EXPECT_EQ(problem(call("globex", "POST", "/v1/clusters", of)), "cluster_save_not_found");
    EXPECT_EQ(call("acme", "POST", "/v1/clusters",
                   fmt::format(R"({{"name":"again","restore":"{}","version":"v1"}})", id))
                  .status,
              400);
    const auto again = call("acme", "POST", "/v1/clusters", of);
    ASSERT_EQ(again.status, 201) << again.body;
    EXPECT_EQ(json::parse(again.body).at("restore").as_string(), id);
    EXPECT_EQ(json::parse(again.body).at("driver"), "test");
    EXPECT_EQ(problem(call("acme", "DELETE", target)), "cluster_save_used");
    ASSERT_EQ(call("acme", "DELETE", "/v1/clusters/again").status, 200);
    const auto gone = call("acme", "DELETE", target);
    ASSERT_EQ(gone.status, 200) << gone.body;
    EXPECT_EQ(json::parse(gone.body).at("state"), "deleting");
}

TEST_F(ClustersApi, AHostIsToldTheStepItsValuesAndTheDigest) {
    settings.drivers[0].steps[0].run = {"install", "{{version}}", "{{agent.folder}}"};
    ASSERT_EQ(call("acme", "POST", "/v1/clusters", train()).status, 201);
    look_at_clusters(desk());
    const HostCommand told = desk().estate.commands.all().begin()->second;
    uplink::Command sent;
    ASSERT_TRUE(write_command(desk(), 3, told, sent));
    EXPECT_EQ(sent.subject(), told.subject);
    EXPECT_EQ(sent.node_step().driver(), "test");
    EXPECT_EQ(sent.node_step().driver_digest(), "d1");
    EXPECT_EQ(sent.node_step().name(), "install");
    ASSERT_EQ(sent.node_step().values_size(), 1) << "what its texts ask for, but for what the agent knows";
    EXPECT_EQ(sent.node_step().values().at("version"), "v2");
    desk().estate.cluster_nodes.edit(told.subject).run += 1;
    EXPECT_FALSE(write_command(desk(), 3, told, sent)) << "that run is past";
}

}  // namespace
}  // namespace hostler::master
