#include "core/ip_address.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

std::string read(std::string_view text) {
    const auto parsed = ip_in(text);
    return parsed ? parsed->text() : "wrong";
}

TEST(IpAddress, IsReadWithAndWithoutItsPort) {
    for (const std::string_view text :
         {"192.0.2.1", "192.0.2.1:80", "::ffff:192.0.2.1", "[::ffff:192.0.2.1]:80"})
        EXPECT_EQ(read(text), "192.0.2.1") << text;
    for (const std::string_view text : {"2001:db8::1", "[2001:db8::1]", "[2001:db8:0::1]:80"})
        EXPECT_EQ(read(text), "[2001:db8::1]") << text;
    for (const std::string_view text :
         {"", "host", "192.0.2", "192.0.2.256", "[192.0.2.1]", "[2001:db8::1", "[2001:db8::1]80",
          "fe80::1%eth0", "[fe80::1%eth0]:80", "unix:/run/x", "192.0.2.1 "})
        EXPECT_EQ(read(text), "wrong") << text;
    EXPECT_FALSE(parse_ip(std::string_view{"192.0.2.1\0x", 11}));
}

TEST(IpRange, ContainsItsAddresses) {
    const auto contains = [](std::string_view range, std::string_view address) {
        return parse_ip_range(range).value().contains(parse_ip(address).value());
    };
    EXPECT_TRUE(contains("10.0.0.0/8", "10.255.0.1"));
    EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
    EXPECT_TRUE(contains("10.0.0.128/25", "10.0.0.129"));
    EXPECT_FALSE(contains("10.0.0.128/25", "10.0.0.127"));
    EXPECT_TRUE(contains("0.0.0.0/0", "10.0.0.1"));
    const IpRange of_an_interface{parse_ip("127.0.0.9").value(), 96 + 8};
    EXPECT_TRUE(of_an_interface.contains(parse_ip("127.0.0.1").value()));
    EXPECT_FALSE(parse_ip_range("127.0.0.9/8"));
    EXPECT_FALSE(contains("0.0.0.0/0", "::1"));
    EXPECT_TRUE(contains("192.0.2.7", "192.0.2.7"));
    EXPECT_FALSE(contains("192.0.2.7", "192.0.2.6"));
    EXPECT_TRUE(contains("2001:db8::/33", "2001:db8:7fff::1"));
    EXPECT_FALSE(contains("2001:db8::/33", "2001:db8:8000::1"));
}

}  // namespace
}  // namespace hostler
