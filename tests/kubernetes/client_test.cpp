// The client of adapters/kubernetes and a real API server.
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <fstream>
#include <set>

#include "adapters/kubernetes/kubeconfig.h"
#include "adapters/kubernetes/watch.h"
#include "adapters/kubernetes/workloads.h"
#include "adapters/net/net.h"
#include "adapters/net/testing/web_certificates.h"
#include "control_plane.h"
#include "core/testing/real_timers.h"
#include "parts.h"

namespace hostler::kubernetes {
namespace {

using namespace std::chrono_literals;
using kube::ControlPlane;
using ::testing::HasSubstr;
using testing::run_real;

// All tests share one server; each has its namespace.
struct ClientOnKubernetes : ::testing::Test {
    static void SetUpTestSuite() {
        if (!kube::missing(kube::Needs::control_plane).empty()) return;
        auto started = ControlPlane::start({.controllers = false});
        if (started)
            plane = std::move(*started);
        else
            trouble = started.error().message;
    }
    static void TearDownTestSuite() { plane.reset(); }

    void SetUp() override {
        HOSTLER_NEEDS_KUBERNETES(kube::Needs::control_plane);
        ASSERT_TRUE(plane) << trouble;
        admin_access = load_kubeconfig(plane->kubeconfig()).value();
        admin = std::make_unique<Client>(*net, *timers, *worker, admin_access);
        static int count = 0;
        ns = fmt::format("space-{}", ++count);
        const auto made = run(admin->apply(Namespace{.metadata = {.name = ns}}));
        ASSERT_TRUE(made) << made.error().message;
    }

    template <class T>
    Result<T> run(Task<T> task) {
        return run_real(loop, std::move(task));
    }
    Client client(const Access& access, ConnectionSettings settings = {}) {
        return {*net, *timers, *worker, access, std::move(settings)};
    }
    // The access of a service account with this token, and nothing else.
    Access with_token(std::string token) const {
        Access access = admin_access;
        access.certificate.clear();
        access.key.clear();
        access.token = std::move(token);
        return access;
    }
    std::string token_of(const std::string& account) {
        EXPECT_TRUE(run(admin->apply(ServiceAccount{.metadata = {.name = account, .namespace_ = ns}})));
        const auto token = plane->token(ns, account);
        EXPECT_TRUE(token) << token.error().message;
        return token.value_or("");
    }
    // Lets a user or service account read the ConfigMaps of the namespace.
    void allow(const std::string& name, Subject subject) {
        Role role{.metadata = {.name = name, .namespace_ = ns}};
        role.rules = {{.api_groups = {""}, .resources = {"configmaps"}, .verbs = {"get", "list"}}};
        EXPECT_TRUE(run(admin->apply(role)));
        RoleBinding binding{.metadata = {.name = name, .namespace_ = ns}};
        binding.subjects = {std::move(subject)};
        binding.role_ref = {.name = name, .kind = "Role", .api_group = "rbac.authorization.k8s.io"};
        EXPECT_TRUE(run(admin->apply(binding)));
    }
    ConfigMap map(const std::string& name, std::string value) const {
        return {.metadata = {.name = name, .namespace_ = ns}, .data = {{"v", std::move(value)}}};
    }
    bool eventually(std::function<bool()> is_so, Duration within = 60s) {
        const Instant end = timers->now() + within;
        while (!is_so()) {
            if (timers->now() > end) return false;
            (void)run(sleep(*timers, 20ms));
        }
        return true;
    }

    static inline std::unique_ptr<ControlPlane> plane;
    static inline std::string trouble;
    Loop loop;
    std::unique_ptr<Timers> timers = net::make_timers(loop);
    std::unique_ptr<Net> net = net::make_net(loop);
    std::unique_ptr<Worker> worker = make_worker(loop, "kubernetes");
    Access admin_access;
    std::unique_ptr<Client> admin;
    std::string ns;
};

// ---- who asks

TEST_F(ClientOnKubernetes, ShowsItsClientCertificate) {
    ASSERT_FALSE(admin_access.certificate.empty());
    const auto version = run(admin->call("GET", "/version"));
    ASSERT_TRUE(version) << version.error().message;
    EXPECT_THAT(text_at(*version, {"gitVersion"}), HasSubstr("v1."));

    Access stranger = admin_access;
    net::testing::WebAuthority other;
    const auto forged = other.issue("DNS:admin");
    stranger.certificate = forged.certificate;
    stranger.key = forged.key;
    Client c = client(stranger);
    const auto refused = run(c.get(kinds::namespace_, {"", "default"}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unauthenticated) << refused.error().message;

    Access nobody = admin_access;
    nobody.certificate.clear();
    nobody.key.clear();
    Client anonymous = client(nobody);
    const auto unknown = run(anonymous.get(kinds::namespace_, {"", "default"}));
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().reason, ::testing::AnyOf("Forbidden", "Unauthorized"));
}

TEST_F(ClientOnKubernetes, RefusesAServerOfAnotherAuthorityOrName) {
    Access access = admin_access;
    access.authority = net::testing::WebAuthority{}.pem();
    Client wrong_authority = client(access);
    const auto first = run(wrong_authority.get(kinds::namespace_, {"", "default"}));
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().code, Code::unauthenticated);
    EXPECT_THAT(first.error().message, HasSubstr("signed by an authority that is not known here"));

    access = admin_access;
    access.server_name = "other.test";
    Client wrong_name = client(access);
    const auto second = run(wrong_name.get(kinds::namespace_, {"", "default"}));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::unauthenticated);
    EXPECT_EQ(second.error().reason, "wrong_name") << second.error().message;
}

TEST_F(ClientOnKubernetes, AServiceAccountShowsItsToken) {
    Client robot = client(with_token(token_of("robot")));
    const auto refused = run(robot.list(kinds::config_map, {.ns = ns}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::forbidden);
    EXPECT_EQ(refused.error().reason, "Forbidden");
    EXPECT_THAT(refused.error().message, HasSubstr(fmt::format("system:serviceaccount:{}:robot", ns)));
    allow("robot", {.name = "robot", .kind = "ServiceAccount", .namespace_ = ns});
    EXPECT_TRUE(eventually([&] { return run(robot.list(kinds::config_map, {.ns = ns})).has_value(); }));

    Client liar = client(with_token("no.such.token"));
    EXPECT_EQ(run(liar.list(kinds::config_map, {.ns = ns})).error().code, Code::unauthenticated);
}

TEST_F(ClientOnKubernetes, AnExecPluginIsAskedAgainAfterA401) {
    const std::string file = plane->folder() + "/printed";
    const auto print = [&](const std::string& token) {
        std::ofstream{file} << fmt::format(
            R"({{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{{"token":"{}"}}}})",
            token);
    };
    print("stale");
    Access access = with_token("");
    access.exec = ExecPlugin{.api_version = "client.authentication.k8s.io/v1", .arguments = {"cat", file}};
    allow("plugged", {.name = "plugged", .kind = "ServiceAccount", .namespace_ = ns});
    const auto token = token_of("plugged");
    Client c = client(access);
    EXPECT_EQ(run(c.list(kinds::config_map, {.ns = ns})).error().code, Code::unauthenticated);
    print(token);
    const auto listed = run(c.list(kinds::config_map, {.ns = ns}));
    EXPECT_TRUE(listed) << listed.error().message;
}

TEST_F(ClientOnKubernetes, ImpersonatesWhereItMay) {
    Client jane =
        client(admin_access, {.impersonate = Impersonation{"jane", {"developers"}, {{"team", {"a"}}}}});
    const auto refused = run(jane.list(kinds::config_map, {.ns = ns}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::forbidden);
    EXPECT_THAT(refused.error().message, HasSubstr("User \"jane\" cannot list"));
    allow("jane", {.name = "developers", .kind = "Group", .api_group = "rbac.authorization.k8s.io"});
    EXPECT_TRUE(eventually([&] { return run(jane.list(kinds::config_map, {.ns = ns})).has_value(); }));

    Client robot = client(with_token(token_of("robot")), {.impersonate = Impersonation{"jane", {}, {}}});
    const auto forbidden = run(robot.list(kinds::config_map, {.ns = ns}));
    ASSERT_FALSE(forbidden);
    EXPECT_EQ(forbidden.error().code, Code::forbidden);
    EXPECT_EQ(forbidden.error().reason, "Forbidden");
    EXPECT_THAT(forbidden.error().message, HasSubstr("cannot impersonate"));
}

// ---- verbs

TEST_F(ClientOnKubernetes, AppliesAndKeepsWhatItDoesNotKnow) {
    const auto manifest = parse_object(fmt::format(
        R"({{"metadata":{{"name":"d","namespace":"{}"}},"spec":{{"replicas":1,"selector":{{"matchLabels":{{"a":"b"}}}},
        "strategy":{{"type":"Recreate"}},"template":{{"metadata":{{"labels":{{"a":"b"}}}},
        "spec":{{"containers":[{{"name":"c","image":"i:1","ports":[{{"containerPort":80}}]}}]}}}}}}}})",
        ns));
    const auto made = run(admin->apply(kinds::deployment, *manifest));
    ASSERT_TRUE(made) << made.error().message;
    auto kept = run(admin->get<Deployment>({ns, "d"})).value();
    kept.value.spec.template_.spec.containers[0].image = "i:2";
    const auto changed = run(admin->apply(kinds::deployment, kept.changed()));
    ASSERT_TRUE(changed) << changed.error().message;
    const auto seen = run(admin->get<Deployment>({ns, "d"})).value();
    EXPECT_EQ(seen.value.spec.template_.spec.containers[0].image, "i:2");
    EXPECT_EQ(seen.value.metadata.generation, 2);
    EXPECT_EQ(text_at(seen.raw, {"spec", "strategy", "type"}), "Recreate");
    EXPECT_THAT(json::serialize(seen.raw), HasSubstr(R"("containerPort":80)"));
    const auto late = run(admin->apply(kinds::deployment, kept.changed()));
    ASSERT_FALSE(late) << "its resourceVersion is not the present one";
    EXPECT_EQ(late.error().code, Code::conflict);
}

TEST_F(ClientOnKubernetes, AnotherManagersFieldIsAConflict) {
    ASSERT_TRUE(run(admin->apply(map("m", "theirs"), {.field_manager = "them"})));
    const auto refused = run(admin->apply(map("m", "ours")));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_EQ(refused.error().reason, "Conflict");
    ASSERT_EQ(refused.error().fields.size(), 1U);
    EXPECT_EQ(refused.error().fields[0].path, ".data.v");
    EXPECT_THAT(refused.error().fields[0].message, HasSubstr("them"));
    const auto forced = run(admin->apply(map("m", "ours"), {.force = true}));
    ASSERT_TRUE(forced) << forced.error().message;
    EXPECT_EQ(forced->value.data.at("v"), "ours");
    EXPECT_EQ(run(admin->apply(map("Not A Name", "x"))).error().code, Code::invalid);
}

TEST_F(ClientOnKubernetes, ListsManyInPages) {
    constexpr int count = 1200;
    int made = 0, next = 0;
    TaskGroup makers{loop};
    for (int i = 0; i < 16; ++i)
        makers.start("make", [](ClientOnKubernetes& me, int& at, int& done) -> Task<> {
            while (at < count) {
                auto one = me.map(fmt::format("m-{:04}", at++), "x");
                CO_TRY(co_await me.admin->apply(std::move(one)));
                ++done;
            }
            co_return Result<>{};
        }(*this, next, made));
    ASSERT_TRUE(eventually([&] { return made == count; }, 300s)) << made;

    std::set<std::string> names;
    std::vector<std::size_t> sizes;
    std::string token;
    do {
        const auto page = run(admin->page(kinds::config_map, {.ns = ns}, token));
        ASSERT_TRUE(page) << page.error().message;
        for (const auto& one : page->objects) names.insert(key_of(one).name);
        sizes.push_back(page->objects.size());
        token = page->next;
    } while (!token.empty());
    EXPECT_EQ(sizes, (std::vector<std::size_t>{500, 500, 200}));
    EXPECT_EQ(names.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(run(admin->list<ConfigMap>({.ns = ns}))->size(), static_cast<std::size_t>(count));
    EXPECT_EQ(run(admin->list<ConfigMap>({.ns = ns, .fields = "metadata.name=m-0007"}))->size(), 1U);
    run(makers.close());
}

TEST_F(ClientOnKubernetes, RemovesOnlyTheObjectThatIsMeant) {
    const auto made = run(admin->apply(map("m", "x")));
    ASSERT_TRUE(made);
    const auto other = run(admin->remove(kinds::config_map, {ns, "m"}, {.uid = "another"}));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, Code::conflict);
    const auto removed = run(admin->remove(kinds::config_map, {ns, "m"}, {.uid = made->value.metadata.uid}));
    EXPECT_TRUE(removed) << removed.error().message;
    EXPECT_EQ(run(admin->get(kinds::config_map, {ns, "m"})).error().code, Code::not_found);
    EXPECT_EQ(run(admin->remove(kinds::config_map, {ns, "m"})).error().code, Code::not_found);
}

TEST_F(ClientOnKubernetes, ABudgetRefusesAnEviction) {
    ASSERT_TRUE(run(admin->apply(ServiceAccount{.metadata = {.name = "default", .namespace_ = ns}})));
    Pod pod{.metadata = {.name = "p", .namespace_ = ns, .labels = {{"app", "p"}}}};
    pod.spec.containers = {{.name = "c", .image = "i"}};
    pod.spec.node_name = "somewhere";
    const auto made = run(admin->apply(pod));
    ASSERT_TRUE(made) << made.error().message;
    const auto runs = run(admin->patch_status(
        kinds::pod, *parse_object(fmt::format(
                        R"({{"metadata":{{"name":"p","namespace":"{}"}},"status":{{"phase":"Running",
            "conditions":[{{"type":"Ready","status":"True"}}]}}}})",
                        ns))));
    ASSERT_TRUE(runs) << runs.error().message;
    PodDisruptionBudget budget{.metadata = {.name = "b", .namespace_ = ns}};
    budget.spec.min_available = IntOrText{"1"};
    budget.spec.selector = LabelSelector{.match_labels = {{"app", "p"}}};
    const auto bound = run(admin->apply(budget));
    ASSERT_TRUE(bound) << bound.error().message;
    EXPECT_EQ(bound->value.spec.min_available->text, "1");

    const auto refused = run(admin->evict({ns, "p"}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, disruption_budget) << refused.error().message;
    EXPECT_EQ(refused.error().code, Code::conflict);
    ASSERT_TRUE(run(admin->remove(kinds::pod_disruption_budget, {ns, "b"})));
    EXPECT_EQ(run(admin->evict({ns, "p"}, "another-uid")).error().code, Code::conflict);
    Result<> evicted;
    EXPECT_TRUE(eventually([&] {
        evicted = run(admin->evict({ns, "p"}, made->value.metadata.uid, 0));
        return evicted.has_value();
    })) << evicted.error().message;
    EXPECT_EQ(run(admin->evict({ns, "none"})).error().code, Code::not_found);
}

// ---- watch

struct Told {
    explicit Told(Connection& connection, std::string ns, bool streaming)
        : watch(connection, kinds::config_map, {.ns = std::move(ns)},
                {.read_time = 20s, .backoff_max = 1s, .stream_initial = streaming}) {}
    Task<> run() {
        while (true) {
            auto event = co_await watch.next();
            if (!event && event.error().code == Code::cancelled) co_return Result<>{};
            if (!event) {
                errors.push_back(event.error().message);
                continue;
            }
            const auto name = key_of(event->object).name;
            switch (event->change) {
                case Change::synced: ++syncs; break;
                case Change::removed: wrong += values.erase(name) == 0 ? 1 : 0; break;
                case Change::added:
                case Change::modified:
                    wrong += (event->change == Change::added) == values.contains(name) ? 1 : 0;
                    values[name] = text_at(event->object, {"data", "v"});
                    break;
            }
        }
    }
    Watch watch;
    std::map<std::string, std::string> values;
    std::vector<std::string> errors;
    int syncs = 0, wrong = 0;
};

TEST_F(ClientOnKubernetes, AWatchOutlivesTheServer) {
    for (const bool streaming : {true, false}) {
        ASSERT_TRUE(run(admin->apply(map("stays", "1"))));
        ASSERT_TRUE(run(admin->apply(map("goes", "1"))));
        Told told{admin->connection(), ns, streaming};
        TaskGroup group{loop};
        group.start("watch", told.run());
        ASSERT_TRUE(eventually([&] { return told.syncs == 1; }));
        EXPECT_EQ(told.values, (std::map<std::string, std::string>{{"goes", "1"}, {"stays", "1"}}));
        ASSERT_TRUE(run(admin->apply(map("comes", "1"))));
        EXPECT_TRUE(eventually([&] { return told.values.contains("comes"); }));

        plane->kill_api_server();
        EXPECT_TRUE(eventually([&] { return told.watch.trouble().has_value(); }));
        EXPECT_EQ(run(admin->get(kinds::config_map, {ns, "stays"})).error().code, Code::unavailable);
        ASSERT_TRUE(plane->start_api_server());
        ASSERT_TRUE(eventually([&] { return run(admin->apply(map("stays", "2"))).has_value(); }));
        ASSERT_TRUE(run(admin->remove(kinds::config_map, {ns, "goes"})));
        EXPECT_TRUE(eventually([&] {
            return told.values == std::map<std::string, std::string>{{"comes", "1"}, {"stays", "2"}};
        })) << ::testing::PrintToString(told.values);
        EXPECT_EQ(told.wrong, 0);
        EXPECT_EQ(told.errors, std::vector<std::string>{});
        EXPECT_FALSE(told.watch.trouble());
        run(group.close());
        ASSERT_TRUE(run(admin->remove(kinds::config_map, {ns, "comes"})));
    }
}

// The network of one client, which can be away from the server while others are not.
class Gate final : public Net {
public:
    explicit Gate(Net& below) : below_(below) {}
    Task<StreamPtr> dial(std::string address, Duration deadline) override {
        if (closed) co_return fail(Code::unavailable, "the gate is closed");
        co_return co_await below_.dial(std::move(address), deadline);
    }
    Task<ListenerPtr> listen(std::string address) override { return below_.listen(std::move(address)); }
    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side side, Duration deadline) override {
        return below_.secure(std::move(raw), std::move(how), side, deadline);
    }
    bool closed = false;

private:
    Net& below_;
};

TEST_F(ClientOnKubernetes, AVersionThatTheServerHasForgottenIsListedAgain) {
    Gate gate{*net};
    Client behind{gate, *timers, *worker, admin_access};
    for (const bool streaming : {true, false}) {
        for (const auto* name : {"changes", "comes-again", "goes", "stays"})
            ASSERT_TRUE(run(admin->apply(map(name, "1"))));
        Told told{behind.connection(), ns, streaming};
        TaskGroup group{loop};
        group.start("watch", told.run());
        ASSERT_TRUE(eventually([&] { return told.syncs == 1; }));
        const auto lists = told.watch.lists();
        EXPECT_EQ(lists, 1U) << "this server has streaming lists";

        gate.closed = true;
        plane->kill_api_server();
        ASSERT_TRUE(plane->start_api_server());
        ASSERT_TRUE(eventually([&] { return run(admin->apply(map("changes", "2"))).has_value(); }));
        ASSERT_TRUE(run(admin->remove(kinds::config_map, {ns, "goes"})));
        ASSERT_TRUE(run(admin->remove(kinds::config_map, {ns, "comes-again"})));
        ASSERT_TRUE(run(admin->apply(map("comes-again", "3"))));
        // One that starts now knows only what is, not how it came about.
        plane->kill_api_server();
        ASSERT_TRUE(plane->start_api_server());
        gate.closed = false;
        EXPECT_TRUE(eventually([&] {
            return told.values ==
                   std::map<std::string, std::string>{{"changes", "2"}, {"comes-again", "3"}, {"stays", "1"}};
        })) << ::testing::PrintToString(told.values);
        EXPECT_TRUE(eventually([&] { return told.syncs == 2; }));
        EXPECT_EQ(told.watch.lists(), lists + 1);
        EXPECT_EQ(told.wrong, 0);
        EXPECT_EQ(told.errors, std::vector<std::string>{});
        run(group.close());
    }
}

}  // namespace
}  // namespace hostler::kubernetes
