// A cluster as a tenant orders it: master and agents as they are shipped, the shipped driver, real nodes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <thread>

#include "cloud_on_nodes.h"
#include "images.h"
#include "through_gateway.h"
#include "walk.h"

namespace hostler::kube {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Its pods serve on for 15 s after they are told to end: on a loaded machine kube-proxy is seconds late.
std::string hello_objects() {
    return fmt::format(R"(apiVersion: apps/v1
kind: Deployment
metadata: {{name: hello}}
spec:
  replicas: 2
  strategy: {{rollingUpdate: {{maxUnavailable: 0}}}}
  selector: {{matchLabels: {{app: hello}}}}
  template:
    metadata: {{labels: {{app: hello}}}}
    spec:
      terminationGracePeriodSeconds: 25
      affinity: {{podAntiAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: [{{weight: 100, podAffinityTerm:
        {{topologyKey: kubernetes.io/hostname, labelSelector: {{matchLabels: {{app: hello}}}}}}}}]}}}}
      containers:
      - name: hello
        image: {}
        imagePullPolicy: Never
        readinessProbe: {{httpGet: {{path: /, port: 8080}}, periodSeconds: 1, timeoutSeconds: 10}}
        lifecycle: {{preStop: {{sleep: {{seconds: 15}}}}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: hello}}
spec: {{minAvailable: 1, selector: {{matchLabels: {{app: hello}}}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: hello}}
spec: {{clusterIP: 10.96.0.80, selector: {{app: hello}}, ports: [{{port: 80, targetPort: 8080}}]}}
)",
                       hello_image);
}

class OrderedCluster : public OnNodes {
protected:
    OrderedCluster()
        : OnNodes({"one", "two", "three", "four", "five"}, {"one", "two", "three", "four", "five"}) {}
    void TearDown() override {
        client_.kill();
        watch_.kill();
        OnNodes::TearDown();
    }
    // Each call starts the command line as a process: without a pause that uses a whole CPU.
    json::value look() {
        std::this_thread::sleep_for(std::chrono::seconds{1});
        return cluster();
    }
    json::value cluster() { return cloud_->told({"cluster", "get", "train", "--tenant-id", "acme"}); }
    json::array nodes_of(const json::value& cluster) {
        const json::value* nodes = cluster.is_object() ? cluster.get_object().if_contains("nodes") : nullptr;
        return nodes && nodes->is_array() ? nodes->get_array() : json::array{};
    }
    // It is ready with so many nodes, each of which is.
    void comes_to(std::size_t nodes, Seconds within = Seconds{900}) {
        const bool there = eventually(within, [&] {
            const json::value now = look();
            const json::array all = nodes_of(now);
            note(all);
            return text_at(now, "state") == "ready" && all.size() == nodes &&
                   std::ranges::all_of(
                       all, [](const json::value& one) { return text_at(one, "state") == "ready"; });
        });
        ASSERT_TRUE(there) << json::serialize(cluster()) << "\n"
                           << cloud_->cli({"cluster", "explain", "train", "--tenant-id", "acme"}).out;
    }
    // Steps and states as they change, for people.
    void note(const json::array& nodes) {
        for (const json::value& one : nodes) {
            std::string now =
                fmt::format("{} {} {}", text_at(one, "state"), text_at(one, "step"), text_at(one, "message"));
            std::string& before = seen_[text_at(one, "name")];
            if (before == now) continue;
            const auto elapsed =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
            fmt::print("{:7.1f} {}: {}\n", elapsed, text_at(one, "name"), now);
            before = std::move(now);
            hit(text_at(one, "name"), text_at(one, "step"));
        }
    }
    // Something dies by SIGKILL where a node is first seen in a step.
    void hit(const std::string& node, const std::string& step) {
        const auto blow = blows_.extract(step);
        Node* machine = blow ? machine_of(node) : nullptr;
        if (!machine) return;
        // kubeadm begins again where it had already started the kubelet.
        if (step == "kubeadm-join")
            eventually(Seconds{30}, [&] { return machine->run({"pgrep", "-x", "kubelet"}).code == 0; });
        fmt::print("        the {} dies during {}\n", blow.mapped(), step);
        if (blow.mapped() == "master") cloud_->kill_master();
        if (blow.mapped() == "agent") cloud_->kill_agent(*machine);
        if (blow.mapped() == "kubelet") machine->run({"pkill", "-KILL", "-x", "kubelet"});
    }
    // The machine of a node.
    Node* machine_of(const std::string& node) {
        for (const json::value& one : nodes_of(cluster())) {
            if (text_at(one, "name") != node) continue;
            const json::value host = cloud_->told({"host", "get", text_at(one, "host")});
            for (std::size_t i = 0; i < nodes_->size(); ++i)
                if ((*nodes_)[i].name() == text_at(host, "name")) return &(*nodes_)[i];
        }
        return nullptr;
    }
    void begin_to_ask(Node& node) {
        auto asks = node.start(
            {"sh", "-c",
             "while :; do curl -sS -m 20 http://10.96.0.80/ 2>&1 || date -u +'%T failed'; sleep 0.1; done"},
            "client");
        ASSERT_TRUE(asks) << asks.error().message;
        client_ = std::move(*asks);
        ASSERT_TRUE(eventually(Seconds{60}, [&] { return read_file(client_.log()).contains("hello-"); }));
    }
    // After the first good one at most one of a hundred fails.
    void count_answers() {
        client_.kill();
        std::istringstream lines{read_file(client_.log())};
        int good = 0, late = 0, refused = 0;
        std::string failures;
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("hello-")) {
                ++good;
                continue;
            }
            if (good == 0) continue;
            failures += "  " + line + "\n";
            if (line.starts_with("curl:")) ++(line.contains("(28)") ? late : refused);
        }
        fmt::print("{} answers, {} late, {} refused\n", good, late, refused);
        EXPECT_GT(good, 50);
        EXPECT_LE((late + refused) * 100, good) << failures;
        if (late + refused > 0) fmt::print("{}", failures);
    }
    void roll_out(Node& at) {
        succeeds(kubectl(at, {"rollout", "status", "deployment/hello", "--timeout=300s"}, {}, Seconds{310}));
    }
    // Pods move to workers that came later. Those leave first.
    void spread(Node& at, const std::string& newest) {
        ASSERT_NO_FATAL_FAILURE(succeeds(kubectl(at, {"rollout", "restart", "deployment/hello"})));
        ASSERT_NO_FATAL_FAILURE(roll_out(at));
        const Ran there = kubectl(at, {"get", "pods", "-l", "app=hello", "-o", "name", "--field-selector",
                                       "spec.nodeName=" + newest});
        ASSERT_THAT(there.out, HasSubstr("pod/hello-")) << "the drain has nothing to move";
    }

    // A key of a service account with these permissions in the cluster's project.
    std::string key_of(const std::string& account, const Words& permissions) {
        Words role{"role", "create", account, "--tenant-id", "acme"};
        for (const std::string& one : permissions) role.insert(role.end(), {"--permission", one});
        for (const Words& words : {role, Words{"account", "create", account, "--tenant-id", "acme"},
                                   Words{"grant", "create", "account/" + account, "--role", account,
                                         "--tenant-id", "acme", "--project", "default"}}) {
            const Ran ran = cloud_->cli(words);
            EXPECT_EQ(ran.code, 0) << ran.err;
        }
        const std::string key = text_at(
            cloud_->told({"account", "create-key", account, "test", "--tenant-id", "acme"}), "secret");
        EXPECT_NE(key, "") << account;
        return key;
    }
    void is_refused(const Ran& ran, const std::string& why) {
        EXPECT_NE(ran.code, 0) << ran.out;
        EXPECT_THAT(ran.err, HasSubstr(why)) << ran.out;
    }
    void helm_installs(ThroughGateway& by) {
        const std::string chart = cloud_->in("chart");
        std::filesystem::create_directories(chart + "/templates");
        write_file(chart + "/Chart.yaml", "{apiVersion: v2, name: words, version: 1.0.0}\n");
        write_file(
            chart + "/templates/words.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: words}, data: {word: {{ .Values.word }}}}\n");
        ASSERT_NO_FATAL_FAILURE(succeeds(by.helm({"install", "words", chart, "--set", "word=first"})));
        ASSERT_NO_FATAL_FAILURE(succeeds(by.helm({"upgrade", "words", chart, "--set", "word=second"})));
        EXPECT_EQ(by.kubectl({"get", "configmap", "words", "-o", "jsonpath={.data.word}"}).out, "second");
        ASSERT_NO_FATAL_FAILURE(succeeds(by.helm({"uninstall", "words"})));
    }
    // kubectl and Helm as people have them: get, logs, exec, port-forward, a watch that goes on.
    void use_through_gateway() {
        ThroughGateway owner{*cloud_, cloud_->in("owner")};
        ASSERT_NO_FATAL_FAILURE(succeeds(owner.make_kubeconfig("train")));
        const Ran nodes = owner.kubectl({"get", "nodes", "-o", "name"});
        ASSERT_EQ(nodes.code, 0) << nodes.err << cloud_->logs();
        EXPECT_EQ(nodes.out, "node/train-c1\nnode/train-w2\n");
        EXPECT_THAT(owner.kubectl({"auth", "whoami"}).out, HasSubstr("hostler:admins"));
        const Ran logs = owner.kubectl({"logs", "deployment/hello"});
        EXPECT_THAT(logs.out, HasSubstr("listens on")) << logs.code << " " << logs.err;
        const Ran in_pod = owner.kubectl({"exec", "deployment/hello", "--", "/usr/local/bin/hello"});
        EXPECT_THAT(in_pod.err, HasSubstr("call it as `pause`"));
        EXPECT_THAT(in_pod.err, HasSubstr("exit code 1"));
        const Words ask{"exec", "deployment/hello", "--", "/usr/local/bin/ask", "http://hello.default/"};
        EXPECT_TRUE(eventually(Seconds{120}, [&] { return owner.kubectl(ask).out.starts_with("hello-"); }))
            << owner.kubectl(ask).err;
        is_refused(owner.kubectl({"get", "pods", "--as", "system:admin", "--as-group", "system:masters"}),
                   "impersonation is not passed on");

        auto forward = owner.start({"port-forward", "service/hello", ":80"}, cloud_->in("forward.log"));
        ASSERT_TRUE(forward) << forward.error().message;
        std::string port;
        ASSERT_TRUE(eventually(Seconds{60}, [&] {
            const std::string said = read_file(forward->log());
            const auto at = said.find("127.0.0.1:");
            port = at == said.npos ? "" : said.substr(at + 10, said.find(' ', at) - at - 10);
            return !port.empty();
        })) << forward->tail();
        EXPECT_THAT(run({"curl", "-sS", "-m", "30", "http://127.0.0.1:" + port + "/"}).out,
                    HasSubstr("hello-"));
        ASSERT_NO_FATAL_FAILURE(helm_installs(owner));
        auto watch = owner.start({"get", "pods", "--watch", "-o", "name"}, cloud_->in("watch.log"));
        ASSERT_TRUE(watch) << watch.error().message;
        watch_ = std::move(*watch);
        EXPECT_TRUE(eventually(Seconds{60}, [&] { return read_file(watch_.log()).contains("pod/hello-"); }));
    }
    // Values are there once each kubelet was asked twice.
    void sees_what_is_used(ThroughGateway& viewer) {
        for (const auto& [what, name] : {std::pair{"nodes", "train-w2"}, {"pods", "hello-"}}) {
            Ran top;
            EXPECT_TRUE(eventually(Seconds{120},
                                   [&] {
                                       top = viewer.kubectl({"top", what, "--no-headers"});
                                       return top.out.contains(name) && !top.out.contains("<unknown>");
                                   }))
                << top.out << top.err;
            EXPECT_THAT(top.out, ::testing::ContainsRegex(fmt::format("{}[^ ]* +[0-9]+m .*[0-9]Mi", name)));
        }
    }
    // What each role may, in which namespace; and that who is disabled is out, what is open included.
    void others_may_less() {
        ThroughGateway viewer{*cloud_, cloud_->in("viewer"), key_of("looks", {"cluster.read"})};
        ThroughGateway editor{*cloud_, cloud_->in("editor"),
                              key_of("works", {"cluster.read", "instance.enter"})};
        ThroughGateway stranger{*cloud_, cloud_->in("stranger"), key_of("idles", {"instance.read"})};
        ASSERT_NO_FATAL_FAILURE(succeeds(viewer.make_kubeconfig("train")));
        ASSERT_NO_FATAL_FAILURE(succeeds(editor.make_kubeconfig("train")));
        EXPECT_NE(stranger.make_kubeconfig("train").code, 0);
        struct Case {
            const char *verb, *what, *ns;
            bool viewer, editor;
        };
        for (const Case& one : {Case{"get", "pods", "default", true, true},
                                {"get", "pods", "kube-system", true, true},
                                {"get", "secrets", "default", false, true},
                                {"create", "deployments", "default", false, true},
                                {"create", "pods/exec", "default", false, true},
                                {"create", "pods/exec", "kube-system", false, false},
                                {"create", "pods", "other", false, false},
                                {"delete", "nodes", "default", false, false},
                                {"create", "clusterrolebindings", "default", false, false},
                                {"impersonate", "users", "default", false, false}}) {
            const auto may = [&](ThroughGateway& who) {
                const Ran ran = who.kubectl({"auth", "can-i", one.verb, one.what, "-n", one.ns});
                EXPECT_THAT(ran.out, ::testing::AnyOf(HasSubstr("yes"), HasSubstr("no"))) << ran.err;
                return ran.out.contains("yes");
            };
            EXPECT_EQ(may(viewer), one.viewer) << one.verb << " " << one.what << " in " << one.ns;
            EXPECT_EQ(may(editor), one.editor) << one.verb << " " << one.what << " in " << one.ns;
        }
        ThroughGateway owner{*cloud_, cloud_->in("owner")};
        ASSERT_NO_FATAL_FAILURE(succeeds(owner.kubectl({"create", "namespace", "other"})));
        ASSERT_TRUE(eventually(Seconds{60}, [&] {  // Without it a pod is refused for another reason.
            return owner.kubectl({"get", "serviceaccount", "default", "-n", "other"}).code == 0;
        }));
        for (const auto& [who, ns] : {std::pair{&editor, "default"}, {&owner, "default"}, {&owner, "other"}})
            is_refused(who->kubectl({"run", "root", "-n", ns, "--image", hello_image, "--privileged"}),
                       "violates PodSecurity");
        sees_what_is_used(viewer);
        auto watch = viewer.start({"get", "pods", "--watch"}, cloud_->in("viewer.log"));
        ASSERT_TRUE(watch) << watch.error().message;
        ASSERT_TRUE(eventually(Seconds{60}, [&] { return read_file(watch->log()).contains("hello-"); }));
        ASSERT_NO_FATAL_FAILURE(
            succeeds(cloud_->cli({"account", "disable", "looks", "--tenant-id", "acme", "--yes"})));
        EXPECT_TRUE(eventually(Seconds{15}, [&] { return !watch->runs(); }))
            << "the watch of a disabled account goes on";
        EXPECT_NE(viewer.kubectl({"get", "pods"}).code, 0);
        for (const char* zone : {"nj", "lon"}) {
            cloud_->kill_access(zone);
            EXPECT_TRUE(eventually(Seconds{60}, [&] { return editor.kubectl({"get", "pods"}).code == 0; }))
                << "without the access point of " << zone << ": " << editor.kubectl({"get", "pods"}).err;
        }
    }

    // Pods of another namespace reach none of this one, until an admin opens it.
    void namespaces_are_closed() {
        ThroughGateway owner{*cloud_, cloud_->in("owner")};
        ASSERT_NO_FATAL_FAILURE(succeeds(owner.kubectl(
            {"run", "asks", "-n", "other", "--image", hello_image, "--image-pull-policy", "Never"})));
        ASSERT_NO_FATAL_FAILURE(succeeds(
            owner.kubectl({"wait", "--for=condition=Ready", "pod/asks", "-n", "other", "--timeout=120s"})));
        const auto asks = [&] {
            return owner.kubectl(
                {"exec", "asks", "-n", "other", "--", "/usr/local/bin/ask", "http://hello.default/"});
        };
        EXPECT_TRUE(eventually(Seconds{60}, [&] { return asks().err.contains("connection refused"); }))
            << asks().out;
        EXPECT_EQ(asks().out, "");
        ASSERT_NO_FATAL_FAILURE(succeeds(owner.kubectl({"apply", "-f", in_file("open.yaml", R"(
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: open}
spec:
  podSelector: {matchLabels: {app: hello}}
  ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other}}}]}]
)")})));
        EXPECT_TRUE(eventually(Seconds{60}, [&] { return asks().out.starts_with("hello-"); })) << asks().err;
    }
    std::string in_file(const std::string& name, const std::string& text) {
        write_file(cloud_->in(name), text);
        return cloud_->in(name);
    }

    Child watch_, client_;
    std::map<std::string, std::string> seen_;
    std::map<std::string, std::string> blows_{{"images", "agent"},       {"kubeadm-init", "master"},
                                              {"kubeadm-join", "agent"}, {"kubeadm-join-control", "kubelet"},
                                              {"wait-ready", "kubelet"}, {"drain", "agent"},
                                              {"clean", "agent"}};
    const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

TEST_F(OrderedCluster, GrowsAndShrinksUnderAWorkloadAndLeavesItsHostsClean) {
    ASSERT_NO_FATAL_FAILURE(succeeds(cloud_->create_cluster("train", {"--control", "1", "--pool", "cpu=1"})));
    ASSERT_NO_FATAL_FAILURE(comes_to(2));
    Node* first = machine_of("train-c1");
    ASSERT_TRUE(first);
    ASSERT_NO_FATAL_FAILURE(succeeds(kubectl(*first, {"apply", "-f", "-"}, hello_objects())));
    ASSERT_NO_FATAL_FAILURE(roll_out(*first));
    ASSERT_NO_FATAL_FAILURE(begin_to_ask(*first));
    ASSERT_NO_FATAL_FAILURE(use_through_gateway());
    ASSERT_NO_FATAL_FAILURE(others_may_less());
    ASSERT_NO_FATAL_FAILURE(namespaces_are_closed());

    succeeds(cloud_->cli({"cluster", "scale", "train", "--tenant-id", "acme", "--control", "3", "--pool",
                          "cpu", "--count", "2"}));
    ASSERT_TRUE(eventually(Seconds{120}, [&] { return nodes_of(look()).size() == 5; }));
    cloud_->kill_master();
    for (std::size_t i = 0; i < nodes_->size(); ++i) cloud_->kill_agent((*nodes_)[i]);
    ASSERT_NO_FATAL_FAILURE(comes_to(5));
    ASSERT_NO_FATAL_FAILURE(spread(*first, "train-w5"));
    succeeds(cloud_->cli({"cluster", "scale", "train", "--tenant-id", "acme", "--control", "1", "--pool",
                          "cpu", "--count", "1"}));
    ASSERT_NO_FATAL_FAILURE(comes_to(2));
    count_answers();
    EXPECT_LE(blows_.size(), 2U) << "steps were too short to be seen";

    succeeds(cloud_->cli({"cluster", "delete", "train", "--tenant-id", "acme", "--yes"}));
    ASSERT_TRUE(eventually(Seconds{600}, [&] {
        const json::value now = look();
        note(nodes_of(now));
        return now.is_null() || text_at(now, "state") == "deleted";
    })) << json::serialize(cluster());
    for (std::size_t i = 0; i < nodes_->size(); ++i) {
        EXPECT_THAT(left_on((*nodes_)[i], driver_.leftovers), IsEmpty()) << (*nodes_)[i].name();
        EXPECT_EQ(cloud_->run_plain_instance((*nodes_)[i]), "") << (*nodes_)[i].name();
    }
}

}  // namespace
}  // namespace hostler::kube
