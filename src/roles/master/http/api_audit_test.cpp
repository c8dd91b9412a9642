// The lines that writes leave.
#include <gtest/gtest.h>

#include "roles/master/http/audit_seals.h"
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

TEST_F(AuditTest, ALineHasZoneServiceAndResultAndIsInTheChain) {
    AuditLine told = line("", "POST", "/v1/hosts/a/cordon");
    EXPECT_EQ(std::tie(told.zone, told.service, told.result, told.reason, told.project),
              std::tuple("nj", "host", "ok", "", ""));
    line("", "POST", "/v1/hosts/a/uncordon");
    told = line("", "POST", "/v1/zones", R"({"name":"fra","location":"Frankfurt"})");
    EXPECT_EQ(std::tie(told.zone, told.service), std::tuple("fra", "zone"));
    told = line("", "POST", "/v1/host-tokens", R"({"zone":"nj"})");
    EXPECT_EQ(told.zone, "nj");
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    told = line("acme", "POST", "/gpu-instances", start("one"));
    EXPECT_EQ(std::tie(told.zone, told.service), std::tuple("nj", "instance")) << "where its host is";
    ChainCheck check{digest, {}};
    check.expect_head(store.anchors.head);
    for (const AuditLine& kept : store.lines) check.add(kept);
    check.end();
    EXPECT_EQ(check.found(), 0u);
    EXPECT_EQ(check.chained(), store.lines.size());
}

TEST_F(AuditTest, IsListedByResultAndProjectAndInTheOrderOfTheChain) {
    for (const char* zone : {"ams", "fra", "par"})
        line("", "POST", "/v1/zones", fmt::format(R"({{"name":"{}"}})", zone));
    EXPECT_EQ(call("acme", "DELETE", "/v1/zones/fra").status, 403);
    store.lines[1].project = "p";
    const auto list = [&](const std::string& query) {
        std::string all, cursor;
        do {
            const auto reply =
                call("", "GET", "/v1/audit?" + query + (cursor.empty() ? "" : "&cursor=" + cursor));
            EXPECT_EQ(reply.status, 200) << reply.body;
            const json::value page = json::parse(reply.body);
            for (const auto& item : page.at("items").as_array())
                all += fmt::format("{}:{} ", item.at("position").to_number<int>(),
                                   std::string{item.at("result").as_string()});
            const auto* next = page.as_object().if_contains("nextCursor");
            cursor = next ? std::string{next->as_string()} : "";
        } while (!cursor.empty());
        return all;
    };
    EXPECT_EQ(list("sort=written"), "1:ok 2:ok 3:ok 4:denied ");
    EXPECT_EQ(list("sort=written&limit=1"), list("sort=written"));
    EXPECT_EQ(list("sort=newest&limit=3"), "4:denied 3:ok 2:ok 1:ok ");
    EXPECT_EQ(list("result=denied"), "4:denied ");
    EXPECT_EQ(list("result=ok&sort=written"), "1:ok 2:ok 3:ok ");
    EXPECT_EQ(list("project=p"), "2:ok ");
    EXPECT_EQ(call("", "GET", "/v1/audit?result=perhaps&sort=x").status, 400);
}

TEST_F(AuditTest, IsVerifiedPartByPart) {
    for (int i = 0; i < 7; ++i) line("", "POST", "/v1/zones", fmt::format(R"({{"name":"z{}"}})", i));
    seal_audit(term(), desk());
    (void)commit();
    ASSERT_EQ(store.anchors.seals.size(), 1u);
    const auto verify = [&] {
        std::string after, said;
        std::int64_t records = 0, wrong = 0;
        do {
            const auto reply =
                call("", "GET", "/v1/audit/verification" + (after.empty() ? "" : "?after=" + after));
            EXPECT_EQ(reply.status, 200) << reply.body;
            const json::value part = json::parse(reply.body);
            records += part.at("records").to_number<std::int64_t>();
            wrong += part.at("wrong").to_number<std::int64_t>();
            for (const auto& one : part.at("findings").as_array())
                said += fmt::format(" {} {}.", one.at("position").to_number<int>(),
                                    std::string{one.at("message").as_string()});
            const auto* next = part.as_object().if_contains("next");
            after = next ? std::string{next->as_string()} : "";
            for (std::size_t at = 0; (at = after.find_first_of("# ,:+&\"{}", at)) != after.npos; ++at)
                after.replace(at, 1, fmt::format("%{:02x}", after[at]));
        } while (!after.empty());
        return fmt::format("{} {}{}", records, wrong, said);
    };
    EXPECT_TRUE(verify().starts_with("7 0")) << verify();
    const AuditLine kept = store.lines[3];
    store.lines[3].actor = "key/evil";
    EXPECT_EQ(verify(), "7 1 4 its contents are not those that its hash is of.");
    store.lines.erase(store.lines.begin() + 3);
    EXPECT_EQ(verify(), "6 1 5 the line at position 4 before it is missing.");
    store.lines.insert(store.lines.begin() + 3, kept);
    store.anchors.seals[0].signature = "forged";
    EXPECT_TRUE(verify().contains("7 1 7 its seal cannot be believed")) << verify();
    store.anchors.seals.clear();
    store.lines.pop_back();
    EXPECT_TRUE(verify().starts_with("6 1 7 it was the last line")) << verify();

    for (const std::string target : {"/v1/audit/verification", "/v1/audit/seals", "/v1/audit/chain"})
        EXPECT_EQ(call("acme", "GET", target).status, 403) << target;
    EXPECT_EQ(call("", "GET", "/v1/audit/verification?after=1.2").status, 400);
    EXPECT_EQ(call("", "GET", "/v1/audit/verification?after=x.2.3.y").status, 400);
}

TEST_F(AuditTest, ShowsItsSealsAndEnds) {
    for (int i = 0; i < 3; ++i) {
        line("", "POST", "/v1/zones", fmt::format(R"({{"name":"z{}"}})", i));
        timers.advance(std::chrono::hours{1});
        seal_audit(term(), desk());
        (void)commit();
    }
    std::string positions, cursor;
    do {
        const auto reply =
            call("", "GET", "/v1/audit/seals?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor));
        ASSERT_EQ(reply.status, 200) << reply.body;
        const json::value page = json::parse(reply.body);
        for (const auto& item : page.at("items").as_array()) {
            positions += fmt::format("{} ", item.at("position").to_number<int>());
            EXPECT_EQ(item.at("authority"), "f00d");
        }
        const auto* next = page.as_object().if_contains("nextCursor");
        cursor = next ? std::string{next->as_string()} : "";
    } while (!cursor.empty());
    EXPECT_EQ(positions, "1 2 3 ");
    const json::value chain = json::parse(call("", "GET", "/v1/audit/chain").body);
    EXPECT_EQ(chain.at("headPosition"), 3);
    EXPECT_EQ(chain.at("basePosition"), 0);
}

}  // namespace
}  // namespace hostler::master
