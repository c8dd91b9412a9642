#include "adapters/kubernetes/client.h"

#include "adapters/kubernetes/objects.h"
#include "adapters/kubernetes/testing/rig.h"

namespace hostler::kubernetes {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::ModelServer;

struct KubernetesClient : testing::Rig {
    // Every request is answered by these in turn, the last one for ever.
    void play(std::vector<http::Response> answers) {
        server.other = [answers = std::move(answers), at = std::size_t{0}](const ModelServer::Seen&) mutable {
            return std::optional{answers[std::min(at++, answers.size() - 1)]};
        };
    }
    const http::Request& request(std::size_t at = 0) { return server.seen.at(at).request; }
    std::string header(std::string_view name, std::size_t at = 0) {
        return std::string{request(at).headers.find(name).value_or("(none)")};
    }
    static http::Response object() {
        return {200, {}, R"({"kind":"Node","metadata":{"name":"n1"},"odd":1})"};
    }
    static http::Response again(int code, std::string seconds) {
        return ModelServer::status(code, "TooManyRequests", "slow down", "{}",
                                   {{"Retry-After", std::move(seconds)}});
    }
};

TEST_F(KubernetesClient, GetsAnObjectWithItsToken) {
    play({object()});
    Client c = client();
    const auto node = run(c.get<Node>({"", "n1"}));
    ASSERT_TRUE(node) << node.error().message;
    EXPECT_EQ(node->value.metadata.name, "n1");
    EXPECT_EQ(node->raw.at("odd"), 1);
    EXPECT_EQ(request().method, "GET");
    EXPECT_EQ(request().target, "/api/v1/nodes/n1");
    EXPECT_EQ(header("Authorization"), "Bearer secret");
    EXPECT_EQ(header("Host"), "api.test:6443");
    EXPECT_EQ(header("Impersonate-User"), "(none)");
    EXPECT_EQ(server.dialled.at(0), "api.test:6443");
    EXPECT_EQ(server.secured.at(0).expect, "https://api.test");
}

TEST_F(KubernetesClient, NamesItsAuthorityAndCertificateToTheTls) {
    access.authority = "AUTHORITY";
    access.certificate = "CERTIFICATE";
    access.key = "KEY";
    access.path = "/k8s/c-1";
    play({object()});
    Client c = client();
    ASSERT_TRUE(run(c.get(kinds::node, {"", "n1"})));
    EXPECT_EQ(server.secured.at(0).own->authority, "AUTHORITY");
    EXPECT_EQ(server.secured.at(0).own->certificate, "CERTIFICATE");
    EXPECT_EQ(server.secured.at(0).own->key, "KEY");
    EXPECT_EQ(request().target, "/k8s/c-1/api/v1/nodes/n1");
}

TEST_F(KubernetesClient, ImpersonatesWhomItIsTold) {
    settings.impersonate = Impersonation{"jane", {"dev", "ops"}, {{"Scopes/A", {"x", "y"}}}};
    play({object()});
    Client c = client();
    ASSERT_TRUE(run(c.get(kinds::node, {"", "n1"})));
    EXPECT_EQ(header("Impersonate-User"), "jane");
    EXPECT_EQ(request().headers.all("Impersonate-Group"), (std::vector<std::string_view>{"dev", "ops"}));
    EXPECT_EQ(request().headers.all("Impersonate-Extra-scopes%2Fa"),
              (std::vector<std::string_view>{"x", "y"}));

    settings.impersonate = Impersonation{"", {"dev"}, {}};
    Client nobody = client();
    const auto refused = run(nobody.get(kinds::node, {"", "n1"}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_EQ(server.seen.size(), 1U);

    settings.impersonate = Impersonation{"jane\r\nX: y", {}, {}};
    Client smuggler = client();
    EXPECT_EQ(run(smuggler.get(kinds::node, {"", "n1"})).error().code, Code::invalid);
    EXPECT_EQ(server.seen.size(), 1U);
}

TEST_F(KubernetesClient, ListsInPages) {
    for (int i = 0; i < 7; ++i) server.put(fmt::format("c{}", i), "x");
    Client c = client();
    const auto all = run(c.list(kinds::config_map, {.ns = "ns", .labels = "a in (b,c)"}, 3));
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ(all->objects.size(), 7U);
    EXPECT_EQ(all->resource_version, std::to_string(server.version()));
    ASSERT_EQ(server.seen.size(), 3U);
    EXPECT_EQ(request().target,
              "/api/v1/namespaces/ns/configmaps?limit=3&labelSelector=a%20in%20%28b%2Cc%29");
    EXPECT_EQ(server.seen[2].query.at("continue"), "107:c5");
    EXPECT_EQ(run(c.list<ConfigMap>({.ns = "ns"}))->at(6).metadata.name, "c6");

    const auto many = run(c.list(kinds::config_map, {.ns = "ns"}, 3, 5));
    ASSERT_FALSE(many);
    EXPECT_EQ(many.error().code, Code::exhausted);
}

TEST_F(KubernetesClient, APageThatIsTooOldBeginsTheListAgain) {
    for (int i = 0; i < 7; ++i) server.put(fmt::format("c{}", i), "x");
    server.on_request = [&, once = false](const ModelServer::Seen& seen) mutable {
        if (!seen.query.contains("continue") || std::exchange(once, true)) return;
        server.remove("c0");
        server.compact();
    };
    Client c = client();
    const auto all = run(c.list(kinds::config_map, {.ns = "ns"}, 3));
    ASSERT_TRUE(all) << all.error().message;
    std::vector<std::string> names;
    for (const auto& one : all->objects) names.push_back(key_of(one).name);
    EXPECT_EQ(names, (std::vector<std::string>{"c1", "c2", "c3", "c4", "c5", "c6"}));
    EXPECT_EQ(server.seen.size(), 4U);

    server.on_request = [&](const ModelServer::Seen& seen) {
        if (seen.query.contains("continue")) server.put("c9", "y"), server.compact();
    };
    const auto never = run(c.list(kinds::config_map, {.ns = "ns"}, 3));
    ASSERT_FALSE(never);
    EXPECT_EQ(never.error().reason, expired);
    EXPECT_EQ(server.seen.size(), 4U + 2U * Client::list_tries_max);
}

TEST_F(KubernetesClient, AppliesWithItsFieldManager) {
    play({object()});
    Client c = client();
    const auto manifest =
        parse_object(R"({"metadata":{"name":"c","namespace":"ns","managedFields":[{}]},"data":{"k":"v"}})");
    ASSERT_TRUE(run(c.apply(kinds::config_map, *manifest)));
    EXPECT_EQ(request().method, "PATCH");
    EXPECT_EQ(request().target, "/api/v1/namespaces/ns/configmaps/c?fieldManager=hostler");
    EXPECT_EQ(header("Content-Type"), "application/apply-patch+yaml");
    EXPECT_EQ(
        parse_object(request().body).value(),
        parse_object(
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"ns"},"data":{"k":"v"}})")
            .value());
    ASSERT_TRUE(run(c.apply(ConfigMap{.metadata = {.name = "c", .namespace_ = "ns"}}, {.force = true})));
    EXPECT_EQ(request(1).target, "/api/v1/namespaces/ns/configmaps/c?fieldManager=hostler&force=true");
    ASSERT_TRUE(run(c.patch_status(kinds::node, *parse_object(R"({"metadata":{"name":"n"}})"))));
    EXPECT_EQ(request(2).target, "/api/v1/nodes/n/status?fieldManager=hostler");

    for (const auto* wrong : {R"({"metadata":{"namespace":"ns"}})", R"({"metadata":{"name":"c"}})",
                              R"({"metadata":{"name":"..","namespace":"ns"}})", "{}"})
        EXPECT_EQ(run(c.apply(kinds::config_map, *parse_object(wrong))).error().code, Code::invalid) << wrong;
    EXPECT_EQ(server.seen.size(), 3U);
}

TEST_F(KubernetesClient, AConflictNamesTheFields) {
    play({ModelServer::status(
        409, "Conflict", "Apply failed with 1 conflict",
        R"({"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"x\"","field":".data.k"}]})")});
    Client c = client();
    const auto applied =
        run(c.apply(kinds::config_map, *parse_object(R"({"metadata":{"name":"c","namespace":"ns"}})")));
    ASSERT_FALSE(applied);
    EXPECT_EQ(applied.error().code, Code::conflict);
    EXPECT_EQ(applied.error().reason, "Conflict");
    EXPECT_EQ(applied.error().fields, (std::vector<FieldError>{{".data.k", "conflict with \"x\""}}));
    EXPECT_THAT(applied.error().message,
                HasSubstr("PATCH /api/v1/namespaces/ns/configmaps/c: the API server answers 409 Conflict"));
}

TEST_F(KubernetesClient, RemovesOnlyWhatIsMeant) {
    play({object()});
    Client c = client();
    ASSERT_TRUE(run(c.remove(kinds::pod, {"ns", "p"},
                             {.propagation = Propagation::foreground, .uid = "u1", .grace_s = 0})));
    EXPECT_EQ(request().method, "DELETE");
    EXPECT_EQ(parse_object(request().body).value(),
              parse_object(R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Foreground",
                  "preconditions":{"uid":"u1"},"gracePeriodSeconds":0})")
                  .value());
}

TEST_F(KubernetesClient, ABudgetRefusesAnEviction) {
    play({ModelServer::status(
        429, "TooManyRequests", "Cannot evict pod",
        R"({"causes":[{"reason":"DisruptionBudget","message":"needs 2"}],"retryAfterSeconds":10})",
        {{"Retry-After", "10"}})});
    Client c = client();
    const auto evicted = run(c.evict({"ns", "p"}, "u1"));
    ASSERT_FALSE(evicted);
    EXPECT_EQ(evicted.error().code, Code::conflict);
    EXPECT_EQ(evicted.error().reason, disruption_budget);
    EXPECT_THAT(evicted.error().message, HasSubstr("PodDisruptionBudget refuses"));
    EXPECT_EQ(server.seen.size(), 1U) << "the caller decides when to try again";
    EXPECT_EQ(request().target, "/api/v1/namespaces/ns/pods/p/eviction");
    EXPECT_THAT(request().body, HasSubstr(R"("kind":"Eviction")"));
    EXPECT_THAT(request().body, HasSubstr(R"("preconditions":{"uid":"u1"})"));
}

TEST_F(KubernetesClient, ObeysRetryAfterWithinItsDeadline) {
    Client c = client();
    play({again(429, "3"), again(503, "4"), object()});
    const Instant begun = timers.now();
    ASSERT_TRUE(run(c.get(kinds::node, {"", "n1"})));
    EXPECT_EQ(server.seen.size(), 3U);
    EXPECT_GE(timers.now() - begun, 7s);
    EXPECT_LT(timers.now() - begun, 8s);

    server.seen.clear();
    play({again(429, "9")});
    const auto late = run(c.get(kinds::node, {"", "n1"}));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::exhausted);
    EXPECT_EQ(late.error().reason, throttled);
    EXPECT_EQ(server.seen.size(), 4U) << "9, 18, 27 seconds; 36 would be beyond 30";

    for (const auto& [answer, why] : std::vector<std::pair<http::Response, std::string>>{
             {again(429, "3600"), "longer than it obeys"},
             {ModelServer::status(503, "ServiceUnavailable"), "no Retry-After"},
             {again(500, "1"), "another status"}}) {
        server.seen.clear();
        play({answer});
        EXPECT_FALSE(run(c.get(kinds::node, {"", "n1"}))) << why;
        EXPECT_EQ(server.seen.size(), 1U) << why;
    }
}

TEST_F(KubernetesClient, ACallEndsAtItsDeadline) {
    settings.deadline = 5s;
    Client c = client();
    const Instant begun = timers.now();
    server.put("a", "x");  // A watch that nobody ends, read as if it were an answer.
    const auto held = run(c.call("GET", "/api/v1/namespaces/ns/configmaps?watch=true&resourceVersion=100"));
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().code, Code::timeout);
    EXPECT_LE(timers.now() - begun, 6s);
}

TEST_F(KubernetesClient, RefusesAnAnswerThatIsTooLarge) {
    settings.answer_bytes_max = 1000;
    play({{200, {}, fmt::format(R"({{"a":"{}"}})", std::string(100'000, 'x'))}});
    Client c = client();
    const auto large = run(c.get(kinds::node, {"", "n1"}));
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().code, Code::exhausted);
    EXPECT_THAT(large.error().message, HasSubstr("larger than 1000 bytes"));

    play({{500, {}, std::string(3 << 20, 'x')}});
    EXPECT_EQ(run(c.get(kinds::node, {"", "n1"})).error().code, Code::unavailable) << "so is a refusal";
}

TEST_F(KubernetesClient, SaysWhatARefusalMeans) {
    Client c = client();
    const std::tuple<int, const char*, Code> rows[] = {
        {400, "BadRequest", Code::invalid},     {401, "Unauthorized", Code::unauthenticated},
        {403, "Forbidden", Code::forbidden},    {404, "NotFound", Code::not_found},
        {409, "AlreadyExists", Code::conflict}, {410, "Expired", Code::conflict},
        {422, "Invalid", Code::invalid},        {500, "InternalError", Code::unavailable},
        {504, "Timeout", Code::timeout}};
    for (const auto& [status, reason, code] : rows) {
        play({ModelServer::status(status, reason, "because\\u001b[2J")});
        const auto got = run(c.get(kinds::node, {"", "n1"}));
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().code, code) << status;
        EXPECT_EQ(got.error().reason, reason);
        EXPECT_THAT(got.error().message, HasSubstr("because\\x1b[2J"));
    }
    play({{502, {}, "<html>bad gateway</html>"}});
    EXPECT_THAT(run(c.get(kinds::node, {"", "n1"})).error().message,
                HasSubstr("502 Bad Gateway: <html>bad gateway"));
    play({{200, {}, "<html>a sign-in page</html>"}});
    EXPECT_EQ(run(c.get(kinds::node, {"", "n1"})).error().code, Code::unavailable);
    server.away = true;
    Client other = client();
    EXPECT_EQ(run(other.get(kinds::node, {"", "n1"})).error().code, Code::unavailable);
}

}  // namespace
}  // namespace hostler::kubernetes
