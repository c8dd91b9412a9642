#include "roles/agent/tenant_ids.h"

#include <gtest/gtest.h>

#include <set>

#include "core/testing/run.h"
#include "roles/agent/testing/fakes.h"

namespace hostler::agent {
namespace {

const EngineFacts chosen{.user_namespaces = UserNamespaces::chosen};

class Ids : public ::testing::Test {
protected:
    IdRange of(TenantIds& from, std::string tenant, EngineFacts engine = chosen) {
        const auto range = hostler::testing::run(loop, from.of(std::move(tenant), std::move(engine)));
        EXPECT_TRUE(range);
        return range.value_or(IdRange{});
    }
    Loop loop;
    testing::FakeJournal journal;
    TenantIds ids{journal};
};

TEST_F(Ids, EachTenantHasARangeOfItsOwnAndKeepsIt) {
    const auto acme = of(ids, "acme"), other = of(ids, "other");
    EXPECT_TRUE(acme.mapped());
    EXPECT_NE(acme, other);
    EXPECT_GE(other.first_user, acme.first_user + IdRange::size) << "they do not overlap";
    EXPECT_EQ(acme.first_user, acme.first_group);
    EXPECT_EQ(of(ids, "acme"), acme);
    TenantIds next{journal};  // After a crash, others first.
    const auto third = of(next, "third");
    EXPECT_NE(third, acme);
    EXPECT_NE(third, other);
    EXPECT_EQ(of(next, "other"), other);
    EXPECT_EQ(of(next, "acme"), acme);
}

TEST_F(Ids, TheEngineDecides) {
    EXPECT_FALSE(of(ids, "acme", {}).mapped());
    const EngineFacts shared{.user_namespaces = UserNamespaces::shared, .shared_ids = {100'000, 200'000}};
    EXPECT_EQ(of(ids, "acme", shared), shared.shared_ids);
    EXPECT_EQ(of(ids, "other", shared), shared.shared_ids);
    EXPECT_EQ(journal.writes, 0);
}

TEST_F(Ids, WhatIsNotDurableIsNotGiven) {
    journal.full = true;
    EXPECT_FALSE(hostler::testing::run(loop, ids.of("acme", chosen)));
    EXPECT_FALSE(hostler::testing::run(loop, ids.of("acme", chosen))) << "nor the second time";
    journal.full = false;
    const auto acme = of(ids, "acme");
    TenantIds next{journal};
    EXPECT_EQ(of(next, "acme"), acme);
}

TEST_F(Ids, MoreTenantsThanRangesShareThem) {
    std::set<std::uint32_t> given;
    for (std::uint32_t i = 0; i < TenantIds::tenants_max; ++i)
        given.insert(of(ids, "t-" + std::to_string(i)).first_user);
    EXPECT_EQ(given.size(), TenantIds::tenants_max);
    EXPECT_EQ(*given.begin(), TenantIds::first);
    EXPECT_LE(*given.rbegin(), 0x7fff0000u) << "no careless program takes it for negative";
    EXPECT_TRUE(given.contains(of(ids, "one-more").first_user));
    EXPECT_TRUE(given.contains(of(ids, "and-another").first_user));
    EXPECT_NE(of(ids, "one-more"), of(ids, "and-another"));
}

}  // namespace
}  // namespace hostler::agent
