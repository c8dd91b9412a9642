#include "roles/gateway/verdicts.h"

#include <gtest/gtest.h>

namespace hostler::gateway {
namespace {

using std::chrono::seconds;

constexpr Instant start{seconds{50}};
const Verdict yes{.known = true, .allowed = true, .principal = "key"};

TEST(Verdicts, AreKeptForAsLongAsTheyMay) {
    Verdicts verdicts{8};
    verdicts.keep({"hk_a", "t-1", ""}, yes, start, seconds{10});
    EXPECT_EQ(verdicts.find({"hk_a", "t-1", ""}, start + seconds{9}), yes);
    EXPECT_FALSE(verdicts.find({"hk_a", "t-1", ""}, start + seconds{10}));
    EXPECT_EQ(verdicts.size(), 0U);
}

TEST(Verdicts, ForOneTenantSayNothingAboutAnother) {
    Verdicts verdicts{8};
    verdicts.keep({"hk_a", "t-1", ""}, yes, start, seconds{10});
    EXPECT_FALSE(verdicts.find({"hk_a", "t-2", ""}, start));
    EXPECT_FALSE(verdicts.find({"hk_b", "t-1", ""}, start));
    verdicts.keep({"hk_a", "t-1", ""}, {.known = true}, start, seconds{10});
    EXPECT_FALSE(verdicts.find({"hk_a", "t-1", ""}, start)->allowed) << "the later word counts";
    verdicts.forget("hk_a");
    EXPECT_FALSE(verdicts.find({"hk_a", "t-1", ""}, start));
}

TEST(Verdicts, OfASessionAreForItsRouteAndForgottenForAllOfThem) {
    Verdicts verdicts{8};
    verdicts.keep({"hs_a", "t-1", "80-i-1"}, yes, start, seconds{10});
    EXPECT_FALSE(verdicts.find({"hs_a", "t-1", "80-i-2"}, start));
    EXPECT_FALSE(verdicts.find({"hs_a", "t-1", ""}, start));
    verdicts.keep({"hs_a", "t-1", "80-i-2"}, {.known = false}, start, seconds{10});
    verdicts.keep({"hs_b", "t-1", "80-i-1"}, yes, start, seconds{10});
    verdicts.forget("hs_a");
    EXPECT_FALSE(verdicts.find({"hs_a", "t-1", "80-i-1"}, start));
    EXPECT_FALSE(verdicts.find({"hs_a", "t-1", "80-i-2"}, start));
    EXPECT_TRUE(verdicts.find({"hs_b", "t-1", "80-i-1"}, start));
}

TEST(Verdicts, OfAnAddressAreForItAloneAndForgottenForAllOfThem) {
    const Question here{"hk_a", "t-1", "", "", "203.0.113.7"}, there{"hk_a", "t-1", "", "", "198.51.100.9"};
    Verdicts verdicts{8};
    verdicts.keep(here, yes, start, seconds{10});
    verdicts.keep(there, {.known = false}, start, seconds{10});
    EXPECT_EQ(verdicts.find(here, start), yes);
    EXPECT_FALSE(verdicts.find(there, start)->known);
    EXPECT_FALSE(verdicts.find(here.from_anywhere(), start));
    verdicts.forget(there);
    EXPECT_FALSE(verdicts.find(there, start));
    EXPECT_EQ(verdicts.find(here, start), yes);
    verdicts.forget("hk_a");
    EXPECT_EQ(verdicts.size(), 0U);
}

TEST(Verdicts, AreBoundedAndTheIdleGoFirst) {
    Verdicts verdicts{2};
    verdicts.keep({"a", "t", ""}, yes, start, seconds{10});
    verdicts.keep({"b", "t", ""}, yes, start, seconds{10});
    EXPECT_TRUE(verdicts.find({"a", "t", ""}, start));
    verdicts.keep({"c", "t", ""}, yes, start, seconds{10});
    EXPECT_TRUE(verdicts.find({"a", "t", ""}, start));
    EXPECT_FALSE(verdicts.find({"b", "t", ""}, start));
    EXPECT_EQ(verdicts.size(), 2U);
}

}  // namespace
}  // namespace hostler::gateway
