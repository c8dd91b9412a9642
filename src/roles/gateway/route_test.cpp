#include "roles/gateway/route.h"

#include <gtest/gtest.h>

namespace hostler::gateway {
namespace {

Route route(std::string name, std::uint16_t own_port = 0, State state = State::running) {
    return {.name = std::move(name), .own_port = own_port, .state = state};
}

TEST(Routes, AreReplacedAsAWholeAndChangedOneByOne) {
    RouteTable table{8};
    EXPECT_FALSE(table.complete());
    table.change({route("a")}, {});
    EXPECT_FALSE(table.complete());
    table.replace({route("b"), route("c")});
    EXPECT_TRUE(table.complete());
    EXPECT_FALSE(table.find("a"));
    table.change({route("b", 0, State::stopped)}, {"c"});
    EXPECT_EQ(table.find("b")->state, State::stopped);
    EXPECT_FALSE(table.find("c"));
}

TEST(Routes, PortsOfTheirOwnFollowTheirRoute) {
    RouteTable table{8};
    table.replace({route("a", 9001), route("b", 9002)});
    EXPECT_EQ(table.on_port(9001)->name, "a");
    table.change({route("a", 9003)}, {"b"});
    EXPECT_FALSE(table.on_port(9001));
    EXPECT_FALSE(table.on_port(9002));
    EXPECT_EQ(table.on_port(9003)->name, "a");
    // A port that changed hands is not lost when its former owner goes.
    table.change({route("c", 9003)}, {});
    table.change({}, {"a"});
    EXPECT_EQ(table.on_port(9003)->name, "c");
}

TEST(Routes, AreBoundedAndKnownOnesStillChange) {
    RouteTable table{2};
    EXPECT_EQ(table.replace({route("a"), route("b"), route("c")}), 1U);
    EXPECT_EQ(table.change({route("a", 0, State::failed)}, {}), 0U);
    EXPECT_EQ(table.find("a")->state, State::failed);
    EXPECT_FALSE(table.find("c"));
}

TEST(Routes, AStateOfALaterReleaseIsNotReachableYet) {
    EXPECT_EQ(state_of("running"), State::running);
    EXPECT_EQ(state_of("hibernating"), State::init);
}

}  // namespace
}  // namespace hostler::gateway
