#include "roles/gateway/stays.h"

#include <gtest/gtest.h>

#include <memory>

namespace hostler::gateway {
namespace {

const Question mine{"hk_a", "t-1", ""};
const Question session{"hs_a", "t-1", "80-i-1"};

TEST(Stays, EndWithTheirCredentialAndNoOther) {
    Stays stays;
    int cuts = 0;
    Stays::Stay one{stays, mine}, two{stays, mine}, other{stays, session};
    for (auto* stay : {&one, &two, &other}) stay->on_end([&] { ++cuts; });
    EXPECT_EQ(stays.questions(), (std::vector<Question>{mine, session}));
    stays.end(mine);
    EXPECT_EQ(cuts, 2);
    EXPECT_TRUE(one.ended());
    EXPECT_TRUE(two.ended());
    EXPECT_FALSE(other.ended());
    EXPECT_EQ(stays.questions(), (std::vector<Question>{session})) << "those that ended are not asked about";
    stays.end(mine);
    EXPECT_EQ(cuts, 2) << "once";
    stays.end("hs_a");
    EXPECT_EQ(cuts, 3);
    EXPECT_TRUE(other.ended());
}

TEST(Stays, OneThatEndedBeforeItCouldBeCutIsCutAtOnce) {
    Stays stays;
    Stays::Stay one{stays, mine};
    stays.end("hk_a");
    int cuts = 0;
    one.on_end([&] { ++cuts; });
    EXPECT_EQ(cuts, 1);
}

TEST(Stays, TheCutMayTakeThemAllAway) {
    Stays stays;
    auto one = std::make_unique<Stays::Stay>(stays, mine);
    auto two = std::make_unique<Stays::Stay>(stays, mine);
    int cuts = 0;
    const auto go = [&] {
        ++cuts;
        one.reset();
        two.reset();
    };
    one->on_end(go);
    two->on_end(go);
    stays.end(mine);
    EXPECT_EQ(cuts, 1);
    EXPECT_EQ(stays.size(), 0U);
}

}  // namespace
}  // namespace hostler::gateway
