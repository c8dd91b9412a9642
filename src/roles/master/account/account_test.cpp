// Service accounts and their keys, over HTTP.
#include "roles/master/testing/people_rig.h"

namespace hostler::master::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct ServiceAccounts : PeopleTest {
    ServiceAccounts() {
        desk().estate.api_keys.add({.id = "k-1", .name = "ci", .hash = "#hk_acme", .tenant = "acme"});
        (void)commit();
    }
    std::string account(const std::string& name = "ci", const std::string& tenant = "acme") {
        const Reply made =
            post("/v1/service-accounts", fmt::format(R"({{"name":"{}","tenantID":"{}"}})", name, tenant));
        EXPECT_EQ(made.status, 201) << made.text;
        return made.at("id");
    }
    Reply key(const std::string& account, const std::string& more = "", std::string_view secret = root) {
        return post(fmt::format("/v1/service-accounts/{}/keys", account),
                    fmt::format(R"({{"name":"deploy"{}}})", more), secret);
    }
};

TEST_F(ServiceAccounts, AreMadeRenamedAndDeleted) {
    const std::string id = account();
    EXPECT_EQ(get("/v1/service-accounts/" + id).at("name"), "ci");
    EXPECT_EQ(get("/v1/service-accounts/ci").at("id"), id);
    EXPECT_EQ(post("/v1/service-accounts", R"({"name":"ci","tenantID":"acme"})").code(), "account_exists");
    account("ci", "other");
    EXPECT_EQ(get("/v1/service-accounts/ci").code(), "ambiguous");
    EXPECT_EQ(get("/v1/service-accounts/ci?tenantID=acme").at("id"), id);
    EXPECT_EQ(get("/v1/service-accounts", "hk_acme").items(), 1u);
    EXPECT_EQ(post("/v1/service-accounts", R"({"name":"x"})", "hk_acme").status, 403);
    EXPECT_EQ(post("/v1/service-accounts", R"({"name":"x"})").status, 400);
    EXPECT_EQ(call("PATCH", "/v1/service-accounts/" + id, R"({"name":"cd"})", root).at("name"), "cd");
    const std::string secret = key(id).at("secret");
    EXPECT_EQ(whoami(secret), 200);
    EXPECT_EQ(call("DELETE", "/v1/service-accounts/" + id, "", root).status, 200);
    EXPECT_EQ(whoami(secret), 401);
    EXPECT_THAT(get("/v1/service-accounts/c").text, HasSubstr("account_not_found"));
}

TEST_F(ServiceAccounts, AKeyStandsForItsAccount) {
    const std::string id = account();
    const Reply made = key(id);
    ASSERT_EQ(made.status, 201) << made.text;
    EXPECT_TRUE(made.at("secret").starts_with("hk_"));
    const Reply who = get("/v1/whoami", made.at("secret"));
    EXPECT_EQ(who.at("actor"), "account/" + id);
    EXPECT_EQ(who.at("tenantID"), "acme");
    const Reply list = get(fmt::format("/v1/service-accounts/{}/keys", id));
    ASSERT_EQ(list.items(), 1u) << list.text;
    EXPECT_EQ(list.body.at("items").as_array()[0].at("id").as_string(), made.at("id"));
}

TEST_F(ServiceAccounts, DisablingTheAccountStopsItsKeys) {
    const std::string id = account();
    const std::string one = key(id).at("secret"), two = key(id).at("secret");
    EXPECT_EQ(post(fmt::format("/v1/service-accounts/{}/disable", id), "").at("state"), "disabled");
    EXPECT_EQ(whoami(one), 401);
    EXPECT_EQ(whoami(two), 401);
    EXPECT_EQ(post(fmt::format("/v1/service-accounts/{}/enable", id), "").at("state"), "enabled");
    EXPECT_EQ(whoami(one), 200);
}

TEST_F(ServiceAccounts, AKeyIsSwitchedOffAndOn) {
    const Reply made = key(account());
    const std::string path = "/v1/api-keys/" + made.at("id");
    EXPECT_EQ(post(path + "/disable", "").at("state"), "disabled");
    EXPECT_EQ(whoami(made.at("secret")), 401);
    EXPECT_EQ(post(path + "/rotate", "{}").code(), "key_disabled");
    EXPECT_EQ(post(path + "/enable", "").at("state"), "enabled");
    EXPECT_EQ(whoami(made.at("secret")), 200);
    // A tenant's key, too; it cannot do so itself.
    EXPECT_EQ(post("/v1/api-keys/k-1/disable", "", "hk_acme").status, 403);
    EXPECT_EQ(post("/v1/api-keys/k-1/disable", "").status, 200);
    EXPECT_EQ(whoami("hk_acme"), 401);
}

TEST_F(ServiceAccounts, ARotatedKeyEndsAfterItsGrace) {
    const std::string id = account();
    const Reply old = key(id, R"(,"permissions":["instance.read"],"projects":["web"])");
    const Reply next = post(fmt::format("/v1/api-keys/{}/rotate", old.at("id")), R"({"graceSeconds":600})");
    ASSERT_EQ(next.status, 201) << next.text;
    EXPECT_EQ(next.at("replaces"), old.at("id"));
    EXPECT_EQ(whoami(old.at("secret")), 200);
    EXPECT_EQ(whoami(next.at("secret")), 200);
    const ApiKey& row = desk().estate.api_keys.at(next.at("id"));
    EXPECT_EQ(row.permissions, std::vector<std::string>{"instance.read"});
    EXPECT_EQ(row.projects, std::vector<std::string>{"web"});
    EXPECT_EQ(row.account, id);
    timers.advance(601s);
    EXPECT_EQ(whoami(old.at("secret")), 401);
    EXPECT_EQ(whoami(next.at("secret")), 200);
    const Reply now = post(fmt::format("/v1/api-keys/{}/rotate", next.at("id")), R"({"graceSeconds":0})");
    EXPECT_EQ(whoami(next.at("secret")), 401);
    EXPECT_EQ(whoami(now.at("secret")), 200);
    EXPECT_EQ(post(fmt::format("/v1/api-keys/{}/rotate", now.at("id")), R"({"graceSeconds":86401})").status,
              400);
}

TEST_F(ServiceAccounts, AKeyWithALifeIsFollowedByOneOfTheSameLife) {
    const Reply old = key(account(), R"(,"ttlSeconds":7200)");
    timers.advance(3600s);
    const Reply next = post(fmt::format("/v1/api-keys/{}/rotate", old.at("id")), "{}");
    timers.advance(7199s);
    EXPECT_EQ(whoami(next.at("secret")), 200);
    EXPECT_EQ(whoami(old.at("secret")), 401);
    timers.advance(2s);
    EXPECT_EQ(whoami(next.at("secret")), 401);
}

TEST_F(ServiceAccounts, WhatAKeyIsNarrowedToIsChecked) {
    const std::string id = account();
    const Reply wrong = key(
        id,
        R"(,"permissions":["instance.raed","volume.read"],"projects":["Web"],"addresses":["10.0.0.1/8"])");
    EXPECT_EQ(wrong.status, 400);
    EXPECT_THAT(wrong.text, HasSubstr("permissions[0]"));
    EXPECT_THAT(wrong.text, HasSubstr("did you mean instance.read?"));
    EXPECT_THAT(wrong.text, HasSubstr("projects[0]"));
    EXPECT_THAT(wrong.text, HasSubstr("addresses[0]"));
}

TEST_F(ServiceAccounts, AKeyForSomeAddressesIsUnknownElsewhere) {
    const Reply made = key(account(), R"(,"addresses":["203.0.113.0/24"])");
    EXPECT_EQ(whoami(made.at("secret")), 200);
    address = "198.51.100.1:5000";
    EXPECT_EQ(whoami(made.at("secret")), 401);
}

TEST_F(ServiceAccounts, OneAccountHasSoManyKeys) {
    const std::string id = account();
    for (std::size_t i = 0; i < keys_account_max; ++i) ASSERT_EQ(key(id).status, 201);
    EXPECT_EQ(key(id).code(), "quota_exceeded");
}

}  // namespace
}  // namespace hostler::master::testing
