#include "core/client_address.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(ClientOf, IsAnAddressOrANetworkOfIPv6) {
    EXPECT_EQ(client_of("203.0.113.7:4411"), "203.0.113.7");
    EXPECT_EQ(client_of("[2001:db8:1:2:3:4:5:6]:443"), "[2001:db8:1:2::]");
    EXPECT_EQ(client_of("[2001:db8:1:2:ffff::9]:80"), client_of("[2001:db8:1:2::1]:81"));
    EXPECT_NE(client_of("[2001:db8:1:3::1]:80"), client_of("[2001:db8:1:2::1]:80"));
    EXPECT_EQ(client_of("[::ffff:203.0.113.7]:80"), "203.0.113.7");
    EXPECT_EQ(client_of("memory:1"), "memory");
    EXPECT_EQ(client_of(""), "");
}

}  // namespace
}  // namespace hostler
