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

TEST(ClientAddress, AUserAgentIsBoundedAndSafeToShow) {
    EXPECT_EQ(safe_user_agent("hostler/0.1.0"), "hostler/0.1.0");
    EXPECT_EQ(safe_user_agent(""), "");
    EXPECT_EQ(safe_user_agent("a\x1b[2J\xe2\x80\xae\xff"), R"(a\x1b[2J\u202e\xff)");
    EXPECT_EQ(safe_user_agent(std::string(5000, 'a')).size(), user_agent_bytes_max);
    const std::string cut = safe_user_agent(std::string(user_agent_bytes_max - 1, 'a') + "\xc3\xa4");
    EXPECT_EQ(cut, std::string(user_agent_bytes_max - 1, 'a')) << "no half of a character";
}

}  // namespace
}  // namespace hostler
