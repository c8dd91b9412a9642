// Pods that ask for GPUs: the agent as the device plugin of a real kubelet, with simulated GPUs, whose
// devices are real ones that this machine can do without.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "cloud_on_nodes.h"
#include "images.h"
#include "walk.h"

namespace hostler::kube {
namespace {

namespace json = boost::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Its pods mount a file of the node, which is privileged.
constexpr const char* pods_space = R"(apiVersion: v1
kind: Namespace
metadata: {name: gpu, labels: {pod-security.kubernetes.io/enforce: privileged}}
)";

// Busybox of the node is its program for tests.
std::string pod(const std::string& name, int gpus) {
    return fmt::format(R"(apiVersion: v1
kind: Pod
metadata: {{name: {0}, namespace: gpu}}
spec:
  terminationGracePeriodSeconds: 1
  volumes: [{{name: tools, hostPath: {{path: /bin/busybox, type: File}}}}]
  containers:
  - name: main
    image: {1}
    imagePullPolicy: Never
    volumeMounts: [{{name: tools, mountPath: /busybox, readOnly: true}}]
    resources: {2}
---
)",
                       name, hello_image,
                       gpus > 0 ? fmt::format("{{limits: {{nvidia.com/gpu: {}}}}}", gpus) : "{}");
}

class GpuPods : public OnNodes {
protected:
    GpuPods() : OnNodes({"control", "worker"}, {"worker"}) {}
    Node& control() { return (*nodes_)[0]; }
    Node& worker() { return (*nodes_)[1]; }
    Ran kubectl(Words words, const std::string& input = {}, Seconds within = Seconds{60}) {
        return OnNodes::kubectl(control(), std::move(words), input, within);
    }
    json::value cluster() { return cloud_->told({"cluster", "get", "train", "--tenant-id", "acme"}); }
    void make_cluster() {
        ASSERT_NO_FATAL_FAILURE(
            succeeds(cloud_->create_cluster("train", {"--control", "1", "--pool", "gpu=1,gpus=2", "--value",
                                                      "networkPolicies=none", "--value", "metrics=false"})));
        ASSERT_TRUE(eventually(Seconds{400}, [&] {
            const json::value now = cluster();
            return text_at(now, "state") == "ready" && now.at("nodes").as_array().size() == 2;
        })) << cloud_->cli({"cluster", "explain", "train", "--tenant-id", "acme"}).out;
        ASSERT_NO_FATAL_FAILURE(succeeds(kubectl({"apply", "-f", "-"}, pods_space)));
        ASSERT_TRUE(eventually(Seconds{60}, [&] {
            return kubectl({"get", "serviceaccount", "default", "-n", "gpu"}).code == 0;
        }));
    }
    // Of the worker, as the scheduler counts: "2".
    bool offers(const std::string& count, Seconds within = Seconds{60}) {
        return eventually(within, [&] {
            return kubectl(
                       {"get", "nodes", "-o", R"(jsonpath={.items[*].status.allocatable.nvidia\.com/gpu})"})
                       .out == count;
        });
    }
    std::string phase(const std::string& name) {
        return kubectl({"get", "pod", name, "-n", "gpu", "-o", "jsonpath={.status.phase}"}).out;
    }
    void runs(const std::string& name) {
        ASSERT_TRUE(eventually(Seconds{120}, [&] { return phase(name) == "Running"; }))
            << kubectl({"describe", "pod", name, "-n", "gpu"}).out;
    }
    // Of the series of the cluster's GPUs in the last moments; `pod`: empty: those without one.
    json::array lines_of(const std::string& pod) {
        const json::value told =
            cloud_->told({"metrics", "query", "gpu_memory_used", "--where",
                          fmt::format("cluster=train pod='{}'", pod), "--since", "20s", "--step", "10s"});
        return told.is_object() ? told.at("lines").as_array() : json::array{};
    }
    void names(const std::string& pod) {
        ASSERT_TRUE(eventually(Seconds{60}, [&] { return lines_of(pod).size() == 1; })) << cloud_->logs();
        const json::array lines = lines_of(pod);
        ASSERT_EQ(lines.size(), 1U);
        const json::value& labels = lines[0].at("labels");
        EXPECT_EQ(text_at(labels, "namespace"), "gpu");
        EXPECT_EQ(text_at(labels, "container"), "main");
        EXPECT_EQ(text_at(labels, "tenant"), "acme");
        EXPECT_EQ(text_at(labels, "node"), "train-w2");
    }
    // As the operator sees GPUs now.
    std::string holders() {
        std::string all;
        const json::value told = cloud_->told({"gpu", "list"});
        if (!told.is_array()) return "nothing was told";
        for (const json::value& gpu : told.get_array())
            if (!text_at(gpu, "pod").empty())
                all += text_at(gpu, "podNamespace") + "/" + text_at(gpu, "pod") + " ";
        return all;
    }
    Ran in_pod(const std::string& name, Words words) {
        words.insert(words.begin(), {"exec", name, "-n", "gpu", "--", "/busybox"});
        return kubectl(std::move(words));
    }
    Ran opens(const std::string& name, const std::string& path) {
        return in_pod(name, {"dd", "if=" + path, "of=/dev/null", "count=0"});
    }
    // "203 1", "" when it has none.
    std::string device_of(const std::string& name) {
        std::string numbers;
        for (const char* path : {"/dev/nvidia0", "/dev/nvidia1"}) {
            const Ran ran = in_pod(name, {"stat", "-c", "%t %T", path});
            if (ran.code != 0) continue;
            EXPECT_EQ(numbers, "") << name << " has two devices";
            EXPECT_EQ(opens(name, path).code, 0) << opens(name, path).err;
            unsigned major = 0, minor = 0;
            EXPECT_EQ(std::sscanf(ran.out.c_str(), "%x %x", &major, &minor), 2);  // NOLINT(cert-err34-c)
            numbers = fmt::format("{} {}", major, minor);
        }
        return numbers;
    }
    // Root of a container may make any node; the rules of its devices say which it opens.
    void opens_made(const std::string& name, const std::string& numbers, bool may) {
        const std::string at = fmt::format("/tmp/made{}", ++made_);
        const auto space = numbers.find(' ');
        ASSERT_NO_FATAL_FAILURE(
            succeeds(in_pod(name, {"mknod", at, "c", numbers.substr(0, space), numbers.substr(space + 1)})));
        const Ran ran = opens(name, at);
        EXPECT_EQ(ran.code == 0, may) << name << " and " << numbers << ": " << ran.err;
        if (!may) EXPECT_THAT(ran.err, HasSubstr("Operation not permitted"));
    }

    int made_ = 0;
};

TEST_F(GpuPods, OpenTheirDevicesAndNoOthers) {
    ASSERT_NO_FATAL_FAILURE(make_cluster());
    ASSERT_TRUE(offers("2")) << kubectl({"describe", "nodes"}).out;
    const Ran addons = kubectl({"get", "daemonsets,deployments,networkpolicies", "-A", "-o", "name"});
    EXPECT_THAT(addons.out, HasSubstr("deployment.apps/coredns"));
    EXPECT_THAT(addons.out, Not(AnyOf(HasSubstr("kube-router"), HasSubstr("metrics-server"),
                                      HasSubstr("networkpolicy"))));
    ASSERT_NO_FATAL_FAILURE(
        succeeds(kubectl({"apply", "-f", "-"}, pod("one", 1) + pod("none", 0) + pod("many", 3))));
    ASSERT_NO_FATAL_FAILURE(runs("one"));
    ASSERT_NO_FATAL_FAILURE(runs("none"));
    ASSERT_NO_FATAL_FAILURE(succeeds(kubectl({"apply", "-f", "-"}, pod("two", 1))));
    ASSERT_NO_FATAL_FAILURE(runs("two"));
    const std::string first = device_of("one"), second = device_of("two");
    ASSERT_NE(first, "");
    ASSERT_NE(second, "");
    EXPECT_EQ(device_of("none"), "");
    EXPECT_THAT(in_pod("one", {"env"}).out, HasSubstr("HOSTLER_GPUS_SIMULATED=1"));
    EXPECT_EQ(opens("one", "/dev/nvidiactl").code, 0);
    if (first != second) {  // Where this machine has a device for each.
        opens_made("one", first, true);
        opens_made("one", second, false);
        opens_made("two", first, false);
    }
    opens_made("none", first, false);
    EXPECT_EQ(phase("many"), "Pending");
    EXPECT_THAT(kubectl({"describe", "pod", "many", "-n", "gpu"}).out,
                HasSubstr("Insufficient nvidia.com/gpu"));

    ASSERT_NO_FATAL_FAILURE(names("one"));
    ASSERT_NO_FATAL_FAILURE(names("two"));
    EXPECT_THAT(holders(), HasSubstr("gpu/one "));
    EXPECT_THAT(holders(), HasSubstr("gpu/two "));
    EXPECT_THAT(lines_of("none"), IsEmpty());

    // Pods keep their GPUs over deaths of agent and kubelet, and others get those that are free.
    ASSERT_NO_FATAL_FAILURE(
        succeeds(kubectl({"delete", "pod", "two", "-n", "gpu", "--timeout=60s"}, {}, Seconds{90})));
    EXPECT_TRUE(eventually(Seconds{90}, [&] { return lines_of("two").empty(); })) << "the pod is gone";
    EXPECT_EQ(holders(), "gpu/one ");
    EXPECT_EQ(lines_of("").size(), 1U);
    cloud_->kill_agent(worker());
    worker().run({"pkill", "-KILL", "-x", "kubelet"});
    ASSERT_TRUE(eventually(Seconds{90}, [&] {
        const std::string log = read_file(worker().folder() + "/agent.log");
        constexpr std::string_view said = "the kubelet takes 2 of nvidia.com/gpu";
        const auto at = log.find(said);
        return at != log.npos && log.find(said, at + 1) != log.npos;
    })) << cloud_->logs();
    // A kubelet forgets the GPUs of deleted pods after it has seen the pods that are left.
    ASSERT_TRUE(eventually(Seconds{60}, [&] { return in_pod("one", {"true"}).code == 0; }));
    ASSERT_NO_FATAL_FAILURE(succeeds(kubectl({"apply", "-f", "-"}, pod("three", 1))));
    ASSERT_NO_FATAL_FAILURE(runs("three"));
    ASSERT_NO_FATAL_FAILURE(names("three"));
    EXPECT_EQ(device_of("three"), second);
    EXPECT_EQ(device_of("one"), first);

    succeeds(cloud_->cli({"cluster", "delete", "train", "--tenant-id", "acme", "--yes"}));
    ASSERT_TRUE(eventually(Seconds{300}, [&] {
        const json::value now = cluster();
        return now.is_null() || text_at(now, "state") == "deleted";
    })) << json::serialize(cluster());
    for (std::size_t i = 0; i < nodes_->size(); ++i)
        EXPECT_THAT(left_on((*nodes_)[i], driver_.leftovers), IsEmpty()) << (*nodes_)[i].name();
}

}  // namespace
}  // namespace hostler::kube
