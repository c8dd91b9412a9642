// The lines that writes leave.
#include <gtest/gtest.h>

#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;

struct AuditTest : testing::ApiRig {
    // The one line that this call leaves.
    AuditLine line(const std::string& tenant, const std::string& method, const std::string& target,
                   const std::string& body = "") {
        const std::size_t before = store.lines.size();
        const auto reply = call(tenant, method, target, body);
        EXPECT_LT(reply.status, 300) << target << " " << reply.body;
        answered = reply.body;
        EXPECT_EQ(store.lines.size(), before + 1) << target;
        return store.lines.size() > before ? store.lines.back() : AuditLine{};
    }
    static json::value in(const std::string& body, const char* member) {
        return json::parse(body).at(member);
    }
    std::string id() const { return std::string{json::parse(answered).at("id").as_string()}; }
    std::string answered;
};

TEST_F(AuditTest, ALineSaysWhoDidWhatToWhichObjectAndWhatItWasBefore) {
    AuditLine told = line("", "POST", "/stocks", stocks(2));
    EXPECT_EQ(std::tie(told.actor, told.operation, told.subject, told.tenant, told.before),
              std::tuple("key/operator", "createStocks", "stock/small", "", ""));
    EXPECT_EQ(told.status, 200);
    EXPECT_EQ(told.time, timers.wall());
    EXPECT_EQ(in(told.after, "wanted"), 2);
    told = line("", "DELETE", "/stocks", R"({"number":1,"specName":"small"})");
    EXPECT_EQ(in(told.before, "wanted"), 2);
    EXPECT_EQ(in(told.after, "wanted"), 1);

    told = line("acme", "POST", "/gpu-instances", start("one"));
    const std::string instance = "instance/" + term().look().estate.instances.all().begin()->first;
    EXPECT_EQ(std::tie(told.actor, told.operation, told.subject, told.tenant, told.before),
              std::tuple("key/acme", "createInstance", instance, "acme", ""));
    EXPECT_EQ(in(told.after, "image"), "demo:1");
    told = line("acme", "PATCH", "/v1/instances/one", R"({"labels":{"team":"ml"}})");
    EXPECT_EQ(std::tie(told.operation, told.subject), std::tuple("updateInstance", instance));
    EXPECT_EQ(in(told.before, "labels"), json::object{});
    EXPECT_EQ(in(told.after, "labels"), (json::object{{"team", "ml"}}));
    told = line("", "DELETE", "/gpu-instances/one?tenantID=acme");
    EXPECT_EQ(std::tie(told.actor, told.subject, told.tenant), std::tuple("key/operator", instance, "acme"))
        << "whose it is, not who did it";
    EXPECT_EQ(in(told.before, "state"), "ready");
    EXPECT_EQ(in(told.after, "state"), "stopping");

    told = line("", "POST", "/v1/zones", R"({"name":"fra","location":"Frankfurt"})");
    EXPECT_EQ(std::tie(told.subject, told.before), std::tuple("zone/fra", ""));
    EXPECT_EQ(in(told.after, "location"), "Frankfurt");
    told = line("", "DELETE", "/v1/zones/fra");
    EXPECT_EQ(std::tie(told.operation, told.subject, told.after), std::tuple("deleteZone", "zone/fra", ""));
    EXPECT_EQ(in(told.before, "location"), "Frankfurt");

    told = line("", "POST", "/v1/hosts/a/cordon");
    EXPECT_EQ(told.subject, "host/h-a") << "its id, though it was named otherwise";
    EXPECT_EQ(in(told.before, "cordoned"), false);
    EXPECT_EQ(in(told.after, "cordoned"), true);
    told = line("", "POST", "/v1/hosts/h-a/uncordon");
    EXPECT_EQ(in(told.before, "cordoned"), true);
    told = line("", "DELETE", "/v1/hosts/a?force=true");
    EXPECT_EQ(std::tie(told.subject, told.after), std::tuple("host/h-a", ""));
    EXPECT_EQ(in(told.before, "name"), "a");
}

TEST_F(AuditTest, VolumesKeysAndTokensTooAndNoSecrets) {
    AuditLine told = line("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})");
    const std::string volume = "volume/" + id();
    EXPECT_EQ(std::tie(told.subject, told.tenant, told.before), std::tuple(volume, "acme", ""));
    EXPECT_EQ(in(told.after, "size"), "1Gi");
    told = line("acme", "DELETE", "/v1/volumes/data");
    EXPECT_EQ(told.subject, volume);
    EXPECT_EQ(in(told.before, "state"), "available");

    told = line("", "POST", "/v1/api-keys", R"({"name":"ci","tenantID":"acme"})");
    const std::string key = id();
    EXPECT_EQ(std::tie(told.subject, told.tenant, told.before), std::tuple("api_key/" + key, "acme", ""));
    EXPECT_EQ(in(told.after, "name"), "ci");
    desk().estate.api_keys.add({.id = "acme", .name = "own", .hash = "1", .tenant = "acme"});
    (void)commit();
    told = line("acme", "DELETE", "/v1/api-keys/acme");
    EXPECT_EQ(std::tie(told.actor, told.subject, told.after), std::tuple("key/acme", "api_key/acme", ""))
        << "a tenant's key revokes itself";
    told = line("", "DELETE", "/v1/api-keys/" + key);
    EXPECT_EQ(std::tie(told.subject, told.after), std::tuple("api_key/" + key, ""));
    EXPECT_EQ(in(told.before, "name"), "ci");

    told = line("", "POST", "/v1/host-tokens", R"({"zone":"nj"})");
    const std::string token = id();
    EXPECT_EQ(std::tie(told.subject, told.before), std::tuple("host_token/" + token, ""));
    told = line("", "DELETE", "/v1/host-tokens/" + token);
    EXPECT_EQ(std::tie(told.subject, told.after), std::tuple("host_token/" + token, ""));
    EXPECT_EQ(in(told.before, "zone"), "nj");

    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    std::string wanted = start("one");
    wanted.replace(wanted.find(R"("template":{})"), 13,
                   R"("template":{"envs":[{"name":"PASSWORD","value":"hunter2"}]})");
    line("acme", "POST", "/gpu-instances", wanted);
    for (const AuditLine& kept : store.lines)
        for (const std::string secret : {"hunter2", "hk_", "ht_", "#"})
            EXPECT_EQ((kept.before + kept.after).find(secret), std::string::npos) << kept.operation;
}

TEST_F(AuditTest, WhatChangesNothingLeavesNoLine) {
    EXPECT_EQ(call("", "POST", "/stocks", stocks(99)).status, 409);
    EXPECT_EQ(call("", "POST", "/stocks?dryRun=true", stocks(1)).status, 200);
    EXPECT_EQ(call("", "GET", "/v1/zones").status, 200);
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1, "op-1")).status, 200);
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1, "op-1")).status, 200);
    EXPECT_EQ(store.lines.size(), 1u) << "sent twice, done once";
}

TEST_F(AuditTest, IsListedNewestFirstAPageAtATimeAndByWhatIsAsked) {
    for (const char* zone : {"ams", "fra", "par"})
        line("", "POST", "/v1/zones", fmt::format(R"({{"name":"{}"}})", zone));
    line("", "DELETE", "/v1/zones/fra");
    line("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})");
    const auto list = [&](const std::string& query, const std::string& tenant = "") {
        std::string all, cursor;
        for (int pages = 0; pages < 20; ++pages) {
            const auto reply =
                call(tenant, "GET", "/v1/audit?" + query + (cursor.empty() ? "" : "&cursor=" + cursor));
            EXPECT_EQ(reply.status, 200) << reply.body;
            const json::value page = json::parse(reply.body);
            for (const auto& item : page.at("items").as_array())
                all += std::string{item.at("subject").as_string()}.substr(0, 8) + " ";
            const auto* next = page.as_object().if_contains("nextCursor");
            if (!next) break;
            cursor = next->as_string();
        }
        return all;
    };
    EXPECT_EQ(list(""), "volume/v zone/fra zone/par zone/fra zone/ams ");
    EXPECT_EQ(list("limit=1"), list(""));
    EXPECT_EQ(list("operation=deleteZone"), "zone/fra ");
    EXPECT_EQ(list("subject=zone/fra"), "zone/fra zone/fra ");
    EXPECT_EQ(list("actor=key/acme"), "volume/v ");
    EXPECT_EQ(list("tenantID=acme"), "volume/v ");
    EXPECT_EQ(list("", "acme"), "volume/v ") << "of a tenant's key what is the tenant's";
    EXPECT_EQ(call("acme", "GET", "/v1/audit?tenantID=globex").status, 403);
    timers.advance(std::chrono::hours{1});
    line("", "DELETE", "/v1/zones/par");
    EXPECT_EQ(list("since=60"), "zone/par ");
    EXPECT_EQ(list("until=60&since=7200&operation=createZone"), "zone/par zone/fra zone/ams ");
    const auto wrong = call("", "GET", "/v1/audit?since=0&until=x");
    EXPECT_EQ(wrong.status, 400);
    EXPECT_EQ(json::parse(wrong.body).at("errors").as_array().size(), 2u) << wrong.body;
    EXPECT_EQ(call("", "GET", "/v1/audit?since=60&until=60").status, 400);
    EXPECT_EQ(call("", "GET", "/v1/audit?cursor=1.2.3.4").status, 400);
}

TEST_F(AuditTest, TellsATenantNotWhereAnOperatorIs) {
    desk().estate.api_keys.add({.id = "acme", .name = "own", .hash = "1", .tenant = "acme"});
    (void)commit();
    line("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})");
    line("", "DELETE", "/v1/volumes/data?tenantID=acme");
    for (AuditLine& kept : store.lines) kept.address = "203.0.113.7:5000", kept.client = "curl/8.1";
    const auto told = [&](const std::string& tenant) {
        std::string all;
        for (const auto& item : json::parse(call(tenant, "GET", "/v1/audit").body).at("items").as_array())
            all += std::string{item.at("actor").as_string()} + "@" +
                   std::string{item.at("address").as_string()} + " " +
                   std::string{item.at("client").as_string()} + ", ";
        return all;
    };
    EXPECT_EQ(told("acme"), "key/operator@ , key/acme@203.0.113.7:5000 curl/8.1, ");
    EXPECT_EQ(told(""), "key/operator@203.0.113.7:5000 curl/8.1, key/acme@203.0.113.7:5000 curl/8.1, ");
}

}  // namespace
}  // namespace hostler::master
