// The cloud without faults: what storms are compared with.
#include "cloud.h"

#include <gtest/gtest.h>

namespace hostler::simulation {

namespace {

TEST(Calm, ACloudBegins) {
    Cloud cloud{1};
    EXPECT_TRUE(cloud.begin({"red-team", "blue-team"})) << cloud.unsettled();
    cloud.world.run(1min);
    EXPECT_EQ(cloud.unsettled(), "");
    EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
    EXPECT_EQ(cloud.keys.size(), 2u);
}

}  // namespace

}  // namespace hostler::simulation
