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

TEST(AddressPool, RangesAreNumberedOneBehindTheOther) {
    const auto one = AddressPool::parse("10.208.0.0/12").value();
    const auto two = AddressPool::parse("10.208.0.0/12,100.64.0.0/10,192.168.7.0/24").value();
    EXPECT_EQ(two.size(), 4096u + 16384u + 1u);
    for (const std::uint32_t index : {0u, 300u, 4095u}) EXPECT_EQ(two.subnet(index), one.subnet(index));
    EXPECT_EQ(two.subnet(4096), "100.64.0.0/24");
    EXPECT_EQ(two.address(4096 + 257, 9), "100.65.1.9");
    EXPECT_EQ(two.address(4096 + 16383, 254), "100.127.255.254");
    EXPECT_EQ(two.subnet(4096 + 16384), "192.168.7.0/24");
    for (std::uint32_t index = 0; index < two.size(); index += 97) {
        const auto place = two.place_of(two.address(index, 17));
        ASSERT_TRUE(place) << index;
        EXPECT_EQ(place->index, index);
        EXPECT_EQ(place->place, 17);
    }
    for (const char* other :
         {"10.207.255.9", "10.224.0.9", "100.63.255.9", "100.128.0.9", "192.168.8.9", "x"})
        EXPECT_FALSE(two.place_of(other)) << other;
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
    for (const char* text :
         {"", "10.0.0.0", "10.0.0.0/7", "10.0.0.0/25", "10.0.0.256/24", "10.0.0.0/24x", "10.1.0.0/12",
          "10.0.0.1/24", "a.b.c.d/16", "10.0.0/16", ",", "10.0.0.0/16,", "10.0.0.0/16, 10.1.0.0/16",
          "10.0.0.0/12,10.4.0.0/16", "10.4.0.0/16,10.0.0.0/12", "10.0.0.0/16,10.0.0.0/16"})
        EXPECT_EQ(AddressPool::parse(text).error().code, Code::invalid) << text;
}

}  // namespace
}  // namespace hostler
