#include "adapters/kubernetes/codec.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "adapters/kubernetes/objects.h"
#include "adapters/kubernetes/workloads.h"

namespace hostler::kubernetes {
namespace {

json::object object(std::string_view text) { return parse_object(text).value(); }

TEST(KubernetesCodec, ReadsTheFieldsThatItKnows) {
    const auto node = read_object<Node>(object(R"({
        "apiVersion": "v1", "kind": "Node", "surprise": [1, 2],
        "metadata": {"name": "n1", "uid": "u", "resourceVersion": "7", "creationTimestamp": "2026-01-02T03:04:05Z",
                     "labels": {"a": "b"}, "managedFields": [{"manager": "kubelet"}]},
        "spec": {"providerID": "x://1", "unschedulable": true, "podCIDR": "10.0.0.0/24",
                 "taints": [{"key": "k", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"nvidia.com/gpu": "8", "memory": "64Gi"},
                   "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-02T03:04:05Z"}],
                   "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                   "nodeInfo": {"machineID": "m", "systemUUID": "s", "bootID": "b", "kubeletVersion": "v1.36.3"}}})"));
    ASSERT_TRUE(node) << node.error().message;
    EXPECT_EQ(node->metadata.name, "n1");
    EXPECT_EQ(node->metadata.labels.at("a"), "b");
    EXPECT_EQ(rfc3339(node->metadata.creation_timestamp.value()), "2026-01-02T03:04:05.000000Z");
    EXPECT_EQ(node->spec.provider_id, "x://1");
    EXPECT_TRUE(node->spec.unschedulable);
    EXPECT_EQ(node->spec.taints.at(0).key, "k");
    EXPECT_EQ(node->status.allocatable.at("nvidia.com/gpu"), "8");
    EXPECT_EQ(find_condition(node->status.conditions, "Ready")->status, "True");
    EXPECT_EQ(find_condition(node->status.conditions, "DiskPressure"), nullptr);
    EXPECT_EQ(node->status.node_info.system_uuid, "s");
    EXPECT_EQ(node->status.node_info.machine_id, "m");
    EXPECT_EQ(node->status.addresses.at(0).address, "10.0.0.1");
}

TEST(KubernetesCodec, NamesEveryFieldOfAnotherType) {
    const auto pod = read_object<Pod>(object(R"({"metadata": {"name": 3}, "status": {
        "podIP": [], "containerStatuses": [{"name": "c", "restartCount": 3000000000, "ready": "yes"}],
        "startTime": "yesterday", "conditions": {}}})"));
    ASSERT_FALSE(pod);
    EXPECT_EQ(pod.error().code, Code::invalid);
    std::vector<std::string> paths;
    for (const auto& field : pod.error().fields) paths.push_back(field.path);
    EXPECT_EQ(paths, (std::vector<std::string>{"metadata.name", "status.podIP", "status.startTime",
                                               "status.conditions", "status.containerStatuses[0].ready",
                                               "status.containerStatuses[0].restartCount"}));
}

TEST(KubernetesCodec, AChangeKeepsUnknownFields) {
    const auto before = object(R"({"metadata": {"name": "d", "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"old": "1", "stays": "2"}, "odd": 1},
        "spec": {"replicas": 2, "strategy": {"type": "Recreate"}, "template": {"spec": {"dnsPolicy": "Default",
            "containers": [{"name": "a", "image": "i:1", "ports": [{"containerPort": 80}]},
                           {"name": "b", "image": "j:1", "livenessProbe": {"x": 1}}]}}},
        "status": {"replicas": 2, "terminatingReplicas": 0}})");
    auto deployment = read_object<Deployment>(before).value();
    EXPECT_EQ(write_onto(deployment, before), before) << "nothing was changed";

    deployment.spec.replicas = 3;
    deployment.metadata.labels = {{"new", "3"}, {"stays", "2"}};
    auto& containers = deployment.spec.template_.spec.containers;
    containers[1].image = "j:2";
    std::swap(containers[0], containers[1]);
    containers.push_back({.name = "c", .image = "k:1"});
    EXPECT_EQ(write_onto(deployment, before),
              object(R"({"metadata": {"name": "d", "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"new": "3", "stays": "2"}, "odd": 1},
        "spec": {"replicas": 3, "strategy": {"type": "Recreate"}, "template": {"spec": {"dnsPolicy": "Default",
            "containers": [{"name": "b", "image": "j:2", "livenessProbe": {"x": 1}},
                           {"name": "a", "image": "i:1", "ports": [{"containerPort": 80}]},
                           {"name": "c", "image": "k:1"}]}}},
        "status": {"replicas": 2, "terminatingReplicas": 0}})"));
}

TEST(KubernetesCodec, AFieldThatBecomesItsInitialValueGoes) {
    const auto before = object(R"({"spec": {"unschedulable": true, "podCIDR": "10.0.0.0/24",
        "taints": [{"key": "k", "value": "v", "effect": "NoSchedule", "odd": 1},
                   {"key": "k", "effect": "NoExecute", "odd": 2}]}})");
    auto node = read_object<Node>(before).value();
    node.spec.unschedulable = false;
    node.spec.taints.erase(node.spec.taints.begin());
    EXPECT_EQ(
        write_onto(node, before),
        object(
            R"({"spec": {"podCIDR": "10.0.0.0/24", "taints": [{"key": "k", "effect": "NoExecute", "odd": 2}]}})"));
    node.spec.taints.clear();
    EXPECT_EQ(write_onto(node, before), object(R"({"spec": {"podCIDR": "10.0.0.0/24"}})"));
}

TEST(KubernetesCodec, BytesAreBase64AndCountsMayBeText) {
    Secret secret{.metadata = {.name = "s"}, .data = {{"k", {std::string{"\0\xff", 2}}}}};
    const auto written = write_onto(secret);
    EXPECT_EQ(written, object(R"({"metadata": {"name": "s"}, "data": {"k": "AP8="}})"));
    EXPECT_EQ(read_object<Secret>(written).value(), secret);

    PodDisruptionBudget budget;
    budget.spec.min_available = IntOrText{"25%"};
    budget.spec.max_unavailable = IntOrText{"2"};
    EXPECT_EQ(write_onto(budget), object(R"({"spec": {"minAvailable": "25%", "maxUnavailable": 2}})"));
    EXPECT_EQ(read_object<PodDisruptionBudget>(write_onto(budget)).value(), budget);
}

TEST(KubernetesKinds, HaveTheirPaths) {
    EXPECT_EQ(object_path(kinds::node, {"", "n 1"}), "/api/v1/nodes/n%201");
    EXPECT_EQ(object_path(kinds::deployment, {"ns", "d"}, "status"),
              "/apis/apps/v1/namespaces/ns/deployments/d/status");
    EXPECT_EQ(collection_path(kinds::pod, ""), "/api/v1/pods");
    EXPECT_EQ(find_kind("policy/v1", "PodDisruptionBudget"), &kinds::all[13]);
    EXPECT_EQ(find_kind("v1", "PodDisruptionBudget"), nullptr);
}

TEST(KubernetesCodec, RefusesWhatIsNoObject) {
    EXPECT_FALSE(parse_object("[1]"));
    EXPECT_FALSE(parse_object("{"));
    EXPECT_FALSE(parse_object(std::string(200, '[')));
    EXPECT_TRUE(parse_object(R"({"a": 18446744073709551615})"));
}

}  // namespace
}  // namespace hostler::kubernetes
