#include "roles/master/api.h"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "roles/master/testing/term_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using hostler::testing::try_run;

struct ApiTest : ::testing::Test, testing::TermRig {
    ApiTest() {
        Desk& now = desk();
        for (const char* zone : {"lon", "nj"}) now.estate.zones.add({.name = zone});
        now.estate.hosts.add({.id = "h-a",
                              .zone = "nj",
                              .phase = HostPhase::ready,
                              .facts = testing::DeskRig::facts_of("a", 8)});
        (void)commit();
    }
    struct Sink final : api::EventSink {
        std::string bytes;
        Task<> send(std::string more) override {
            bytes += more;
            co_return Result<>{};
        }
    };
    api::Reply call(const std::string& tenant, const std::string& method, const std::string& target,
                    const std::string& body = "", const std::string& key = "") {
        api::Caller caller{.actor = "key/" + tenant, .tenant = tenant, .is_operator = tenant.empty()};
        auto answer =
            try_run(loop, wrapped(api.handlers(),
                                  {.method = method, .target = target, .body = body, .idempotency_key = key},
                                  std::move(caller)));
        HOSTLER_ASSERT(answer);
        return std::move(**answer);
    }
    static Task<api::Reply> wrapped(const api::Handlers& handlers, api::Inquiry inquiry, api::Caller caller) {
        co_return co_await handlers.answer(std::move(inquiry), std::move(caller), nullptr);
    }
    static std::string start(const std::string& name, const std::string& tenant = "acme",
                             const std::string& image = "demo:1") {
        return fmt::format(
            R"({{"instanceID":"{}","tenantID":"{}","tenantName":"","image":"{}","storageID":"","specName":"small","template":{{}}}})",
            name, tenant, image);
    }
    static std::string stocks(int number, const std::string& operation = "") {
        return fmt::format(
            R"({{"number":{},"operationID":"{}","specName":"small","cpu":"1","memory":"1Gi","gpuType":"H100","gpuNum":1}})",
            number, operation);
    }
    static std::string problem(const api::Reply& reply) {
        return std::string{json::parse(reply.body).at("code").as_string()};
    }
    Api api{lead};
};

TEST_F(ApiTest, ADryRunChangesNothing) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2)).status, 200);
    const auto commits = store.done;
    EXPECT_EQ(call("", "POST", "/stocks?dryRun=true", stocks(2)).status, 200);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances?dryRun=true", start("one")).status, 200);
    EXPECT_EQ(call("", "DELETE", "/v1/hosts/h-a?dryRun=true").status, 200);
    EXPECT_EQ(call("", "POST", "/stocks?dryRun=true", stocks(99)).status, 409)
        << "it says what would have been said";
    EXPECT_EQ(store.done, commits);
    EXPECT_TRUE(term().look().estate.unchanged());
    EXPECT_EQ(term().look().estate.slots.all().size(), 2u);
    EXPECT_TRUE(term().look().estate.instances.all().empty());
}

TEST_F(ApiTest, OneTenantDoesNotSeeAnothers) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2)).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    const std::string id = term().look().estate.instances.all().begin()->first;
    EXPECT_EQ(call("globex", "POST", "/gpu-instances", start("two", "acme")).status, 403);
    for (const std::string& name : {std::string{"one"}, id}) {
        EXPECT_EQ(call("acme", "GET", "/gpu-instances/" + name).status, 200);
        EXPECT_EQ(call("globex", "GET", "/gpu-instances/" + name).status, 404);
        EXPECT_EQ(call("globex", "DELETE", "/gpu-instances/" + name).status, 404);
        EXPECT_EQ(call("globex", "GET", "/v1/instances/" + name).status, 404);
        EXPECT_EQ(call("globex", "GET", "/v1/instances/" + name + "/logs").status, 404);
        EXPECT_EQ(call("globex", "GET", "/v1/instances/" + name + "/events").status, 404);
    }
    EXPECT_EQ(json::parse(call("globex", "GET", "/v1/instances").body).at("items").as_array().size(), 0u);
    EXPECT_EQ(call("globex", "GET", "/v1/instances?tenantID=acme").status, 403);
    EXPECT_EQ(call("globex", "POST", "/stocks", stocks(1)).status, 403);
    EXPECT_EQ(
        call("globex", "GET", "/v1/networks/" + term().look().estate.networks.all().begin()->first).status,
        404);
    ASSERT_EQ(call("globex", "POST", "/gpu-instances", start("one", "globex")).status, 200);
    EXPECT_EQ(problem(call("", "GET", "/gpu-instances/one")), "ambiguous");
    EXPECT_EQ(call("", "GET", "/gpu-instances/one?tenantID=globex").status, 200);
}

TEST_F(ApiTest, TheSameKeyAgainGetsTheFirstAnswer) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2, "op-1")).status, 200);
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2, "op-1")).status, 200);
    EXPECT_EQ(term().look().estate.slots.all().size(), 2u);
    EXPECT_EQ(problem(call("", "POST", "/stocks", stocks(3, "op-1"))), "idempotency_key_reused");
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2, "op-2")).status, 200);
    EXPECT_EQ(term().look().estate.slots.all().size(), 4u);
    const auto volume = call("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})", "k");
    ASSERT_LT(volume.status, 300) << volume.body;
    EXPECT_EQ(call("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})", "k").body, volume.body);
    EXPECT_EQ(call("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})").status, 409);
    EXPECT_LT(call("globex", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})", "k").status, 300)
        << "another tenant's keys are its own";
    ASSERT_LT(call("", "DELETE", "/v1/hosts/h-a", "", "gone").status, 300);
    EXPECT_LT(call("", "DELETE", "/v1/hosts/h-a", "", "gone").status, 300)
        << "though it is not there any more";
    EXPECT_EQ(call("", "DELETE", "/v1/hosts/h-a").status, 404);
}

TEST_F(ApiTest, SecretsAreToldOnceAndKeptNowhere) {
    const auto made = call("", "POST", "/v1/api-keys", R"({"name":"ci","tenantID":"acme"})", "k");
    ASSERT_LT(made.status, 300) << made.body;
    const std::string secret{json::parse(made.body).at("secret").as_string()};
    EXPECT_EQ(problem(call("", "POST", "/v1/api-keys", R"({"name":"ci","tenantID":"acme"})", "k")),
              "secret_told");
    EXPECT_EQ(term().look().estate.api_keys.all().size(), 1u);
    for (const auto& [key, object] : store.objects)
        if (key.first != "api_key") EXPECT_EQ(object.body.find(secret), std::string::npos) << key.first;
}

TEST_F(ApiTest, ANameIsNeverUsedAgain) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one", "acme", "other:1")).status, 409);
    const std::string id = term().look().estate.instances.all().begin()->first;
    note(desk(), id, InstanceEvent::fail, "exited", "test");
    let_go(desk(), id);
    (void)commit();
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 409);
    EXPECT_EQ(call("acme", "DELETE", "/gpu-instances/one").status, 200) << "stopped again: it is";
    timers.advance(std::chrono::hours{24});
    forget_what_is_over(desk());
    (void)commit();
    EXPECT_EQ(call("acme", "GET", "/gpu-instances/one").status, 404);
    EXPECT_EQ(call("acme", "DELETE", "/gpu-instances/one").status, 404);
    EXPECT_EQ(problem(call("acme", "POST", "/gpu-instances", start("one"))), "instance_exists");
    const auto all = json::parse(call("acme", "GET", "/v1/instances?all=true").body).at("items").as_array();
    ASSERT_EQ(all.size(), 1u) << "the record is kept";
    EXPECT_EQ(all[0].at("state").as_string(), "failed");
    EXPECT_EQ(json::parse(call("globex", "GET", "/v1/instances?all=true").body).at("items").as_array().size(),
              0u);
}

TEST_F(ApiTest, ListsPageWithoutSkippingOrRepeating) {
    for (const std::string query : {"?limit=2", "?limit=2&all=true"}) {
        if (term().look().estate.instances.all().empty()) {
            ASSERT_EQ(call("", "POST", "/stocks", stocks(5)).status, 200);
            for (int i = 0; i < 5; ++i)
                ASSERT_EQ(call("acme", "POST", "/gpu-instances", start(fmt::format("one-{}", i))).status,
                          200);
        }
        std::vector<std::string> names;
        std::string cursor;
        int pages = 0;
        do {
            const auto page = json::parse(
                call("acme", "GET", "/v1/instances" + query + (cursor.empty() ? "" : "&cursor=" + cursor))
                    .body);
            for (const auto& item : page.at("items").as_array())
                names.emplace_back(item.at("instanceID").as_string());
            const auto* next = page.as_object().if_contains("nextCursor");
            cursor = next && next->is_string() ? std::string{next->as_string()} : "";
        } while (!cursor.empty() && ++pages < 9);
        EXPECT_EQ(names, (std::vector<std::string>{"one-0", "one-1", "one-2", "one-3", "one-4"})) << query;
        EXPECT_EQ(pages, 2) << query;
    }
    EXPECT_EQ(call("acme", "GET", "/v1/instances?all=true&cursor=nonsense").status, 400);
}

TEST_F(ApiTest, WritesAreAudited) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2)).status, 200);
    EXPECT_NE(call("", "POST", "/stocks", stocks(99)).status, 200);
    ASSERT_EQ(store.audit.size(), 1u);
    EXPECT_EQ(store.audit[0].operation, "createStocks");
    EXPECT_NE(store.audit[0].after.find("\"number\":2"), std::string::npos);
}

}  // namespace
}  // namespace hostler::master
