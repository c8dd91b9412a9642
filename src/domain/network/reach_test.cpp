#include "domain/network/reach.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(TenantReach, RangesAndSingleAddressesAreRead) {
    const auto reach = parse_tenant_reach({"10.20.0.0/16", "192.168.7.9", "169.254.169.123/32"});
    ASSERT_TRUE(reach) << reach.error().message;
    ASSERT_EQ(reach->size(), 3u);
    EXPECT_EQ(to_text((*reach)[0]), "10.20.0.0/16");
    EXPECT_EQ(to_text((*reach)[1]), "192.168.7.9/32");
    EXPECT_TRUE(parse_tenant_reach({})->empty());
}

TEST(TenantReach, TellsWhichRangeIsWrong) {
    for (const std::string text : {"", "10.0.0.1/8", "10.0.0.0/33", "fd00::/8", "lan", "0.0.0.0/0",
                                   "0.0.0.0/8", "127.0.0.1", "224.0.0.1", "255.255.255.255", "10.0.0.0/7"}) {
        const auto refused = parse_tenant_reach({"10.0.0.0/8", text});
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().code, Code::invalid);
        EXPECT_TRUE(refused.error().message.contains("'" + text + "'")) << refused.error().message;
    }
    const auto many = parse_tenant_reach(std::vector<std::string>(tenant_reach_max + 1, "10.0.0.1"));
    ASSERT_FALSE(many);
    EXPECT_TRUE(many.error().message.contains("tenant_reach_max")) << many.error().message;
}

}  // namespace
}  // namespace hostler
