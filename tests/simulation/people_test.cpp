// People and programs whose rights end while the storm lasts, and each checker's deliberate mistake.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mistakes.h"
#include "seeds.h"

namespace hostler::simulation {

namespace {

TEST(People, WhatIsTakenFromThemIsTriedByThem) {
    StormReport sum;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const StormReport report = ride({.seed = seed, .weather = Weather::calm});
        EXPECT_FALSE(report.found.any()) << report.found.text() << replay_command(seed);
        sum.taken += report.taken;
        sum.refused += report.refused;
        sum.watched += report.watched;
        sum.cut += report.cut;
    }
    fmt::print("{} things taken, {} calls refused for it, {} watches, {} of them cut\n", sum.taken,
               sum.refused, sum.watched, sum.cut);
    EXPECT_GT(sum.taken, 10);
    EXPECT_GT(sum.refused, 10);
    EXPECT_GT(sum.watched, 10);
    EXPECT_GT(sum.cut, 0);
}

// A call whose caller was known when it began, and is not when all of it is there.
TEST(People, ACallThatIsWholeAfterTheEndDoesNothing) {
    Cloud cloud{1};
    ASSERT_TRUE(cloud.begin({"red-team"}));
    const auto term = cloud.term();
    const auto& of_hash = term->look().estate.api_keys.by().hash;
    const ApiKey* key = of_hash.first(cloud.hash(cloud.keys.at("red-team")));
    ASSERT_TRUE(key);
    const std::string disable = "/v1/api-keys/" + key->id + "/disable";
    const std::string body = R"({"name":"red-team-vol-1","size":"1Gi"})";
    auto dialled = cloud.world.ask(cloud.world.net.dial("master:8080", 5s));
    ASSERT_TRUE(dialled);
    const StreamPtr stream = std::move(*dialled);
    const std::string head = fmt::format(
        "POST /v1/volumes HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {}\r\n"
        "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        cloud.keys.at("red-team"), body.size());
    const auto write = [&](std::string bytes) {
        return cloud.world.ask([](Stream& into, std::string all) -> Task<bool> {
            CO_TRY(co_await write_all(into, all));
            co_return true;
        }(*stream, std::move(bytes)));
    };
    ASSERT_TRUE(write(head));
    cloud.world.run(1s);
    const auto disabled = cloud.world.ask(cloud.call(std::string{Cloud::operator_key}, "POST", disable));
    ASSERT_TRUE(disabled && disabled->status == 200);
    cloud.world.run(1s);
    ASSERT_TRUE(write(body));
    const auto answer = cloud.world.ask([](Stream& from) -> Task<std::string> {
        std::array<char, 4096> piece{};
        const std::size_t size = CO_TRY(co_await read_some(from, piece));
        co_return std::string{piece.data(), size};
    }(*stream));
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->starts_with("HTTP/1.1 401")) << *answer;
    EXPECT_TRUE(cloud.term()->look().estate.volumes.all().empty());
    cloud.end();
}

// ── Mistakes

template <class Table>
void enable(Table& table) {
    for (const auto& [id, row] : table.all())
        if (row.disabled_at != 0) return void(table.edit(std::string{id}).disabled_at = 0);
}

// Looks for one that some checker words like this.
std::uint64_t seeds_until_ended(const std::string& saying,
                                const std::function<void(master::Desk&, sim::Dice&)>& rule) {
    const auto mistakes = [&](std::uint64_t seed) {
        Mistakes made = wrong_rule(seed, 1, rule);
        made.only = Invariant::ended;
        return made;
    };
    return seeds_until(Invariant::ended, Weather::calm, mistakes, 1, saying);
}

// Sessions that are taken for those of another user: they do not end with their own.
void mix_up_sessions(master::Desk& desk, sim::Dice&) {
    for (const auto& [hash, login] : desk.estate.logins.all()) {
        const User* own = desk.estate.users.find(login.user);
        const User* other = any_of(desk.estate.users, [&](const User& user) {
            return own && user.tenant == own->tenant && user.login.starts_with("ann@");
        });
        if (other && other != own) return void(desk.estate.logins.edit(std::string{hash}).user = other->id);
    }
}

TEST(Mistakes, ADisabledUserWhoseSessionStillWorks) {
    EXPECT_NE(seeds_until_ended("has ended, and GET", mix_up_sessions), 0u);
}

TEST(Mistakes, ADisabledTenantWhosePeopleSignIn) {
    const auto rule = [](master::Desk& desk, sim::Dice&) { enable(desk.estate.tenants); };
    EXPECT_NE(seeds_until_ended("has ended, and signs in", rule), 0u);
}

TEST(Mistakes, AWatchThatOutlivesItsCredential) {
    EXPECT_NE(seeds_until_ended("its watch is still open", mix_up_sessions), 0u);
}

// Somebody who is disabled does something all the same.
TEST(Mistakes, ADeedOfSomebodyWhoIsDisabled) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        for (const auto& [id, user] : desk.estate.users.all())
            if (user.disabled_at != 0)
                desk.estate.audit({.time = desk.estate.time(),
                                   .actor = "user/" + id,
                                   .operation = "createVolume",
                                   .subject = "volume/v-1",
                                   .tenant = user.tenant,
                                   .status = 201,
                                   .service = "volume",
                                   .result = "ok"});
    };
    EXPECT_NE(seeds_until_ended("the audit says", rule), 0u);
}

// A role of one project that reaches the whole tenant.
TEST(Mistakes, AProjectsMemberWhoIsShownTheWholeTenant) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        for (const auto& [id, grant] : desk.estate.grants.all())
            if (grant.at == ScopeKind::project)
                return void(desk.estate.grants.edit(std::string{id}).at = ScopeKind::tenant);
    };
    const auto mistakes = [&](std::uint64_t seed) {
        Mistakes made = wrong_rule(seed, 1, rule);
        made.only = Invariant::tenancy;
        return made;
    };
    EXPECT_NE(seeds_until(Invariant::tenancy, Weather::calm, mistakes, 1, "cid@"), 0u);
}

// A role that counts in a tenant that did not give it.
TEST(Mistakes, AnAnswerWithWhatIsAnotherTenants) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        for (const auto& [id, grant] : desk.estate.grants.all())
            if (grant.tenant == "red-team" && grant.at == ScopeKind::tenant && grant.role == "member")
                return void(desk.estate.grants.edit(std::string{id}).tenant = "blue-team");
    };
    const auto mistakes = [&](std::uint64_t seed) {
        Mistakes made = wrong_rule(seed, 1, rule);
        made.only = Invariant::tenancy;
        return made;
    };
    EXPECT_NE(seeds_until(Invariant::tenancy, Weather::calm, mistakes, 1, "was told of"), 0u);
}

}  // namespace

}  // namespace hostler::simulation
