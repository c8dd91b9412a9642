// The driver of kubeadm on real nodes, by the plan of the domain.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "driver_file.h"
#include "nodes.h"
#include "parts.h"
#include "walk.h"

namespace hostler::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KubeadmWalk : public Walk {
public:
    using Walk::Walk;
    Ran kubectl(Words words, const std::string& input = {}, Seconds within = Seconds{120}) {
        words.insert(words.begin(), {"kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"});
        return control()->run(std::move(words), within, input);
    }

private:
    Sight look() override {
        constexpr const char* script = R"sh(export KUBECONFIG=/etc/kubernetes/admin.conf
kubectl get --raw /readyz --request-timeout=5s >/dev/null || exit 1
kubectl get nodes -o 'jsonpath={range .items[*]}node {.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}'
id=$(ctr -n k8s.io containers ls -q 'labels."io.kubernetes.container.name"==etcd' | grep -xF "$(ctr -n k8s.io tasks ls | awk '$3 == "RUNNING" { print $1 }')")
ctr -n k8s.io tasks exec --exec-id "look-$$" "$id" etcdctl --cacert=/etc/kubernetes/pki/etcd/ca.crt \
    --cert=/etc/kubernetes/pki/etcd/healthcheck-client.crt --key=/etc/kubernetes/pki/etcd/healthcheck-client.key \
    member list | awk -F ', ' '{ print "member", $3, $2 }')sh";
        Node* host = control();
        if (!host) return {.api_answers = false};
        const Ran ran = host->run({"sh", "-c", script}, Seconds{30});
        if (ran.code != 0) return {.api_answers = false};
        Sight sight;
        std::istringstream lines{ran.out};
        for (std::string kind, name, state; lines >> kind >> name >> state;)
            (kind == "node" ? sight.ready : sight.members)[name] = state == "True" || state == "started";
        return sight;
    }
};

class EchoWalk : public Walk {
public:
    using Walk::Walk;

private:
    Sight look() override { return {}; }
};

// An image and a veth of other users of the host. containerd adds a name by digest to each image a moment
// later.
constexpr const char* others = R"sh(set -e
ctr -n k8s.io images import "$0" >/dev/null
ctr -n k8s.io images tag "$(ctr -n k8s.io images ls -q | head -n 1)" example.com/kept:1 >/dev/null
for _ in $(seq 10); do
    ctr -n k8s.io images ls -q | grep -vxF example.com/kept:1 | xargs -r ctr -n k8s.io images rm --sync >/dev/null
    sleep 0.5
done
ip link add veth-kept type veth peer name veth-other)sh";
constexpr const char* others_go = R"sh(ip link del veth-kept
ctr -n k8s.io images rm --sync $(ctr -n k8s.io images ls -q) >/dev/null)sh";

// All tests have the same nodes, and leave them clean.
class ClusterDriver : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        if (!missing(Needs::nodes).empty()) return;
        auto started =
            Nodes::start({"one", "two", "three", "four", "five"}, Seconds{180}, NodeImages::archive);
        ASSERT_TRUE(started) << started.error().message;
        nodes_ = std::move(*started);
    }
    static void TearDownTestSuite() {
        if (!nodes_) return;
        const std::string name = nodes_->folder().name();
        nodes_ = nullptr;
        EXPECT_THAT(left_of(name), IsEmpty());
    }
    void SetUp() override {
        HOSTLER_NEEDS_KUBERNETES(Needs::nodes);
        ASSERT_TRUE(nodes_);
        driver_ = driver_in("/drivers/kubeadm");
    }
    void TearDown() override {
        if (HasFailure() && nodes_) show_logs();
    }
    void show_logs() {
        for (std::size_t i = 0; i < nodes_->size(); ++i)
            for (const char* log : {"kubelet", "network", "containerd"}) {
                const std::string text = read_file(fmt::format("{}/{}.log", (*nodes_)[i].folder(), log));
                fmt::print("── {} of {} ──\n{}\n", log, (*nodes_)[i].name(),
                           text.substr(text.size() > 3000 ? text.size() - 3000 : 0));
            }
    }
    static Driver driver_in(const std::string& folder) {
        const auto driver = read_driver(std::string{HOSTLER_SOURCE} + folder);
        EXPECT_TRUE(driver) << driver.error().message;
        return driver.value_or(Driver{});
    }
    StepValues values() const {
        return {{"imagePullPolicy", "Never"},
                {"imageArchive", nodes_->archive()},
                {"ignoreChecks", "SystemVerification"},
                {"failSwapOn", "false"},
                {"failCgroupV1", "false"},
                {"kubeletOomScore", "0"},
                {"diskFreeMib", "100"},
                {"diskKeptFree", "1%"}};
    }
    void go(KubeadmWalk& walk, Seconds within = Seconds{900}) {
        const std::string problem = walk.go(within);
        fmt::print("{}", std::exchange(walk.log, ""));
        ASSERT_EQ(problem, "");
    }
    static void succeeds(const Ran& ran) { ASSERT_EQ(ran.code, 0) << ran.out << ran.err; }
    void is_clean(Node& node) { EXPECT_THAT(left_on(node, driver_.leftovers), IsEmpty()) << node.name(); }

    static std::unique_ptr<Nodes> nodes_;
    Driver driver_;
};
std::unique_ptr<Nodes> ClusterDriver::nodes_;

TEST_F(ClusterDriver, SavesAndRestoresACluster) {
    KubeadmWalk walk{*nodes_, driver_, values()};
    walk.view.pools = {};
    ASSERT_NO_FATAL_FAILURE(go(walk));
    ASSERT_EQ(walk.view.phase, ClusterPhase::ready);
    Node& first = *walk.control();
    ASSERT_NO_FATAL_FAILURE(
        succeeds(walk.kubectl({"create", "configmap", "kept", "--from-literal=word=hello"})));
    ASSERT_NO_FATAL_FAILURE(succeeds(walk.kubectl({"apply", "-f", "-"}, R"(apiVersion: v1
kind: Namespace
metadata: {name: kept}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: open, namespace: kept}
spec: {podSelector: {}, ingress: [{}]}
)")));
    const Words policies{"get", "networkpolicies", "-n", "kept", "-o", "jsonpath={.items[*].metadata.name}"};
    EXPECT_TRUE(eventually(Seconds{60}, [&] {
        return walk.kubectl(policies).out == "hostler-namespace open";
    })) << walk.kubectl(policies).out;
    const std::string save = nodes_->folder().in("save.tar");
    walk.save_file = save;
    EXPECT_EQ(walk.step(*step_named(driver_, "save"), first), "");
    walk.view.phase = ClusterPhase::deleting;
    ASSERT_NO_FATAL_FAILURE(go(walk));
    EXPECT_EQ(walk.view.phase, ClusterPhase::deleted);
    is_clean(first);

    KubeadmWalk again{*nodes_, driver_, values()};
    again.save_file = save;
    again.view.pools = {};
    ASSERT_NO_FATAL_FAILURE(go(again));
    EXPECT_EQ(again.kubectl({"get", "configmap", "kept", "-o", "jsonpath={.data.word}"}).out, "hello");
    EXPECT_EQ(again.kubectl({"get", "nodes", "-o", "name"}).out, "node/" + again.control()->name() + "\n");
    EXPECT_EQ(again.kubectl(policies).out, "hostler-namespace open");
    for (const char* addon : {"deployment/coredns", "deployment/metrics-server", "daemonset/kube-router"})
        ASSERT_NO_FATAL_FAILURE(succeeds(again.kubectl(
            {"rollout", "status", "-n", "kube-system", addon, "--timeout=180s"}, {}, Seconds{200})));
    again.view.phase = ClusterPhase::deleting;
    ASSERT_NO_FATAL_FAILURE(go(again));
    is_clean(first);
}

TEST_F(ClusterDriver, CleansWhatIsPlantedAndTwice) {
    Node& node = (*nodes_)[0];
    const DriverStep& clean = *step_named(driver_, "clean");
    StepValues all = driver_.values;
    all["agent.folder"] = "/var/lib/hostler/kn-1";
    ASSERT_NO_FATAL_FAILURE(succeeds(node.run({"sh", "-c", others, nodes_->archive()}, Seconds{120})));
    ASSERT_TRUE(perform(node, *step_named(driver_, "settings"), all, false));
    ASSERT_NO_FATAL_FAILURE(succeeds(plant_leftovers(node, nodes_->archive())));
    std::set<std::string> kinds;
    for (const std::string& one : left_on(node, driver_.leftovers))
        kinds.insert(one.substr(0, one.find(' ')));
    EXPECT_THAT(kinds, ::testing::ElementsAre("cgroup", "file", "image", "interface", "mount", "process",
                                              "set", "table"));
    for (int i = 0; i < 2; ++i) {
        const auto cleaned = perform(node, clean, all, false);
        EXPECT_TRUE(cleaned) << cleaned.error().message;
        EXPECT_THAT(left_on(node, driver_.leftovers),
                    ::testing::UnorderedElementsAre("interface veth-kept", "interface veth-other",
                                                    "image example.com/kept:1"));
    }
    ASSERT_NO_FATAL_FAILURE(succeeds(node.run({"sh", "-c", others_go}, Seconds{60})));
    is_clean(node);
}

TEST_F(ClusterDriver, AHostOfAnotherKubernetesIsRefusedAndLeftAlone) {
    Node& node = (*nodes_)[1];
    StepValues all = values();
    all.insert(driver_.values.begin(), driver_.values.end());
    all.insert({{"agent.folder", "/var/lib/hostler/kn-2"}, {"version", driver_.versions.front()}});
    const auto at_first = left_on(node, driver_.leftovers);
    ASSERT_NO_FATAL_FAILURE(succeeds(node.run(
        {"sh", "-c",
         "mkdir -p /etc/kubernetes /var/lib/kubelet; ip link add veth-theirs type veth peer name veth-peer; "
         ": >/etc/kubernetes/kubelet.conf; : >/var/lib/kubelet/config.yaml"})));
    const auto before = left_on(node, driver_.leftovers);
    const auto checked = perform(node, *step_named(driver_, "check-host"), all, false);
    ASSERT_FALSE(checked);
    for (const char* path : {"/etc/kubernetes/kubelet.conf", "/var/lib/kubelet/config.yaml"})
        EXPECT_THAT(checked.error().message, HasSubstr(fmt::format("{} is of another Kubernetes", path)));
    ASSERT_TRUE(perform(node, *step_named(driver_, "clean"), all, false));
    EXPECT_EQ(left_on(node, driver_.leftovers), before);
    ASSERT_NO_FATAL_FAILURE(
        succeeds(node.run({"sh", "-c", "rm -rf /etc/kubernetes /var/lib/kubelet; ip link del veth-theirs"})));
    EXPECT_EQ(left_on(node, driver_.leftovers), at_first);
}

TEST_F(ClusterDriver, NamesWhatKeepsAHostFromBeingANode) {
    Node& node = (*nodes_)[0];
    StepValues all = values();
    all.insert(driver_.values.begin(), driver_.values.end());
    all.insert({{"agent.folder", "/var/lib/hostler/kn-1"}, {"version", "v1.0.0"}});
    all["imageArchive"] = "/nowhere.tar";
    all["podSubnet"] = "ten";
    all["podSecurity"] = "none";
    all["metrics"] = "yes";
    all["networkPolicies"] = "all";
    ASSERT_NO_FATAL_FAILURE(succeeds(
        node.run({"sh", "-c", "cp /etc/resolv.conf /root/; echo nameserver 127.0.0.53 >/etc/resolv.conf"})));
    all["diskFreeMib"] = "99999999";
    all["diskKeptFree"] = "99%";
    const auto checked = perform(node, *step_named(driver_, "check-host"), all, false);
    ASSERT_NO_FATAL_FAILURE(succeeds(node.run({"cp", "/root/resolv.conf", "/etc/resolv.conf"})));
    ASSERT_FALSE(checked);
    for (const char* line :
         {"kubeadm is v1.36.3, not v1.0.0\n", "/nowhere.tar is not there\n", "'ten' is no range",
          "podSecurity 'none' is none of privileged, baseline, restricted\n",
          "metrics 'yes' is neither true nor false\n",
          "networkPolicies 'all' is none of namespaces, enforced, none\n",
          "pods do not reach the nameserver of /etc/resolv.conf, which is the host itself\n",
          "MiB free, less than 99999999\n", "% free, and the kubelet ends pods below 99% (diskKeptFree)"})
        EXPECT_THAT(checked.error().message, HasSubstr(line));
    const auto ports = [&] { return perform(node, *step_named(driver_, "check-worker-ports"), all, false); };
    EXPECT_TRUE(ports());
    ASSERT_NO_FATAL_FAILURE(succeeds(node.run({"ln", "-sf", part("workload"), "/root/hello"})));
    auto taken = node.start({"/root/hello", ":10250"}, "taken");
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_TRUE(eventually(Seconds{30}, [&] {
        const auto checked = ports();
        return !checked && checked.error().message.contains("port 10250/tcp is in use");
    }));
    taken->kill();
}

TEST_F(ClusterDriver, NamesTheImagesOfItsVersion) {
    std::set<std::string> named, needed;
    for (const std::string& image : driver_.images)
        named.insert(*filled(image, {{"version", driver_.versions.front()}}));
    std::istringstream lines{
        run({part("kubeadm"), "config", "images", "list", "--kubernetes-version", driver_.versions.front()})
            .out};
    for (std::string image; lines >> image;) needed.insert(image);
    for (const DriverStep& step : driver_.steps)  // Of the addons.
        for (const StepFile& file : step.files) {
            std::istringstream texts{file.text};
            for (std::string word, image; texts >> word;)
                if (word == "image:" && texts >> image) needed.insert(image);
        }
    EXPECT_EQ(named, needed);
}

TEST_F(ClusterDriver, AnotherOneGoesThroughTheSamePlan) {
    EchoWalk walk{*nodes_, driver_in("/tests/kubernetes/drivers/echo"), {}};
    walk.view.pools = {{"gpu", 2}};
    ASSERT_EQ(walk.go(Seconds{60}), "") << walk.log;
    EXPECT_EQ(walk.view.phase, ClusterPhase::ready);
    EXPECT_EQ(walk.outputs, (StepValues{{"cluster", "kc-test"}}));
    walk.view.pools = {{"gpu", 1}};
    ASSERT_EQ(walk.go(Seconds{60}), "") << walk.log;
    EXPECT_EQ(walk.view.nodes.size(), 2u);
    walk.view.phase = ClusterPhase::deleting;
    ASSERT_EQ(walk.go(Seconds{60}), "") << walk.log;
    EXPECT_EQ(walk.view.phase, ClusterPhase::deleted);
    EXPECT_THAT(walk.view.nodes, IsEmpty());
}

}  // namespace
}  // namespace hostler::kube
