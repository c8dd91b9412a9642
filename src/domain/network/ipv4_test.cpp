#include "domain/network/ipv4.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(Ipv4, AddressesAreFourNumbers) {
    EXPECT_EQ(parse_ipv4("10.201.3.1"), 0x0ac90301U);
    EXPECT_EQ(parse_ipv4("0.0.0.0"), 0U);
    EXPECT_EQ(parse_ipv4("255.255.255.255"), 0xffffffffU);
    for (const char* text :
         {"", "10", "10.0.0", "10.0.0.0.0", "10.0.0.256", "10.0.0.-1", "10.0.0.+1", "10.0.0.01", " 10.0.0.1",
          "10.0.0.1 ", "10..0.1", "10.0.0.", "a.b.c.d", "10.0.0.99999999999", "::1"})
        EXPECT_FALSE(parse_ipv4(text)) << text;
}

TEST(Ipv4, SubnetsHaveNothingBehindTheirPrefix) {
    const auto subnet = parse_ipv4_subnet("10.201.3.0/24");
    ASSERT_TRUE(subnet);
    EXPECT_EQ(subnet->bits, 24);
    EXPECT_TRUE(subnet->contains(*parse_ipv4("10.201.3.255")));
    EXPECT_FALSE(subnet->contains(*parse_ipv4("10.201.4.0")));
    EXPECT_TRUE(parse_ipv4_subnet("0.0.0.0/0")->contains(*parse_ipv4("200.1.2.3")));
    EXPECT_FALSE(parse_ipv4_subnet("10.0.0.1/32")->contains(*parse_ipv4("10.0.0.2")));
    for (const char* text : {"", "/", "10.0.0.0", "10.0.0.0/", "/24", "10.0.0.0/33", "10.0.0.1/24",
                             "10.0.0.0/24x", "10.0.0.0/-1", "10.0.0.0/024", "10.0.0/16", "fd00::/64"})
        EXPECT_FALSE(parse_ipv4_subnet(text)) << text;
}

TEST(Ipv4, SubnetsOverlapWhenOneHoldsTheOther) {
    const auto at = [](const char* text) { return parse_ipv4_subnet(text).value(); };
    EXPECT_TRUE(at("10.1.0.0/16").overlaps(at("10.1.3.0/24")));
    EXPECT_TRUE(at("10.1.3.0/24").overlaps(at("10.1.0.0/16")));
    EXPECT_TRUE(at("10.1.3.0/24").overlaps(at("10.1.3.0/24")));
    EXPECT_FALSE(at("10.1.3.0/25").overlaps(at("10.1.3.128/25")));
}

}  // namespace
}  // namespace hostler
