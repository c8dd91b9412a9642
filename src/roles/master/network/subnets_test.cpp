#include "roles/master/network/subnets.h"

#include <gtest/gtest.h>

#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;

TEST(Subnets, TheSecondRangeIsUsedWhenTheFirstIsFull) {
    DeskRig rig{"10.0.0.0/24,10.1.0.0/24"};
    rig.host("a");
    ASSERT_TRUE(rig.stock(3));
    const std::string first = rig.started("web", "acme"), second = rig.started("web", "globex");
    EXPECT_TRUE(rig.instance(first).address.starts_with("10.0.0.")) << rig.instance(first).address;
    EXPECT_TRUE(rig.instance(second).address.starts_with("10.1.0.")) << rig.instance(second).address;
    const auto third = rig.start(DeskRig::request("web", "initech"));
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().reason, "no_subnet");
}

TEST(Subnets, TheDefaultPoolServesALargeCloudAndKeepsEarlierAddresses) {
    constexpr std::uint32_t hosts = 2'000, tenants_of_host = 8;
    const auto pool = AddressPool::parse(Settings{}.network_pool).value();
    EXPECT_GE(pool.size(), hosts * tenants_of_host * 5 / 4);
    const auto before = AddressPool::parse("10.208.0.0/12").value();
    for (std::uint32_t index = 0; index < before.size(); ++index)
        ASSERT_EQ(pool.subnet(index), before.subnet(index));
}

}  // namespace
}  // namespace hostler::master
