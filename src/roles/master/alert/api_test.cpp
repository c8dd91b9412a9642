#include <gtest/gtest.h>

#include "roles/master/testing/alert_rig.h"
#include "roles/master/testing/callers.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using hostler::testing::try_run;

struct AlertApi : ::testing::Test, testing::AlertRig {
    static Task<api::Reply> wrapped(const api::Handlers& handlers, api::Inquiry inquiry, api::Caller caller) {
        co_return co_await handlers.answer(std::move(inquiry), std::move(caller), nullptr);
    }
    api::Reply call(const std::string& tenant, const std::string& method, const std::string& target,
                    const std::string& body = "") {
        auto caller = caller_for(tenant);
        auto answer = try_run(
            loop, wrapped(api.handlers(), {.method = method, .target = target, .body = body}, caller));
        HOSTLER_ASSERT(answer);
        return std::move(**answer);
    }
    json::array items(const std::string& tenant, const std::string& target) {
        return json::parse(call(tenant, "GET", target).body).as_object().at("items").as_array();
    }
    static std::string rule(const std::string& name, const std::string& more = "") {
        return fmt::format(
            R"({{"name":"{}","metric":"gpu_heat_margin_celsius","comparison":"below","threshold":20{}}})",
            name, more);
    }
    Api api{lead};
};

TEST_F(AlertApi, ASecretIsToldToNobody) {
    const std::string body =
        R"({"name":"ops","type":"webhook","url":"https://hooks.example/x","secret":"s3cr3t-word"})";
    ASSERT_EQ(call("acme", "POST", "/v1/alert-receivers", body).status, 201);
    std::string all = call("acme", "GET", "/v1/alert-receivers").body;
    all += call("acme", "GET", "/v1/alert-receivers/ops").body;
    all += call("", "GET", "/v1/alert-receivers").body;
    all += call("acme", "POST", "/v1/alert-receivers/ops/test").body;
    ASSERT_EQ(call("acme", "PUT", "/v1/alert-receivers/ops",
                   R"({"type":"webhook","url":"https://hooks.example/x","severity":"warning"})")
                  .status,
              200);
    EXPECT_EQ(desk().estate.alert_receivers.at("acme/ops").secret, "s3cr3t-word") << "it goes where it went";
    for (const AuditLine& line : store.lines) all += line.before + line.after;
    for (const EventRecord& event : store.log) all += event.message;
    for (const auto& [key, object] : store.objects)
        if (key.first != "alert_receiver") all += object.body;
    EXPECT_EQ(all.find("s3cr3t"), std::string::npos);
    EXPECT_NE(all.find(R"("hasSecret":true)"), std::string::npos);
    ASSERT_EQ(call("acme", "PUT", "/v1/alert-receivers/ops",
                   R"({"type":"webhook","url":"https://hooks.example/y"})")
                  .status,
              200);
    EXPECT_EQ(desk().estate.alert_receivers.at("acme/ops").secret, "") << "and nowhere else";
}

TEST_F(AlertApi, AWebhookIsSignedAndATenantsReachesTheOutsideAlone) {
    for (const char* tenant : {"acme", ""}) {
        ASSERT_EQ(call(tenant, "POST", "/v1/alert-receivers",
                       R"({"name":"ops","type":"webhook","url":"https://hooks.example/x","secret":"key"})")
                      .status,
                  201);
        const auto tested = call(tenant, "POST", "/v1/alert-receivers/ops/test");
        EXPECT_EQ(tested.status, 200);
        EXPECT_NE(tested.body.find(R"("delivered":true)"), std::string::npos) << tested.body;
    }
    ASSERT_EQ(outgoing.sent.size(), 2u);
    EXPECT_EQ(outgoing.sent[0].reach, Reach::outside);
    EXPECT_EQ(outgoing.sent[1].reach, Reach::anywhere);
    const auto& headers = outgoing.sent[0].headers;
    EXPECT_TRUE(std::ranges::any_of(headers, [](const auto& header) {
        return header.first == "Hostler-Signature" && header.second.starts_with("t=") &&
               header.second.find(",v1=") != std::string::npos;
    }));
    away = true;
    const auto failed = call("", "POST", "/v1/alert-receivers/ops/test");
    EXPECT_EQ(failed.status, 200);
    EXPECT_NE(failed.body.find(R"("delivered":false)"), std::string::npos);
    EXPECT_NE(failed.body.find("503"), std::string::npos);
}

TEST_F(AlertApi, EveryWrongFieldIsNamed) {
    const auto wrong = [&](const std::string& target, const std::string& body) {
        const auto reply = call("acme", "POST", target, body);
        EXPECT_EQ(reply.status, 400) << reply.body;
        std::string fields;
        for (const auto& one : json::parse(reply.body).as_object().at("errors").as_array())
            fields += std::string{one.as_object().at("field").as_string()} + " ";
        return fields;
    };
    EXPECT_EQ(
        wrong(
            "/v1/alert-rules",
            R"({"name":"x","metric":"nothing","threshold":1,"where":["zone"],"by":["zone"],"labels":["a b=c"]})"),
        "where[0] labels[0] metric by ");
    EXPECT_EQ(wrong("/v1/alert-rules", rule("x", R"(,"over":"rate")")), "over ");
    EXPECT_EQ(wrong("/v1/alert-rules", rule("x", R"(,"tellTenants":true)")), "tellTenants ");
    EXPECT_EQ(wrong("/v1/alert-rules",
                    rule("x", R"(,"where":["cluster=train","pod=a"],"by":["namespace"],"across":"max")")),
              "where[1] by[0] ");
    EXPECT_EQ(wrong("/v1/silences", R"({"matchers":["gpu"],"comment":"x"})"), "matchers[0] ");
    EXPECT_EQ(wrong("/v1/alert-receivers", R"({"name":"x","type":"email","url":"https://x"})"),
              "url from to ");
    EXPECT_EQ(wrong("/v1/alert-receivers",
                    R"({"name":"x","type":"webhook","url":"https://user:word@hooks.example/"})"),
              "url ");
}

TEST_F(AlertApi, TenantsSeeAndAreToldTheirOwn) {
    desk().estate.claims.add({.id = "c-1",
                              .host = "h-a",
                              .use = ClaimUse::instance,
                              .tenant = "acme",
                              .holder = "i-1",
                              .gpus = {"GPU-a-0"}});
    (void)commit();
    for (const char* tenant : {"acme", "other"}) {
        ASSERT_EQ(call(tenant, "POST", "/v1/alert-rules", rule("warm", R"(,"forSeconds":0)")).status, 201);
        add(receiver("mine", tenant));
    }
    add(receiver("on-call"));
    heat(75);
    pass(60);
    ASSERT_EQ(items("acme", "/v1/alerts").size(), 1u);
    EXPECT_EQ(items("acme", "/v1/alerts")[0].as_object().at("rule"), "warm");
    EXPECT_TRUE(items("other", "/v1/alerts").empty());
    EXPECT_EQ(items("", "/v1/alerts").size(), 1u);
    ASSERT_EQ(outgoing.sent.size(), 1u) << "a tenant's own rule is not told to operators";
    EXPECT_TRUE(outgoing.sent[0].url.ends_with("/mine"));
    const std::string id = desk().estate.alerts.all().begin()->first;
    EXPECT_EQ(call("acme", "GET", "/v1/alerts/" + id).status, 200);
    EXPECT_EQ(call("other", "GET", "/v1/alerts/" + id).status, 404);
    EXPECT_EQ(call("other", "DELETE", "/v1/alert-rules/warm").status, 200) << "its own";
    EXPECT_TRUE(desk().estate.alert_rules.find("acme/warm"));
    EXPECT_EQ(call("other", "GET", "/v1/alert-rules/gpu-hot").status, 200) << "of which it may be told";
    EXPECT_EQ(call("other", "GET", "/v1/alert-rules/host-silent").status, 404);
    EXPECT_EQ(call("other", "POST", "/v1/alert-rules?tenantID=acme", rule("hers")).status, 400);
}

TEST_F(AlertApi, ARuleThatEveryCloudHasIsReplacedAndComesBack) {
    const auto names = items("", "/v1/alert-rules");
    EXPECT_EQ(call("", "DELETE", "/v1/alert-rules/gpu-hot").status, 409);
    heat(88);
    pass(120);
    ASSERT_EQ(desk().estate.alerts.all().size(), 1u);
    ASSERT_EQ(
        call("", "PUT", "/v1/alert-rules/gpu-hot",
             R"({"metric":"gpu_heat_margin_celsius","threshold":3,"comparison":"at_most","disabled":true})")
            .status,
        200);
    EXPECT_EQ(items("", "/v1/alert-rules").size(), names.size()) << "in its place";
    pass(60);
    EXPECT_TRUE(desk().estate.alerts.all().empty()) << "what fired under it has ended";
    EXPECT_EQ(call("", "DELETE", "/v1/alert-rules/gpu-hot").status, 200);
    pass(120);
    EXPECT_EQ(desk().estate.alerts.all().size(), 1u);
    EXPECT_EQ(call("", "POST", "/v1/alert-rules", rule("mine")).status, 201);
    EXPECT_EQ(call("", "POST", "/v1/alert-rules", rule("mine")).status, 409);
}

TEST_F(AlertApi, ATenantHasRoomForSoMany) {
    for (std::size_t i = 0; i < alert::receivers_tenant_max; ++i)
        ASSERT_EQ(call("acme", "POST", "/v1/alert-receivers",
                       fmt::format(R"({{"name":"r{}","type":"webhook","url":"https://hooks.example/"}})", i))
                      .status,
                  201);
    EXPECT_EQ(call("acme", "POST", "/v1/alert-receivers",
                   R"({"name":"more","type":"webhook","url":"https://hooks.example/"})")
                  .status,
              429);
    EXPECT_EQ(call("other", "POST", "/v1/alert-receivers",
                   R"({"name":"more","type":"webhook","url":"https://hooks.example/"})")
                  .status,
              201);
}

TEST_F(AlertApi, ASilenceIsListedAndEnds) {
    const auto made = call("", "POST", "/v1/silences",
                           R"({"matchers":["alertname=gpu-hot"],"comment":"cooling","forSeconds":60})");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(items("", "/v1/silences").size(), 1u);
    EXPECT_TRUE(items("acme", "/v1/silences").empty());
    const std::string id{json::parse(made.body).as_object().at("id").as_string()};
    EXPECT_EQ(call("acme", "DELETE", "/v1/silences/" + id).status, 404);
    pass(120);
    EXPECT_TRUE(items("", "/v1/silences").empty()) << "its time is over";
}

TEST_F(AlertApi, ADryRunTellsHowOftenARuleWouldHaveFired) {
    const auto tried = [&](const std::string& tenant, const std::string& body) {
        const api::Reply reply = call(tenant, "POST", "/v1/alert-rules?dryRun=true", body);
        EXPECT_EQ(reply.status, 201) << reply.body;
        return json::parse(reply.body).at("wouldFire").as_object();
    };
    const std::string body =
        R"({"name":"hot","metric":"temperature_celsius","over":"max","threshold":80,"forSeconds":0,"clearSeconds":0})";
    series.answer = {{.labels = {{"gpu", "a"}}, .values = {70, 81, 70, 81}},
                     {.labels = {{"gpu", "b"}}, .values = {70, 70, 70, 70}}};
    const json::object told = tried("acme", body);
    EXPECT_EQ(told.at("times").as_int64(), 2);
    EXPECT_EQ(told.at("labelSets").as_int64(), 1);
    EXPECT_EQ(told.at("days").as_int64(), 7);
    EXPECT_EQ(told.at("stepSeconds").as_int64(), 60);
    ASSERT_FALSE(series.asked.empty());
    const series::Query asked = series.asked.back();
    EXPECT_EQ(asked.to - asked.from, 7 * 86'400'000);
    ASSERT_FALSE(asked.where.empty());
    EXPECT_EQ(asked.where.back().label, "tenant") << "only that of the tenant";
    EXPECT_TRUE(desk().estate.alert_rules.all().empty());
    const json::object live = tried("", rule("near"));
    EXPECT_FALSE(live.contains("times"));
    EXPECT_EQ(live.at("message").as_string(), "the metric is of the moment: no samples are stored");
    series.failure = Error{Code::exhausted, "too much is asked"};
    EXPECT_EQ(tried("", body).at("message").as_string(), "too much is asked") << "the rule itself is good";
    series.failure.reset();
    EXPECT_FALSE(
        json::parse(call("", "POST", "/v1/alert-rules", body).body).as_object().contains("wouldFire"));
}

}  // namespace
}  // namespace hostler::master
