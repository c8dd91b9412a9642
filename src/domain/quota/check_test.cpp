#include "domain/quota/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "domain/quota/resource.h"

namespace hostler {
namespace {

Quota of_tenant(std::int64_t limit, const std::string& resource = "gpus") {
    return {.id = "acme", .tenant = "acme", .limits = {{resource, limit}}};
}
Quota of_project(const std::string& project, std::int64_t limit, std::int64_t guaranteed) {
    return {.id = "acme/" + project,
            .tenant = "acme",
            .project = project,
            .limits = {{"gpus", limit, guaranteed}}};
}
Amounts gpus(std::int64_t count) { return count == 0 ? Amounts{} : Amounts{{"gpus", count}}; }

TEST(QuotaCheck, ALimitIsReachedAndNotExceeded) {
    const Quota quota = of_tenant(8);
    EXPECT_FALSE(check_quota({{&quota, gpus(6)}}, {}, {"lab", gpus(2)}));
    const auto no = check_quota({{&quota, gpus(7)}}, {}, {"lab", gpus(2)});
    ASSERT_TRUE(no);
    EXPECT_EQ(no->quota, &quota);
    EXPECT_EQ(no->resource, "gpus");
    EXPECT_EQ(no->rule, QuotaRule::limit);
    EXPECT_EQ(std::tuple(no->used, no->asked, no->limit), std::tuple(7, 2, 8));
    EXPECT_FALSE(check_quota({{&quota, gpus(9)}}, {}, {"lab", {{"cpu", 1000}}})) << "no GPU is asked for";
    EXPECT_TRUE(check_quota({{&quota, gpus(9)}}, {}, {"lab", gpus(1)})) << "the limit was lowered";
    const Quota none = of_tenant(0);
    EXPECT_TRUE(check_quota({{&none, {}}}, {}, {"lab", gpus(1)}));
    EXPECT_FALSE(check_quota({}, {}, {"lab", gpus(1000)})) << "without a quota all is allowed";
}

TEST(QuotaCheck, AClassCountsTheModelsWithItsWords) {
    const Amounts used{
        {"gpus", 6}, {"gpus:a100 sxm4 80gb", 1}, {"gpus:h100 pcie 80gb", 2}, {"gpus:h100 sxm5 80gb", 3}};
    EXPECT_EQ(amount_of(used, "gpus"), 6);
    EXPECT_EQ(amount_of(used, "gpus:H100"), 5);
    EXPECT_EQ(amount_of(used, "gpus:H100-SXM5"), 3);
    EXPECT_EQ(amount_of(used, "gpus:80gb"), 6);
    EXPECT_EQ(amount_of(used, "gpus:H10"), 0) << "a part of a word is no word";
    EXPECT_EQ(amount_of(used, "gpus:B200"), 0);
    const Quota quota = of_tenant(6, "gpus:H100");
    EXPECT_FALSE(check_quota({{&quota, used}}, {}, {"lab", {{"gpus:a100 sxm4 80gb", 5}}}));
    EXPECT_FALSE(check_quota({{&quota, used}}, {}, {"lab", {{"gpus:h100 pcie 80gb", 1}}}));
    EXPECT_EQ(check_quota({{&quota, used}}, {}, {"lab", {{"gpus:h100 pcie 80gb", 2}}})->resource,
              "gpus:H100");
    EXPECT_EQ(resource_key("gpus:H100  SXM5_80GB"), "gpus:h100 sxm5 80gb");
    EXPECT_EQ(resource_key("memory"), "memory");
}

TEST(QuotaCheck, WhatIsGuaranteedToOthersIsNotBorrowed) {
    const Quota tenant = of_tenant(10), lab = of_project("lab", 10, 4), web = of_project("web", 10, 0);
    // lab uses 1 of its 4: three more are kept for it.
    const std::vector<QuotaUse> projects{{&lab, gpus(1)}};
    const auto asks = [&](const std::string& project, std::int64_t used, std::int64_t count) {
        return check_quota({{&tenant, gpus(used)}}, projects, {project, gpus(count)});
    };
    EXPECT_FALSE(asks("web", 6, 1));
    const auto no = asks("web", 6, 2);
    ASSERT_TRUE(no);
    EXPECT_EQ(no->rule, QuotaRule::guarantees);
    EXPECT_EQ(no->guaranteed, 3);
    EXPECT_FALSE(asks("lab", 7, 3)) << "it is its own";
    EXPECT_TRUE(asks("lab", 7, 4)) << "and no more";
    EXPECT_FALSE(asks("lab", 9, 1)) << "others had borrowed before it was guaranteed";
    EXPECT_EQ(asks("lab", 9, 2)->rule, QuotaRule::limit);
    EXPECT_EQ(guaranteed_of({&lab, &web}, "gpus"), 4);
    EXPECT_EQ(guaranteed_of({&lab, &web}, "cpu"), 0);
}

// Against one that adds up projects one by one: an ask fits where the sum of what each project uses, or is
// guaranteed if that is more, stays within the tenant's limit.
TEST(QuotaCheck, AgreesWithASlowModel) {
    std::mt19937 dice{7};
    const auto below = [&](int n) { return static_cast<std::int64_t>(dice() % static_cast<unsigned>(n)); };
    int taken = 0, refused = 0, borrowed = 0;
    for (int round = 0; round < 300; ++round) {
        const Quota tenant = of_tenant(4 + below(12));
        std::vector<Quota> quotas;
        std::vector<std::int64_t> used(4, 0);
        std::int64_t left = tenant.limits[0].limit;
        for (int i = 0; i < 4; ++i) {
            const std::int64_t kept = below(2) ? std::min<std::int64_t>(left, below(5)) : 0;
            left -= kept;
            quotas.push_back(of_project("p" + std::to_string(i), kept + below(10), kept));
        }
        for (int step = 0; step < 60; ++step) {
            const auto at = static_cast<std::size_t>(below(4));
            if (below(3) == 0) {  // Something ends.
                used[at] -= std::min<std::int64_t>(used[at], 1 + below(3));
                continue;
            }
            const std::int64_t asked = 1 + below(3);
            std::int64_t sum = 0, whole = 0;
            for (std::size_t i = 0; i < 4; ++i) {
                const std::int64_t after = used[i] + (i == at ? asked : 0);
                sum += std::max(after, quotas[i].limits[0].guaranteed);
                whole += used[i];
            }
            const bool fits = used[at] + asked <= quotas[at].limits[0].limit && sum <= tenant.limits[0].limit;
            std::vector<QuotaUse> projects;
            for (std::size_t i = 0; i < 4; ++i)
                if (quotas[i].limits[0].guaranteed > 0) projects.push_back({&quotas[i], gpus(used[i])});
            const auto no = check_quota({{&tenant, gpus(whole)}, {&quotas[at], gpus(used[at])}}, projects,
                                        {quotas[at].project, gpus(asked)});
            ASSERT_EQ(!no, fits) << "round " << round << ", step " << step;
            (no ? refused : taken) += 1;
            if (no && no->rule == QuotaRule::guarantees) ++borrowed;
            if (!no) used[at] += asked;
        }
    }
    EXPECT_GT(taken, 1000);
    EXPECT_GT(refused, 1000);
    EXPECT_GT(borrowed, 100) << "some for the guarantees of others alone";
}

TEST(QuotaResource, NamesAndAmountsAreChecked) {
    for (const char* good : {"gpus", "gpus:H100 SXM5 80GB", "cpu", "memory", "volumes", "instances"})
        EXPECT_EQ(wrong_resource(good), "") << good;
    for (const std::string& bad : {std::string{"gpu"}, std::string{"gpus:"}, std::string{"gpus: -"},
                                   std::string{"gpus:MODEL\n"}, std::string(200, 'x'), std::string{}})
        EXPECT_NE(wrong_resource(bad), "") << bad;
    EXPECT_EQ(parse_amount("cpu", "500m"), 500);
    EXPECT_EQ(parse_amount("memory", "1Gi"), std::int64_t{1} << 30);
    EXPECT_EQ(parse_amount("instances", "0"), 0);
    EXPECT_FALSE(parse_amount("gpus", "500m")) << "whole GPUs";
    EXPECT_FALSE(parse_amount("gpus", "-1"));
    EXPECT_FALSE(parse_amount("memory", "1Ei")) << "sums stay within 64 bits";
    EXPECT_EQ(amount_text("memory", std::int64_t{512} << 30), "512Gi");
    EXPECT_EQ(amount_in_words("gpus", 1), "1 GPU");
    EXPECT_EQ(amount_in_words("gpus:H100", 4), "4 GPUs of model H100");
    EXPECT_EQ(amount_in_words("cpu", 2500), "2500m CPUs");
}

TEST(QuotaAmounts, AreAddedAndTakenAway) {
    Amounts amounts{{"gpus", 2}};
    add(amounts, {{"cpu", 4000}, {"gpus", 1}});
    EXPECT_EQ(amounts, (Amounts{{"cpu", 4000}, {"gpus", 3}}));
    subtract(amounts, {{"cpu", 4000}, {"gpus", 1}});
    EXPECT_EQ(amounts, gpus(2)) << "no zero is left behind";
    EXPECT_EQ(Quota::id_of("acme", "lab", ""), "acme/lab");
    EXPECT_EQ(Quota::id_of("acme", "", "user/u-1"), "acme/user/u-1");
}

}  // namespace
}  // namespace hostler
