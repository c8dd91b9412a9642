#include "domain/network/network.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(AddressPool, SubnetsAndTheirAddresses) {
    const auto pool = AddressPool::parse("10.208.0.0/12").value();
    EXPECT_EQ(pool.size(), 4096u);
    EXPECT_EQ(pool.subnet(0), "10.208.0.0/24");
    EXPECT_EQ(pool.subnet(300), "10.209.44.0/24");
    EXPECT_EQ(pool.subnet(4095), "10.223.255.0/24");
    EXPECT_EQ(pool.address(300, 1), "10.209.44.1");
    EXPECT_EQ(pool.address(4095, 254), "10.223.255.254");
    EXPECT_EQ(AddressPool::parse("192.168.7.0/24").value().size(), 1u);
    EXPECT_EQ(AddressPool::parse("10.0.0.0/8").value().size(), 65536u);
}

TEST(AddressPool, GivesTheLowestThatIsFree) {
    const auto pool = AddressPool::parse("10.0.0.0/22").value();
    EXPECT_EQ(pool.pick(0).value(), 0u);
    EXPECT_EQ(pool.pick(3).value(), 3u);
    const auto full = pool.pick(4);
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, Code::exhausted);
    EXPECT_EQ(full.error().reason, "no_subnet");
}

TEST(AddressPool, RefusesWhatIsNoRange) {
    for (const char* text : {"", "10.0.0.0", "10.0.0.0/7", "10.0.0.0/25", "10.0.0.256/24", "10.0.0.0/24x",
                             "10.1.0.0/12", "10.0.0.1/24", "a.b.c.d/16", "10.0.0/16"})
        EXPECT_EQ(AddressPool::parse(text).error().code, Code::invalid) << text;
}

}  // namespace
}  // namespace hostler
