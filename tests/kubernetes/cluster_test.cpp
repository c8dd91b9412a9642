// A cluster of two nodes, by the commands of kubeadm's own documentation.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <set>
#include <thread>

#include "images.h"
#include "kubeadm.h"
#include "nodes.h"
#include "parts.h"

namespace hostler::kube {
namespace {

using ::testing::HasSubstr;

std::string hello_objects() {
    return fmt::format(R"(apiVersion: apps/v1
kind: Deployment
metadata: {{name: hello}}
spec:
  replicas: 4
  selector: {{matchLabels: {{app: hello}}}}
  template:
    metadata: {{labels: {{app: hello}}}}
    spec:
      terminationGracePeriodSeconds: 5
      topologySpreadConstraints:
      - {{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {{matchLabels: {{app: hello}}}}}}
      containers:
      - name: hello
        image: {}
        imagePullPolicy: Never
        readinessProbe: {{httpGet: {{path: /, port: 8080}}, periodSeconds: 1}}
---
apiVersion: v1
kind: Service
metadata: {{name: hello}}
spec: {{selector: {{app: hello}}, ports: [{{port: 80, targetPort: 8080}}]}}
)",
                       hello_image);
}

// What the kubelet sets for the whole machine.
std::string machine_settings() {
    std::string all;
    for (const char* name :
         {"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
          "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes", "net/ipv4/ip_forward"})
        all += fmt::format("{}={}", name, read_file(fmt::format("/proc/sys/{}", name)));
    return all;
}

class OnNodes : public ::testing::Test {
protected:
    void SetUp() override {
        HOSTLER_NEEDS_KUBERNETES(Needs::nodes);
        settings_ = machine_settings();
        auto started = Nodes::start({"first", "second"});
        ASSERT_TRUE(started) << started.error().message;
        nodes_ = std::move(*started);
    }
    void TearDown() override {
        if (!nodes_) return;
        const std::string name = nodes_->folder().name();
        if (HasFailure()) show_logs();
        nodes_ = nullptr;
        EXPECT_THAT(left_of(name), ::testing::IsEmpty());
        EXPECT_EQ(machine_settings(), settings_);
    }
    Node& first() { return (*nodes_)[0]; }
    Node& second() { return (*nodes_)[1]; }

    void show_logs() {
        for (std::size_t i = 0; i < nodes_->size(); ++i)
            for (const char* log : {"kubelet", "containerd"}) {
                const std::string text = read_file(fmt::format("{}/{}.log", (*nodes_)[i].folder(), log));
                fmt::print("── {} of {} ──\n{}\n", log, (*nodes_)[i].name(),
                           text.substr(text.size() > 6000 ? text.size() - 6000 : 0));
            }
    }
    Kubeadm kubeadm() { return Kubeadm{*nodes_}; }
    Ran kubectl(Words words, const std::string& input = {}, Seconds within = Seconds{120}) {
        return kubeadm().kubectl(std::move(words), input, within);
    }
    static void succeeds(const Ran& ran) { ASSERT_EQ(ran.code, 0) << ran.out << ran.err; }

    void make_cluster() {
        const auto laid = nodes_->lay_pod_network("10.244");
        ASSERT_TRUE(laid) << laid.error().message;
        ASSERT_EQ(kubeadm().init(), "");
        ASSERT_EQ(kubeadm().join(second()), "");
    }
    std::set<std::string> nodes_of_pods() {
        std::istringstream names{
            kubectl({"get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[*].spec.nodeName}"}).out};
        return {std::istream_iterator<std::string>{names}, {}};
    }
    // The pods that answer 40 requests to the service's address; "failed" where one does not.
    std::set<std::string> answers(Node& from) {
        const std::string address =
            kubectl({"get", "service", "hello", "-o", "jsonpath={.spec.clusterIP}"}).out;
        std::istringstream names{from.run({"sh", "-c",
                                           R"(for i in $(seq 40); do
                                                  curl -s -m 5 "http://$0/" || echo failed
                                              done)",
                                           address},
                                          Seconds{250})
                                     .out};
        return {std::istream_iterator<std::string>{names}, {}};
    }
    // A node gets the rules for a service's pods some time after the pods are ready, a part at a time.
    void expect_answers(Node& from, const std::set<std::string>& pods) {
        EXPECT_TRUE(eventually(Seconds{60}, [&] { return answers(from) == pods; })) << from.name();
        EXPECT_EQ(answers(from), pods) << from.name();
    }
    std::unique_ptr<Nodes> nodes_;
    std::string settings_;
};

TEST_F(OnNodes, KubeadmMakesAndUnmakesACluster) {
    ASSERT_NO_FATAL_FAILURE(make_cluster());
    ASSERT_NO_FATAL_FAILURE(succeeds(kubectl({"apply", "-f", "-"}, hello_objects())));
    ASSERT_NO_FATAL_FAILURE(
        succeeds(kubectl({"rollout", "status", "deployment/hello", "--timeout=180s"}, {}, Seconds{200})));
    EXPECT_EQ(nodes_of_pods(), (std::set<std::string>{"first", "second"}));
    std::istringstream names{
        kubectl({"get", "pods", "-l", "app=hello", "-o", "jsonpath={.items[*].metadata.name}"}).out};
    const std::set<std::string> pods{std::istream_iterator<std::string>{names}, {}};
    for (Node* node : {&first(), &second()}) expect_answers(*node, pods);
    ASSERT_EQ(kubeadm().drain(second()), "");
    ASSERT_NO_FATAL_FAILURE(
        succeeds(kubectl({"rollout", "status", "deployment/hello", "--timeout=180s"}, {}, Seconds{200})));
    EXPECT_EQ(nodes_of_pods(), (std::set<std::string>{"first"}));
    ASSERT_EQ(kubeadm().forget(second()), "");
    for (Node* node : {&second(), &first()}) {
        ASSERT_EQ(kubeadm().reset(*node), "");
        EXPECT_FALSE(std::filesystem::exists(node->folder() + "/over/etc/kubernetes/kubelet.conf"));
    }
}

TEST_F(OnNodes, AreMachinesOfTheirOwn) {
    EXPECT_EQ(first().run({"hostname"}).out, "first\n");
    EXPECT_EQ(second().run({"cat", "/proc/self/cgroup"}).out.find("hostler"), std::string::npos);
    constexpr int refused = 7;  // Nothing listens there, and the node says so.
    EXPECT_EQ(first().run({"curl", "-s", "-m", "5", "http://" + second().address() + ":1/"}).code, refused);
    EXPECT_EQ(run({"curl", "-s", "-m", "5", "http://" + second().address() + ":1/"}).code, refused);
    EXPECT_EQ(first().run({"curl", "-s", "-m", "5", "http://" + nodes_->outside() + ":1/"}).code, refused);
    EXPECT_THAT(first().run({"ps", "-e", "-o", "comm="}).out, HasSubstr("containerd"));
    EXPECT_EQ(first().run({"kubelet", "--version"}).out, "Kubernetes v1.36.3\n");
    EXPECT_FALSE(std::filesystem::exists("/etc/kubernetes"));
    first().write("/etc/kubernetes/x", "1");
    EXPECT_EQ(second().run({"ls", "/etc/kubernetes"}).code, 2);
    EXPECT_EQ(first().run({"sh", "-c", "echo 7 >/proc/sys/kernel/panic; cat /proc/sys/kernel/panic"}).out,
              "7\n");
    EXPECT_EQ(machine_settings(), settings_);
    auto sleeper = first().start(
        {"sh", "-c", "trap 'echo ended; exit 0' TERM; echo up; while :; do sleep 0.1; done"}, "sleeper");
    ASSERT_TRUE(sleeper) << sleeper.error().message;
    ASSERT_TRUE(eventually(Seconds{30}, [&] { return sleeper->tail() == "up\n"; }));
    sleeper->stop(SIGTERM);
    EXPECT_EQ(sleeper->tail(), "up\nended\n");
}

// The other half of the next test, which runs it by its name and kills it.
TEST(KilledTest, DISABLED_HoldsANode) {
    auto nodes = Nodes::start({"held"});
    ASSERT_TRUE(nodes) << nodes.error().message;
    fmt::print("held {}\n", (*nodes)->folder().name());
    std::fflush(stdout);
    std::this_thread::sleep_for(Seconds{600});
}

TEST(KilledTest, LeavesNothingThatTheNextKeeps) {
    HOSTLER_NEEDS_KUBERNETES(Needs::nodes);
    const Folder own;
    auto killed =
        Child::start({std::filesystem::read_symlink("/proc/self/exe"),
                      "--gtest_filter=KilledTest.DISABLED_HoldsANode", "--gtest_also_run_disabled_tests"},
                     own.in("killed.log"));
    ASSERT_TRUE(killed) << killed.error().message;
    const auto name = [&] {
        const std::string text = read_file(killed->log());
        const auto at = text.find("held hostler-");
        return at == text.npos ? "" : text.substr(at + 5, text.find('\n', at) - at - 5);
    };
    ASSERT_TRUE(eventually(Seconds{180}, [&] { return !name().empty() || !killed->runs(); }))
        << killed->tail();
    ASSERT_THAT(left_of(name()), ::testing::Contains(HasSubstr("the group "))) << killed->tail();
    ASSERT_THAT(left_of(name()), ::testing::Contains(HasSubstr("the interface ")));
    ASSERT_THAT(left_of(name()), ::testing::Contains(HasSubstr("the process ")));
    const std::string held = name();
    killed->stop(SIGKILL);
    const Folder next;
    EXPECT_THAT(left_of(held), ::testing::IsEmpty());
}

}  // namespace
}  // namespace hostler::kube
