// Access point and gateway renew their certificates while they run, with real TLS.
#include "rig.h"

namespace hostler::rig {
namespace {

constexpr auto nothing = [](auto&, auto&) {};

TEST(Renewal, HappensOverTheLinkThatIsThereAndUnderALiveTunnel) {
    Cloud cloud{nothing, -11 * 24h, 30 * 24h};  // More than a third is over.
    Agent host{cloud, "h-1", cloud.access->addresses().uplink};
    cloud.add_route("open", "h-1", true);
    EXPECT_EQ(cloud.fetch(cloud.request("open")).status, 200);
    ASSERT_TRUE(cloud.eventually([&] { return cloud.renewals.size() == 2; }));
    std::set<std::string> who;
    for (const std::string& certificate : cloud.renewals) {
        const auto facts = cloud.authority->check(certificate).value();
        who.insert(facts.identity.text());
        EXPECT_GT(facts.not_after, cloud.timers->wall() + 29 * 24h);
    }
    EXPECT_EQ(who, (std::set<std::string>{"access/nj-1", "gateway/gw-1"}));
    EXPECT_EQ(cloud.master.links(), 2) << "the links went on";
    EXPECT_EQ(cloud.fetch(cloud.request("open")).status, 200);
    EXPECT_EQ(host.tunnels, 1) << "and so did the tunnel";
    Agent next{cloud, "h-2", cloud.access->addresses().uplink};
    cloud.add_route("other", "h-2", true);
    EXPECT_EQ(cloud.fetch(cloud.request("other")).status, 200) << "the next are made with the new ones";
}

TEST(Renewal, WhoWasAwayForTooLongRenewsFirst) {
    Cloud cloud{nothing, -31 * 24h, 30 * 24h};  // They have expired.
    EXPECT_EQ(cloud.renewals.size(), 2U);
    Agent host{cloud, "h-1", cloud.access->addresses().uplink};
    cloud.add_route("open", "h-1", true);
    EXPECT_EQ(cloud.fetch(cloud.request("open")).status, 200);
}

}  // namespace
}  // namespace hostler::rig
