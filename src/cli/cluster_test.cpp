// Clusters on the command line: pools in words, and `hostler apply`.
#include "api/operations_cluster.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::HasSubstr;

class ClusterCliTest : public CliTest {
protected:
    ClusterCliTest() {
        api.handlers.on<api::ops::create_cluster>(
            [this](api::Call, api::CreateCluster asked) -> Task<api::Cluster> {
                there = api::Cluster{.id = "kc-1",
                                     .name = asked.name,
                                     .driver = asked.driver,
                                     .version = asked.version.value_or("v2"),
                                     .restore = asked.restore.value_or(""),
                                     .control = asked.control,
                                     .pools = asked.pools};
                co_return *there;
            });
        api.handlers.on<api::ops::get_cluster>([this](api::Call, api::NameCluster) -> Task<api::Cluster> {
            if (!there) co_return fail(Code::not_found, "there is no cluster train", "cluster_not_found");
            co_return *there;
        });
        api.handlers.on<api::ops::scale_cluster>(
            [this](api::Call, api::ScaleCluster asked) -> Task<api::Cluster> {
                ++scaled;
                if (asked.control) there->control = *asked.control;
                if (asked.pools) there->pools = *asked.pools;
                co_return *there;
            });
    }
    int apply(const std::string& more = "") {
        return run({"apply", "-f", file("cluster.yaml", "kind: cluster\nname: train\n" + more)});
    }
    std::optional<api::Cluster> there;
    int scaled = 0;
};

TEST_F(ClusterCliTest, AKubeconfigHasThisProgramAskForTokens) {
    int asked = 0;
    std::string server = "https://gpu.example:8443/clusters/kc-1";
    there = api::Cluster{.id = "kc-1", .name = "train"};
    api.handlers.on<api::ops::create_cluster_credential>(
        [&](api::Call, api::NameCluster) -> Task<api::ClusterCredential> {
            co_return api::ClusterCredential{.cluster = "kc-1",
                                             .server = server,
                                             .token = fmt::format("hs_{}", ++asked),
                                             .expires_at = timers.wall() + std::chrono::minutes{10}};
        });
    ASSERT_EQ(run({"cluster", "kubeconfig", "train"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("current-context: \"train\""));
    EXPECT_THAT(out, HasSubstr("server: \"https://gpu.example:8443/clusters/kc-1\""));
    EXPECT_THAT(out, HasSubstr("      - \"kubeconfig\"\n      - \"kc-1\"\n      - \"--credential\""));
    EXPECT_THAT(out, ::testing::Not(HasSubstr("hs_")));

    asked = 0;
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(run({"cluster", "kubeconfig", "kc-1", "--credential"}), 0) << err;
        EXPECT_THAT(out, AllOf(HasSubstr(R"("kind":"ExecCredential")"), HasSubstr(R"("token":"hs_1")")));
    }
    EXPECT_EQ(asked, 1) << "it is kept";
    timers.advance(std::chrono::minutes{9} + std::chrono::seconds{1});
    ASSERT_EQ(run({"cluster", "kubeconfig", "kc-1", "--credential"}), 0) << err;
    EXPECT_THAT(out, HasSubstr(R"("token":"hs_2")")) << "the other one has hardly a minute left";

    server = "http://gpu.example:8080/clusters/kc-1";
    EXPECT_EQ(run({"cluster", "kubeconfig", "train"}), 5);
    EXPECT_THAT(err, HasSubstr("has no TLS"));
}

TEST_F(ClusterCliTest, PoolsAreWords) {
    ASSERT_EQ(run({"cluster", "create", "train", "--tenant", "acme", "--pool", "cpu=2", "--pool",
                   "gpu=1,gpu-type=H100 SXM5,gpus=8,zone=nj,host=a,host=b,label=disk=nvme"}),
              0)
        << err;
    EXPECT_EQ(there->pools, (std::vector<api::ClusterPool>{{.name = "cpu", .count = 2},
                                                           {.name = "gpu",
                                                            .count = 1,
                                                            .gpu_type = "H100 SXM5",
                                                            .gpus = 8,
                                                            .zone = "nj",
                                                            .hosts = {"a", "b"},
                                                            .host_labels = {{"disk", "nvme"}}}}));
    for (const auto& [word, wrong] :
         std::map<std::string, std::string>{{"gpu", "'gpu' is not NAME=COUNT"},
                                            {"=2", "'=2' is not NAME=COUNT"},
                                            {"gpu=many", "'many' is no whole number"},
                                            {"gpu=1,disk=nvme", "'disk=nvme' is none of gpu-type=WORDS"},
                                            {"gpu=1,label=disk", "'label=disk' is none of gpu-type=WORDS"}}) {
        EXPECT_EQ(run({"cluster", "create", "train", "--tenant", "acme", "--pool", word}), 2);
        EXPECT_THAT(err, HasSubstr(wrong));
    }
}

TEST_F(ClusterCliTest, ApplyMakesOneAndChangesItsHosts) {
    EXPECT_EQ(apply("pools: [{name: cpu, count: 1}]\n"), 0) << err;
    EXPECT_EQ(out, "cluster/train created\n");
    EXPECT_EQ(apply("pools: [{name: cpu, count: 1}]\n"), 0) << err;
    EXPECT_EQ(out, "cluster/train unchanged\n");
    EXPECT_EQ(scaled, 0);
    EXPECT_EQ(apply("control: 3\npools: [{name: cpu, count: 2}]\n"), 0) << err;
    EXPECT_EQ(out, "cluster/train updated: its hosts\n");
    EXPECT_EQ(scaled, 1);
    EXPECT_EQ(there->control, 3);
    EXPECT_EQ(there->pools[0].count, 2);
}

TEST_F(ClusterCliTest, ExplainsInSentencesWhatItWaitsFor) {
    api.handlers.on<api::ops::explain_cluster>([](api::Call,
                                                  api::NameCluster) -> Task<api::ClusterExplanation> {
        co_return api::ClusterExplanation{
            .token = "no_host",
            .sentence = "Cluster train is provisioning. No host is free.",
            .would_help = "Free a host.",
            .waits = {{.token = "no_host", .sentence = "No host is free.", .would_help = "Free a host."},
                      {.node = "train-c1", .token = "step_runs", .sentence = "Node train-c1 is joining."}}};
    });
    ASSERT_EQ(run({"cluster", "explain", "train"}), 0) << err;
    EXPECT_EQ(out,
              "Cluster train is provisioning. No host is free. (no_host)\nWould help: Free a host.\n"
              "Node train-c1 is joining. (step_runs)\n");
}

TEST_F(ClusterCliTest, NodesAreATableWithTheStepsOfThoseThatAreNotReady) {
    using std::chrono::seconds;
    const WallTime now = timers.wall();
    api::ClusterNode ready{.id = "kn-1", .name = "train-c1", .role = api::ClusterRole::control};
    ready.state = api::ClusterNodeState::ready;
    ready.host = "h-1", ready.zone = "nj", ready.step = "wait-ready";
    ready.created_at = ready.state_since = now - seconds{70};
    ready.timeline = {{.step = "check-host", .attempt = 1, .began_at = now - seconds{70}, .ended_at = now}};
    api::ClusterNode joins{.id = "kn-2", .name = "train-w2", .pool = "gpu"};
    joins.state = api::ClusterNodeState::joining;
    joins.host = "h-2", joins.zone = "nj", joins.gpus = 8, joins.step = "kubeadm-join";
    joins.created_at = joins.state_since = now - seconds{50};
    joins.message = "it is tried again";
    joins.timeline = {
        {.step = "images", .attempt = 1, .began_at = now - seconds{50}, .ended_at = now - seconds{38}},
        {.step = "kubeadm-join",
         .attempt = 1,
         .began_at = now - seconds{38},
         .ended_at = now - seconds{30},
         .problem = "port 10250 is in use"},
        {.step = "kubeadm-join", .attempt = 2, .began_at = now - seconds{20}}};
    there = api::Cluster{.id = "kc-1", .name = "train", .nodes = {ready, joins}};
    ASSERT_EQ(run({"cluster", "get", "train"}), 0) << err;
    EXPECT_THAT(
        out,
        HasSubstr("nodes:\n"
                  "  NAME      ROLE     POOL  STATE    STEP          HOST  ZONE  GPUS  ID    STATE SINCE\n"
                  "  train-c1  control  -     ready    wait-ready    h-1   nj       0  kn-1  70s\n"
                  "  train-w2  worker   gpu   joining  kubeadm-join  h-2   nj       8  kn-2  50s\n"
                  "  train-w2:\n"
                  "    it is tried again\n"
                  "    images 12s\n"
                  "    kubeadm-join 8s (attempt 1: port 10250 is in use)\n"
                  "    kubeadm-join 20s (runs)\n"));
}

TEST_F(ClusterCliTest, LongListsAndMapsHaveALineForEachElement) {
    const std::string image = "registry.example/a-long-name-of-an-image/";
    api.handlers.on<api::ops::get_cluster_images>([&](api::Call,
                                                      api::GetClusterImages) -> Task<api::ClusterImages> {
        co_return api::ClusterImages{
            .driver = "kubeadm", .version = "v2", .images = {image + "a:1", image + "b:1", image + "c:1"}};
    });
    ASSERT_EQ(run({"cluster", "images"}), 0) << err;
    EXPECT_THAT(
        out, HasSubstr("images:  " + image + "a:1\n         " + image + "b:1\n         " + image + "c:1\n"));
    api.handlers.on<api::ops::get_cluster_drivers>([](api::Call, api::Empty) -> Task<api::ClusterDrivers> {
        co_return api::ClusterDrivers{
            .drivers = {{.name = "kubeadm",
                         .versions = {"v2"},
                         .values = {{"first", std::string(60, 'a')}, {"second", std::string(60, 'b')}}}}};
    });
    ASSERT_EQ(run({"cluster", "drivers"}), 0) << err;
    EXPECT_EQ(out, "drivers:\n  name kubeadm, versions v2\n    values: first=" + std::string(60, 'a') +
                       "\n            second=" + std::string(60, 'b') + "\n");
}

TEST_F(ClusterCliTest, WhatGoesOnAfterTheAnswerIsShownByGet) {
    api.handlers.on<api::ops::delete_cluster>([](api::Call, api::DeleteCluster asked) -> Task<api::Cluster> {
        co_return api::Cluster{.id = "kc-1", .name = asked.cluster};
    });
    ASSERT_EQ(run({"cluster", "create", "train", "--control", "1"}), 0) << err;
    EXPECT_EQ(err, "cluster/train created; `hostler cluster get kc-1` shows how far it is\n");
    ASSERT_EQ(run({"cluster", "scale", "train", "--control", "3"}), 0) << err;
    EXPECT_EQ(err, "cluster/train scaled; `hostler cluster get kc-1` shows how far it is\n");
    ASSERT_EQ(run({"cluster", "delete", "train", "--yes"}), 0) << err;
    EXPECT_EQ(err, "cluster/train is being deleted; `hostler cluster get kc-1` shows how far it is\n");
}

TEST_F(ClusterCliTest, AllPoolsCanBeRemoved) {
    there = api::Cluster{.id = "kc-1", .name = "train", .pools = {{.name = "cpu", .count = 2}}};
    ASSERT_EQ(run({"cluster", "scale", "train", "--pools", ""}), 0) << err;
    EXPECT_TRUE(there->pools.empty());
    there->pools = {{.name = "cpu", .count = 2}};
    EXPECT_EQ(run({"cluster", "scale", "train", "--pools", "", "--pools", "gpu=1"}), 2);
    ASSERT_EQ(run({"cluster", "scale", "train", "--control", "3"}), 0) << err;
    EXPECT_EQ(there->pools.size(), 1u);
}

TEST_F(ClusterCliTest, SavesAreMadeListedRestoredAndDeleted) {
    std::string deleted;
    api.handlers.on<api::ops::save_cluster>([](api::Call, api::NameCluster asked) -> Task<api::ClusterSave> {
        co_return api::ClusterSave{.id = "ks-1", .cluster_name = asked.cluster};
    });
    api.handlers.on<api::ops::list_cluster_saves>(
        [](api::Call, api::ListClusterSaves asked) -> Task<api::List<api::ClusterSave>> {
            co_return api::List<api::ClusterSave>{
                .items = {{.id = "ks-1", .cluster_name = asked.cluster.value_or("?")}}};
        });
    api.handlers.on<api::ops::delete_cluster_save>(
        [&](api::Call, api::NameClusterSave asked) -> Task<api::ClusterSave> {
            deleted = asked.save;
            co_return api::ClusterSave{.id = asked.save, .state = api::ClusterSaveState::deleting};
        });
    ASSERT_EQ(run({"cluster", "save", "train", "-o", "name"}), 0) << err;
    EXPECT_EQ(err, "cluster/train save begun; `hostler cluster show-save ks-1` shows how far it is\n");
    ASSERT_EQ(run({"cluster", "saves", "--cluster", "train"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("train"));
    ASSERT_EQ(
        run({"cluster", "restore", "ks-1", "again", "--tenant", "acme", "--control", "3", "--pool", "cpu=2"}),
        0)
        << err;
    ASSERT_TRUE(there);
    EXPECT_EQ(there->name, "again");
    EXPECT_EQ(there->restore, "ks-1");
    EXPECT_EQ(there->control, 3);
    ASSERT_EQ(run({"cluster", "delete-save", "ks-1", "--yes"}), 0) << err;
    EXPECT_EQ(deleted, "ks-1");
    there.reset();
    EXPECT_EQ(apply("restore: ks-1\n"), 0) << err;
    EXPECT_EQ(there->restore, "ks-1");
    EXPECT_EQ(apply("restore: ks-1\n"), 0) << err;
    EXPECT_EQ(out, "cluster/train unchanged\n");
    EXPECT_EQ(apply("restore: ks-2\n"), 5);
}

TEST_F(ClusterCliTest, ApplyRefusesWhatCannotBeChanged) {
    EXPECT_EQ(apply(), 0) << err;
    EXPECT_EQ(apply("version: v3\ncontrol: 3\n"), 5);
    EXPECT_THAT(err, HasSubstr("it exists and differs in: version (v2 there, v3 in the file)"));
    EXPECT_EQ(scaled, 0);
}

}  // namespace
}  // namespace hostler::cli
