#include "domain/network/outside.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

bool outside(std::string_view text) { return is_public(parse_ip(text).value()); }

TEST(Outside, TheWorldsAddressesArePublic) {
    for (const auto* text : {"1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.0",
                             "172.15.0.1", "172.32.0.1", "192.167.1.1", "198.17.0.1", "223.255.255.255",
                             "2606:4700::1111", "2a00:1450:4001::200e", "2001:4860:4860::8888"})
        EXPECT_TRUE(outside(text)) << text;
}

TEST(Outside, WhatIsInsideIsNot) {
    for (const auto* text : {"0.0.0.0",
                             "0.1.2.3",
                             "10.0.0.1",
                             "100.64.0.1",
                             "100.127.255.255",
                             "127.0.0.1",
                             "127.9.9.9",
                             "169.254.169.254",
                             "172.16.0.1",
                             "172.31.255.255",
                             "192.0.0.192",
                             "192.168.1.1",
                             "198.18.0.1",
                             "198.19.9.9",
                             "203.0.113.7",
                             "224.0.0.1",
                             "239.1.1.1",
                             "255.255.255.255",
                             "::",
                             "::1",
                             "fe80::1",
                             "fec0::1",
                             "fc00::1",
                             "fd00:ec2::254",
                             "ff02::1",
                             "2001:db8::1",
                             "2001::1",
                             "2002:7f00:1::",
                             "64:ff9b::7f00:1",
                             "::ffff:127.0.0.1",
                             "::ffff:10.0.0.1",
                             "::127.0.0.1",
                             "3fff::1",
                             "4000::1"})
        EXPECT_FALSE(outside(text)) << text;
    EXPECT_TRUE(outside("::ffff:8.8.8.8"));
}

TEST(Outside, ARangeHoldsWhatBeginsAsItDoes) {
    const IpRange ten = parse_ip_range("10.1.0.0/16").value();
    EXPECT_TRUE(ten.contains(parse_ip("10.1.255.255").value()));
    EXPECT_TRUE(ten.contains(parse_ip("::ffff:10.1.0.1").value()));
    EXPECT_FALSE(ten.contains(parse_ip("10.2.0.0").value()));
    EXPECT_FALSE(ten.contains(parse_ip("fd00::1").value()));
    EXPECT_TRUE(parse_ip_range("0.0.0.0/0").value().contains(parse_ip("9.9.9.9").value()));
    EXPECT_FALSE(parse_ip_range("0.0.0.0/0").value().contains(parse_ip("2001:db8::1").value()));
    EXPECT_TRUE(parse_ip_range("fd00::/8").value().contains(parse_ip("fdff::1").value()));
    EXPECT_TRUE(parse_ip_range("10.0.0.7").value().contains(parse_ip("10.0.0.7").value()));
    EXPECT_FALSE(parse_ip_range("10.0.0.7").value().contains(parse_ip("10.0.0.6").value()));
    for (const auto* text : {"", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/8x", "10.0/8",
                             "fd00::/129", "fd00::1/8", "host", "10.0.0.0/-1"})
        EXPECT_FALSE(parse_ip_range(text)) << text;
}

}  // namespace
}  // namespace hostler
