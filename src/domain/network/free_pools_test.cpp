#include "domain/network/free_pools.h"

#include <gmock/gmock.h>

namespace hostler {
namespace {

std::vector<std::string> texts(const std::vector<std::string>& used) {
    std::vector<Ipv4Subnet> networks;
    for (const auto& text : used) networks.push_back(parse_ipv4_subnet(text).value());
    std::vector<std::string> pools;
    for (const auto& pool : free_pools(networks)) pools.push_back(to_text(pool));
    return pools;
}

TEST(FreePools, NetworksInUseAreLeftOut) {
    EXPECT_EQ(texts({}).size(), 16u);
    const auto some = texts({"10.208.4.0/24", "10.222.0.0/15", "192.168.0.0/16", "10.215.255.255/32"});
    EXPECT_EQ(some.size(), 12u);
    for (const auto* taken : {"10.208.0.0/16", "10.215.0.0/16", "10.222.0.0/16", "10.223.0.0/16"})
        EXPECT_THAT(some, ::testing::Not(::testing::Contains(taken)));
}

TEST(FreePools, ARouteToEverywhereIsNoNetworkInUse) {
    EXPECT_EQ(texts({"0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1"}).size(), 16u);
}

TEST(FreePools, OtherPrivateAddressesServeWhereTheUsualAreInUse) {
    EXPECT_EQ(texts({"10.0.0.0/8"}).size(), 8u);
    EXPECT_EQ(texts({"10.0.0.0/8"}).front(), "172.24.0.0/16");
    EXPECT_THAT(texts({"10.0.0.0/8", "172.16.0.0/12"}), ::testing::IsEmpty());
}

}  // namespace
}  // namespace hostler
