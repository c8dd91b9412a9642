#include "domain/policy/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hostler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Policy of_tenant(Policy policy) {
    policy.tenant = "acme";
    policy.id = Policy::id_of("acme");
    return policy;
}
Policy of_cloud(Policy policy) {
    policy.id = Policy::id_of("");
    return policy;
}

PolicyRequest all() {
    return {.specs = {{"specName", "h100-2"}},
            .zones = {{"zone", "lon"}},
            .images = {{"image", "ubuntu"}},
            .public_ports = {{"template.ports[1]", "8080"}},
            .share_links = {{"instance", ""}},
            .place = {"zone", ""},
            .run = {"maxRunSeconds", "7200"},
            .run_s = 7200};
}

std::vector<std::string> fields_of(const std::vector<Violation>& found) {
    std::vector<std::string> fields;
    for (const Violation& one : found) fields.push_back(one.asked.field);
    return fields;
}

TEST(Policies, AllowAllWithoutARule) {
    EXPECT_THAT(violations(all(), {}), IsEmpty());
    const Policy cloud = of_cloud({}), tenant = of_tenant({});
    EXPECT_THAT(violations(all(), {&cloud, &tenant}), IsEmpty());
    Terms terms;
    narrow(terms, {&cloud, &tenant});
    EXPECT_TRUE(terms.any());
    EXPECT_EQ(narrowed_by({&cloud, &tenant}), "");
    EXPECT_EQ(max_run_s({&cloud, &tenant}), 0);
}

TEST(Policies, NameEachRuleThatForbids) {
    const Policy tenant = of_tenant({.specs = {"cpu-*", "a100-1"},
                                     .zones = {"nj"},
                                     .images = {"registry.acme.com/*"},
                                     .max_run_s = 3600,
                                     .public_ports = false,
                                     .share_links = false});
    const auto found = violations(all(), {nullptr, &tenant});
    EXPECT_THAT(fields_of(found),
                ElementsAre("specName", "zone", "image", "maxRunSeconds", "template.ports[1]", "instance"));
    ASSERT_EQ(found.size(), 6U);
    EXPECT_EQ(found[0].sentence, "the policy of tenant acme allows specs cpu-*, a100-1, not h100-2");
    EXPECT_EQ(found[1].sentence, "the policy of tenant acme allows zones nj, not lon");
    EXPECT_EQ(found[2].sentence,
              "the policy of tenant acme allows images registry.acme.com/*, not docker.io/library/"
              "ubuntu:latest");
    EXPECT_EQ(found[3].sentence, "the policy of tenant acme allows runs of 3600 s at most, not 7200 s");
    EXPECT_EQ(found[4].sentence, "the policy of tenant acme allows no public ports, and port 8080 is public");
    EXPECT_EQ(found[5].sentence, "the policy of tenant acme allows no share links");
    for (const Violation& one : found) EXPECT_EQ(one.policy, "tenant-acme");
}

TEST(Policies, BothApply) {
    const Policy cloud = of_cloud({.zones = {"lon", "nj"}, .max_run_s = 9000, .share_links = false});
    const Policy tenant = of_tenant({.zones = {"nj", "sf"}, .trust = Trust::trusted, .max_run_s = 3600});
    const Policies both{&cloud, &tenant};
    EXPECT_EQ(max_run_s(both), 3600);
    EXPECT_FALSE(allows_share_links(both));
    EXPECT_TRUE(allows_public_ports(both));
    EXPECT_TRUE(allows_zone(both, "nj"));
    EXPECT_FALSE(allows_zone(both, "lon"));
    EXPECT_FALSE(allows_zone(both, "sf"));
    EXPECT_FALSE(allows_trust(both, Trust::community));
    Terms terms;
    narrow(terms, both);
    EXPECT_THAT(terms.zones, ElementsAre("nj"));
    EXPECT_EQ(terms.trust, Trust::trusted);
    EXPECT_EQ(
        narrowed_by(both),
        "the cloud's policy allows only zones lon, nj; the policy of tenant acme allows only zones nj, sf "
        "and trusted hosts");
    const auto found = violations(all(), both);
    EXPECT_THAT(fields_of(found), ElementsAre("instance", "zone", "maxRunSeconds"));
}

TEST(Policies, ThatShareNoZoneAllowNone) {
    const Policy cloud = of_cloud({.zones = {"lon"}}), tenant = of_tenant({.zones = {"nj"}});
    const Policies both{&cloud, &tenant};
    Terms terms;
    narrow(terms, both);
    ASSERT_EQ(terms.zones.size(), 1U) << "an empty list would be any zone";
    EXPECT_FALSE(allows_zone(both, terms.zones[0]));
    const auto found = violations({.place = {"zone", ""}}, both);
    ASSERT_THAT(fields_of(found), ElementsAre("zone"));
    EXPECT_EQ(found[0].sentence,
              "the cloud's policy allows zones lon, and the policy of tenant acme allows none of them");
}

TEST(Policies, OneThatIsDamagedAllowsNothing) {
    const Policies damaged{.unreadable = true};
    EXPECT_EQ(violations(all(), damaged).size(), 1U);
    EXPECT_FALSE(allows_spec(damaged, "small"));
    EXPECT_FALSE(allows_share_links(damaged));
    Terms terms;
    narrow(terms, damaged);
    EXPECT_FALSE(terms.any());
}

// What two policies allow is what each of them allows, and narrow() leaves just that.
TEST(Policies, NarrowToWhatBothAllow) {
    std::mt19937 dice{7};
    const std::vector<std::string> zones{"a", "b", "c", "d"};
    const auto some = [&] {
        std::vector<std::string> chosen;
        for (const auto& zone : zones)
            if (dice() % 2 == 0) chosen.push_back(zone);
        return chosen;
    };
    const auto trust = [&] { return dice() % 2 == 0 ? Trust::community : Trust::trusted; };
    for (int i = 0; i < 2000; ++i) {
        const Policy cloud = of_cloud({.zones = some(), .trust = trust()});
        const Policy tenant = of_tenant({.zones = some(), .trust = trust()});
        const Policies both{&cloud, &tenant};
        Terms terms;
        terms.zones = some();
        const auto asked = terms.zones;
        narrow(terms, both);
        for (const auto& zone : zones) {
            const bool wanted = asked.empty() || std::ranges::count(asked, zone) > 0;
            const bool left = terms.zones.empty() || std::ranges::count(terms.zones, zone) > 0;
            EXPECT_EQ(left, wanted && allows_zone(both, zone));
            EXPECT_EQ(allows_zone(both, zone),
                      allows_zone({&cloud, nullptr}, zone) && allows_zone({nullptr, &tenant}, zone));
        }
        for (const Trust has : {Trust::community, Trust::trusted})
            EXPECT_EQ(has >= terms.trust, allows_trust(both, has));
        const PolicyRequest request{.zones = {{"zone", zones[dice() % zones.size()]}}};
        EXPECT_EQ(violations(request, both).empty(), allows_zone(both, request.zones[0].value));
    }
}

}  // namespace
}  // namespace hostler
