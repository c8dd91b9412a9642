// Lines about what was refused, and how many there are at most.
#include "roles/master/http/denials.h"

#include <gtest/gtest.h>

#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;

struct DenialsTest : testing::ApiRig {
    DenialsTest() { timers.advance(std::chrono::seconds{1}); }
    // A minute later, as the sweep does it.
    void pass_minute() {
        timers.advance(std::chrono::minutes{1});
        Desk& now = desk();
        now.live.part<Denials>().tell_further(now);
        (void)commit();
    }
    void sign_in(const std::string& account, const std::string& address, SignInResult result) {
        audit_sign_in(desk(), account, address, "Mozilla/5.0", result, "wrong_password");
        (void)commit();
    }
    const Denials::Count& count() { return desk().live.part<Denials>().count(); }
    std::size_t of(std::string_view result) const {
        return static_cast<std::size_t>(std::ranges::count(store.lines, result, &AuditLine::result));
    }
};

TEST_F(DenialsTest, ACallThatAKnownCallerMayNotMakeIsALine) {
    EXPECT_EQ(call("acme", "POST", "/v1/hosts/a/cordon").status, 403);
    ASSERT_EQ(store.lines.size(), 1u);
    const AuditLine told = store.lines.back();
    EXPECT_EQ(std::tie(told.actor, told.operation, told.service, told.subject, told.tenant, told.result,
                       told.reason),
              std::tuple("key/acme", "cordonHost", "host", "host/a", "acme", "denied", "permission_missing"));
    EXPECT_EQ(told.status, 403);
    EXPECT_EQ(told.time, timers.wall());
    EXPECT_EQ(told.chain.position, 1u);
    const json::value after = json::parse(told.after);
    EXPECT_FALSE(after.at("permission").as_string().empty());
    EXPECT_TRUE(std::string{after.at("message").as_string()}.contains("permission"));
    EXPECT_EQ(told.before, "");

    // The handler's refusals, and those of what only looks.
    EXPECT_EQ(call("acme", "GET", "/v1/audit?tenantID=globex").status, 403);
    ASSERT_EQ(store.lines.size(), 2u);
    EXPECT_EQ(std::tie(store.lines.back().operation, store.lines.back().reason, store.lines.back().subject),
              std::tuple("listAudit", "tenant_differs", ""));
    EXPECT_EQ(count().calls, 2u);
    EXPECT_EQ(json::parse(call("acme", "GET", "/v1/audit?result=denied").body).at("items").as_array().size(),
              2u)
        << "the tenant sees its own";
}

TEST_F(DenialsTest, WhatIsRefusedOtherwiseIsNone) {
    EXPECT_EQ(call("acme", "GET", "/v1/instances/none").status, 404);
    EXPECT_EQ(call("acme", "GET", "/v1/audit?since=x").status, 400);
    EXPECT_EQ(call("", "POST", "/stocks", stocks(99)).status, 409);
    EXPECT_TRUE(store.lines.empty());
    EXPECT_EQ(count().calls, 0u);
}

TEST_F(DenialsTest, OfOneCallerOnlySoManyInAMinuteAndThenTheirNumber) {
    settings.denial_lines_max = 3;
    for (int i = 0; i < 8; ++i) EXPECT_EQ(call("acme", "DELETE", "/v1/zones/nj").status, 403);
    EXPECT_EQ(call("globex", "DELETE", "/v1/zones/nj").status, 403);
    EXPECT_EQ(of("denied"), 4u);
    EXPECT_EQ(std::tie(count().calls, count().left_out), std::tuple(9u, 5u));
    pass_minute();
    ASSERT_EQ(of("denied"), 5u);
    const AuditLine told = store.lines.back();
    EXPECT_EQ(std::tie(told.actor, told.operation, told.subject, told.tenant, told.reason),
              std::tuple("key/acme", "furtherRefusals", "", "acme", "further_refusals"));
    EXPECT_EQ(json::parse(told.after).at("count"), 5);
    pass_minute();
    EXPECT_EQ(of("denied"), 5u) << "that is told once";
    EXPECT_EQ(call("acme", "DELETE", "/v1/zones/nj").status, 403);
    EXPECT_EQ(of("denied"), 6u) << "another minute";
}

TEST_F(DenialsTest, OfAllCallersOnlySoManyInAMinute) {
    const auto all = static_cast<std::size_t>(Denials::lines_all_max);
    for (std::size_t i = 0; i < 2 * all; ++i)
        EXPECT_EQ(call(fmt::format("t{}", i), "DELETE", "/v1/zones/nj").status, 403);
    EXPECT_EQ(of("denied"), all);
    pass_minute();
    ASSERT_EQ(of("denied"), all + 1);
    EXPECT_EQ(json::parse(store.lines.back().after).at("count").to_number<std::size_t>(), all);
    EXPECT_EQ(store.lines.back().actor, "master");
}

TEST_F(DenialsTest, SignInsAreCountedByAccountAndAddress) {
    settings.denial_lines_max = 2;
    for (int port = 1; port <= 5; ++port)
        sign_in("ann@acme.test", fmt::format("203.0.113.7:{}", port), SignInResult::failed);
    EXPECT_EQ(of("failed"), 2u);
    sign_in("ann@acme.test", "203.0.113.8:1", SignInResult::failed);
    sign_in("bob@acme.test", "203.0.113.7:1", SignInResult::denied);
    sign_in("ann@acme.test", "203.0.113.7:9", SignInResult::ok);
    EXPECT_EQ(std::tuple(of("failed"), of("denied"), of("ok")), std::tuple(3u, 1u, 1u));
    const AuditLine told = store.lines.front();
    EXPECT_EQ(std::tie(told.actor, told.address, told.operation, told.subject, told.client, told.service,
                       told.reason),
              std::tuple("account/ann@acme.test", "203.0.113.7:1", "signIn", "account/ann@acme.test",
                         "Mozilla/5.0", "account", "wrong_password"));
    EXPECT_EQ(std::tuple(store.lines[0].status, store.lines[3].status, store.lines[4].status),
              std::tuple(401, 403, 200));
    EXPECT_EQ(std::tie(count().sign_ins_failed, count().left_out), std::tuple(7u, 3u));
    pass_minute();
    EXPECT_EQ(json::parse(store.lines.back().after).at("count"), 3);
    EXPECT_EQ(store.lines.back().result, "failed");
}

TEST_F(DenialsTest, TextsOfOthersAreBoundedAndSafe) {
    sign_in(std::string(5000, 'a') + "\xff", "203.0.113.7:1", SignInResult::failed);
    sign_in("a\x1b[2J\xff\nb", "203.0.113.7:1", SignInResult::failed);
    EXPECT_LE(store.lines[0].actor.size(), 300u);
    EXPECT_EQ(store.lines[1].subject, "account/a\\x1b[2J\\xff b");
    EXPECT_EQ(call("acme", "DELETE", "/v1/zones/" + std::string(2000, 'z')).status, 403);
    EXPECT_LE(store.lines[2].subject.size(), 300u);
}

TEST_F(DenialsTest, AMasterThatOnlyReadsRefusesWithoutALine) {
    term().only_read({Code::exhausted, "the disk is full"});
    EXPECT_EQ(call("acme", "DELETE", "/v1/zones/nj").status, 403);
    EXPECT_TRUE(store.begun.size() == 1 && store.lines.empty());
}

}  // namespace
}  // namespace hostler::master
