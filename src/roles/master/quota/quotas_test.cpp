// Quotas over the API.
#include "roles/master/quota/quotas.h"

#include <gmock/gmock.h>

#include "roles/master/testing/api_rig.h"
#include "roles/master/testing/people_rig.h"
#include "roles/master/testing/usage_check.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A host of eight GPUs, and a spec of one. "" asks as an operator, a name by a key of the tenant.
struct QuotasApi : testing::ApiRig {
    QuotasApi() { HOSTLER_ASSERT(call("", "POST", "/stocks", stocks(1)).status == 200); }
    ~QuotasApi() override { EXPECT_EQ(testing::usage_is_wrong(desk()), ""); }

    api::Reply set(const std::string& limits, const std::string& more = "") {
        return call("", "PUT", "/v1/quotas",
                    fmt::format(R"({{"tenantID":"acme","limits":[{}]{}}})", limits, more));
    }
    boost::json::array list(const std::string& who, const std::string& query = "") {
        return boost::json::parse(call(who, "GET", "/v1/quotas" + query).body).at("items").as_array();
    }
    static Task<> ask(QuotasApi& rig, std::string name, std::map<int, int>& statuses) {
        auto reply = co_await rig.api.handlers().answer(
            {.method = "POST", .target = "/gpu-instances", .body = start(name)}, caller_for("acme"),
            &rig.nowhere);
        ++statuses[reply ? reply->status : 0];
        co_return Result<>{};
    }
    const Estate& estate() { return term().look().estate; }
};

constexpr const char* gpus_5 = R"({"resource":"gpus","limit":"5"})";

TEST_F(QuotasApi, AreSetShownChangedAndDeleted) {
    const auto made = set(R"({"resource":"gpus","limit":5},{"resource":"memory","limit":"64Gi"})");
    ASSERT_EQ(made.status, 200) << made.body;
    EXPECT_THAT(made.body, HasSubstr(R"({"resource":"gpus","limit":"5","guaranteed":"0","used":"0"})"));
    EXPECT_THAT(made.body, HasSubstr(R"("version":1)"));
    EXPECT_TRUE(estate().tenants.find("acme")) << "a quota may come before the first instance";
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    auto rows = list("acme");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].at("limits").at(0).at("used"), "1");
    EXPECT_EQ(rows[0].at("usage").at(0), "gpus 1 of 5");
    EXPECT_EQ(rows[0].at("usage").at(1), "memory 1Gi of 64Gi");
    EXPECT_EQ(list("globex").size(), 0u);
    EXPECT_EQ(set(gpus_5, R"(,"ifVersion":1)").status, 200);
    EXPECT_EQ(list("").at(0).at("limits").as_array().size(), 1u) << "the others are replaced";
    EXPECT_EQ(problem(set(gpus_5, R"(,"ifVersion":1)")), "version_differs");
    EXPECT_EQ(problem(call("", "DELETE", "/v1/quotas?tenantID=acme&ifVersion=1")), "version_differs");
    EXPECT_EQ(problem(call("", "DELETE", "/v1/quotas?tenantID=acme&project=default")), "quota_not_found");
    EXPECT_EQ(problem(call("", "DELETE", "/v1/quotas")), "invalid") << "whose";
    EXPECT_EQ(call("", "DELETE", "/v1/quotas?tenantID=acme&ifVersion=2").status, 200);
    EXPECT_EQ(list("").size(), 0u);
}

TEST_F(QuotasApi, AllThatIsWrongIsSaidAtOnce) {
    const auto wrong = set(
        R"({"resource":"gpu","limit":"5"},{"resource":"gpus","limit":"1500m"},{"resource":"memory","limit":"1Gi","guaranteed":"1Gi"},{"resource":"gpus:H100","limit":"1"},{"resource":"gpus:h100","limit":"2"})");
    EXPECT_EQ(wrong.status, 400);
    for (const char* text : {"limits[0].resource", "did you mean gpus?", "limits[1].limit", "whole number",
                             "limits[2].guaranteed", "is for projects", "limits[4].resource", "given twice"})
        EXPECT_THAT(wrong.body, HasSubstr(text));
    EXPECT_EQ(set(R"({"resource":"gpus","limit":"2","guaranteed":"3"})", R"(,"project":"default")").status,
              400);
    EXPECT_EQ(set(gpus_5, R"(,"project":"default","subject":"user/ann")").status, 400);
    EXPECT_EQ(set("").status, 400) << "no limit";
    EXPECT_EQ(set(R"({"resource":"gpus","limit":"-1"})").status, 400);
    EXPECT_EQ(set(R"({"resource":"gpus:FutureGPU 1","limit":"1"})").status, 200) << "no host has it yet";
    EXPECT_EQ(set(gpus_5).status, 200);
    EXPECT_EQ(problem(set(gpus_5, R"(,"project":"lap")")), "project_not_found");
    EXPECT_EQ(problem(set(gpus_5, R"(,"subject":"user/nobody")")), "user_not_found");
    EXPECT_EQ(set(gpus_5, R"(,"subject":"pete")").status, 400);
}

TEST_F(QuotasApi, NoMoreIsGuaranteedThanTheTenantMayUse) {
    ASSERT_EQ(set(gpus_5).status, 200);
    ASSERT_EQ(call("", "POST", "/v1/projects", R"({"name":"lab","tenantID":"acme"})").status, 201);
    const auto of = [](int guaranteed) {
        return fmt::format(R"({{"resource":"gpus","limit":"8","guaranteed":"{}"}})", guaranteed);
    };
    EXPECT_EQ(set(of(3), R"(,"project":"lab")").status, 200);
    const auto refused = set(of(3), R"(,"project":"default")");
    EXPECT_EQ(problem(refused), "guarantees_exceeded");
    EXPECT_THAT(refused.body, HasSubstr("limits[0].guaranteed"));
    EXPECT_THAT(refused.body,
                HasSubstr("6 GPUs would be guaranteed to projects of tenant acme, which may use 5"));
    EXPECT_EQ(set(of(2), R"(,"project":"default")").status, 200);
    EXPECT_EQ(problem(set(R"({"resource":"gpus","limit":"4"})")), "guarantees_exceeded");
    EXPECT_EQ(set(of(3), R"(,"project":"lab")").status, 200) << "it replaces its own";
}

TEST_F(QuotasApi, CallsAtTheSameTimeNeverExceedAQuota) {
    ASSERT_EQ(set(gpus_5).status, 200);
    std::map<int, int> statuses;
    TaskGroup calls{loop};
    store.hang = true;  // None of them is durable before all are decided.
    for (int i = 0; i < 64; ++i) calls.start("create", ask(*this, fmt::format("one-{}", i), statuses));
    timers.settle();
    EXPECT_EQ(estate().instances.all().size(), 5u);
    store.let_go();
    timers.settle();
    EXPECT_EQ(statuses, (std::map<int, int>{{200, 5}, {409, 59}}));
    EXPECT_EQ(list("acme").at(0).at("limits").at(0).at("used"), "5");
}

TEST_F(QuotasApi, ADryRunAndAPlacementSayTheSame) {
    ASSERT_EQ(set(R"({"resource":"gpus","limit":"1"})").status, 200);
    const std::string dry = "/gpu-instances?dryRun=true";
    EXPECT_EQ(call("acme", "POST", dry, start("one")).status, 200);
    EXPECT_EQ(list("acme").at(0).at("limits").at(0).at("used"), "0");
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    const auto refused = call("acme", "POST", dry, start("two"));
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(problem(refused), "quota_exceeded");
    const std::string words = "tenant acme may use 1 GPU (quota), 1 is used and 1 was asked for";
    EXPECT_THAT(refused.body, HasSubstr(words));
    EXPECT_THAT(refused.body, HasSubstr("hostler quota set --tenant acme"));
    const auto placed = call("acme", "POST", "/v1/placements", R"({"specName":"small"})");
    EXPECT_THAT(placed.body, HasSubstr(R"("fits":false)"));
    EXPECT_THAT(placed.body, HasSubstr(words));
    const auto other = call("globex", "POST", "/v1/placements", R"({"specName":"small"})");
    EXPECT_THAT(other.body, HasSubstr(R"("fits":true)")) << other.body;
    EXPECT_EQ(call("acme", "DELETE", "/v1/quotas?tenantID=acme").status, 403);
    EXPECT_EQ(call("", "DELETE", "/v1/quotas?tenantID=acme").status, 200);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("two")).status, 200);
}

TEST_F(QuotasApi, AreInTheStoreAndGoWithWhatTheyLimit) {
    ASSERT_EQ(call("", "POST", "/v1/projects", R"({"name":"lab","tenantID":"acme"})").status, 201);
    ASSERT_EQ(set(gpus_5).status, 200);
    ASSERT_EQ(set(R"({"resource":"cpu","limit":"4","guaranteed":"1"})", R"(,"project":"lab")").status, 200);
    std::vector<Object> rows;
    for (const auto& [key, object] : store.objects) rows.push_back(object);
    Estate again;
    ASSERT_TRUE(again.load(rows));
    EXPECT_EQ(again.quotas.at("acme").limits, (std::vector<QuotaLimit>{{"gpus", 5}}));
    EXPECT_EQ(again.quotas.at("acme/lab").limits, (std::vector<QuotaLimit>{{"cpu", 4000, 1000}}));
    EXPECT_EQ(call("", "DELETE", "/v1/projects/lab?tenantID=acme").status, 200);
    EXPECT_FALSE(estate().quotas.find("acme/lab"));
    EXPECT_EQ(call("", "DELETE", "/v1/tenants/acme").status, 200);
    EXPECT_TRUE(estate().quotas.all().empty());
}

TEST_F(QuotasApi, WhoMadeItIsShown) {
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    ASSERT_EQ(call("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})").status, 201);
    EXPECT_THAT(call("acme", "GET", "/v1/instances/one").body, HasSubstr(R"("createdBy":"key/acme")"));
    EXPECT_THAT(call("acme", "GET", "/v1/volumes/data").body, HasSubstr(R"("createdBy":"key/acme")"));
    EXPECT_THAT(call("acme", "GET", "/gpu-instances/one").body, Not(HasSubstr("createdBy")));
}

struct QuotasOfPeople : testing::PeopleTest {
    // The session of a user who has this role in tenant acme.
    std::string with_role(const std::string& login, const std::string& role, const std::string& where = "") {
        user(login);
        const Reply given = post(
            "/v1/grants",
            fmt::format(R"({{"subject":"user/{}","role":"{}","tenantID":"acme"{}}})", login, role, where));
        EXPECT_EQ(given.status, 201) << given.text;
        return session(login);
    }
    Reply set(const std::string& more, std::string_view secret = root) {
        return call("PUT", "/v1/quotas",
                    fmt::format(R"({{"limits":[{}],"tenantID":"acme"{}}})", gpus_5, more), secret);
    }
};

TEST_F(QuotasOfPeople, AnAdminSetsThoseOfProjectsAndPeopleAndNotTheTenants) {
    const std::string admin = with_role("boss", "tenant-admin");
    const std::string member = with_role("ann", "member", R"(,"project":"default")");
    const Reply own = set("", admin);
    EXPECT_EQ(own.status, 403);
    EXPECT_EQ(own.code(), "permission_missing");
    EXPECT_THAT(own.text, HasSubstr("the quota of tenant acme is an operator's to change"));
    EXPECT_EQ(set("").status, 200);
    EXPECT_EQ(set(R"(,"project":"default")", admin).status, 200);
    const Reply of_ann = set(R"(,"subject":"user/ann")", admin);
    EXPECT_EQ(of_ann.status, 200) << of_ann.text;
    EXPECT_EQ(of_ann.at("name"), "ann");
    for (const char* more : {"", R"(,"project":"default")", R"(,"subject":"user/ann")"})
        EXPECT_EQ(set(more, member).status, 403) << more;
    EXPECT_EQ(call("DELETE", "/v1/quotas?tenantID=acme&project=default", "", member).status, 403);
    EXPECT_EQ(get("/v1/quotas", admin).items(), 3u);
    EXPECT_EQ(get("/v1/quotas", member).items(), 2u) << "that of the project, and the own one";
    EXPECT_EQ(get("/v1/quotas?subject=user/ann", admin).items(), 1u);
    user("eve", "globex");
    ASSERT_EQ(
        post("/v1/grants", R"({"subject":"user/eve","role":"tenant-admin","tenantID":"globex"})").status,
        201);
    const std::string eve = session("eve");
    EXPECT_EQ(get("/v1/quotas", eve).items(), 0u);
    EXPECT_EQ(get("/v1/quotas?tenantID=acme", eve).code(), "tenant_differs");
    EXPECT_EQ(set(R"(,"project":"default")", eve).code(), "tenant_differs");
}

TEST_F(QuotasOfPeople, AUsersQuotaGoesWithThem) {
    const std::string id = user("ann");
    ASSERT_EQ(set(R"(,"subject":"user/ann")").status, 200);
    EXPECT_TRUE(desk().estate.quotas.find("acme/user/" + id));
    EXPECT_EQ(call("DELETE", "/v1/users/" + id, "", root).status, 200);
    EXPECT_TRUE(desk().estate.quotas.all().empty());
}

}  // namespace
}  // namespace hostler::master
