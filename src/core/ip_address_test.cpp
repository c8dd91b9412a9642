#include "core/ip_address.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

std::string read(std::string_view text) {
    const auto parsed = IpAddress::parse(text);
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
}

TEST(IpAddress, IsMadeOfBytes) {
    EXPECT_EQ(IpAddress::from_bytes("\xc0\x01\x02\x03").text(), "192.1.2.3");
    EXPECT_EQ(IpAddress::from_bytes(std::string(15, '\0') + '\1').text(), "[::1]");
    EXPECT_EQ(IpAddress::from_bytes(std::string(10, '\0') + "\xff\xff\xc0\x01\x02\x03").text(), "192.1.2.3");
}

TEST(IpNetwork, HoldsItsAddresses) {
    const auto holds = [](std::string_view network, std::string_view address) {
        return IpNetwork::parse(network).value().holds(IpAddress::parse(address).value());
    };
    EXPECT_TRUE(holds("10.0.0.0/8", "10.255.0.1"));
    EXPECT_FALSE(holds("10.0.0.0/8", "11.0.0.0"));
    EXPECT_TRUE(holds("10.9.9.9/8", "10.0.0.1")) << "bits behind the prefix mean nothing";
    EXPECT_TRUE(holds("10.0.0.128/25", "10.0.0.129"));
    EXPECT_FALSE(holds("10.0.0.128/25", "10.0.0.127"));
    EXPECT_TRUE(holds("0.0.0.0/0", "10.0.0.1"));
    EXPECT_FALSE(holds("0.0.0.0/0", "::1"));
    EXPECT_FALSE(holds("::/0", "10.0.0.1"));
    EXPECT_TRUE(holds("192.0.2.7", "192.0.2.7"));
    EXPECT_FALSE(holds("192.0.2.7", "192.0.2.6"));
    EXPECT_TRUE(holds("2001:db8::/33", "2001:db8:7fff::1"));
    EXPECT_FALSE(holds("2001:db8::/33", "2001:db8:8000::1"));
    for (const std::string_view wrong : {"", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8 ",
                                         "::/129", "proxy.example", "10.0.0.0:80", "/8"})
        EXPECT_FALSE(IpNetwork::parse(wrong)) << wrong;
}

}  // namespace
}  // namespace hostler
