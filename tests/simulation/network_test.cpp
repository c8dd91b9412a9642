// The ways between hosts and access points are measured when hosts come, and again on the schedule.
#include <gtest/gtest.h>

#include <algorithm>

#include "cloud.h"

namespace hostler::simulation {
namespace {

// When each way was measured, by host and access point.
std::map<std::pair<std::string, std::string>, std::int64_t> measured_ways(Cloud& cloud) {
    std::map<std::pair<std::string, std::string>, std::int64_t> all;
    for (const auto& [id, host] : cloud.term()->look().estate.hosts.all())
        for (const AccessSpeed& way : host.network)
            if (way.figures.down_kbit_s && way.figures.up_kbit_s) all[{id, way.access}] = way.measured_at;
    return all;
}

TEST(Network, EveryWayIsMeasuredOnTheScheduleWhateverDies) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(seed);
        Mistakes settings;
        settings.master_settings = [](master::Settings& of) { of.network_every = std::chrono::minutes{20}; };
        Cloud cloud{seed, std::move(settings)};
        ASSERT_TRUE(cloud.begin({"acme"})) << cloud.unsettled();
        // One whose link was in use is asked again ten minutes later.
        ASSERT_TRUE(cloud.world.run_until([&] { return measured_ways(cloud).size() == 4; }, 15min))
            << "two hosts, each with two access points";
        cloud.world.run(2s);  // It is in the store, too.
        const auto first = measured_ways(cloud);
        cloud.master().crash();
        cloud.world.run(2s);
        cloud.master().boot();
        cloud.world.run(2min);
        EXPECT_EQ(measured_ways(cloud), first) << "who leads next knows of it";
        const auto all_again = [&] {
            return std::ranges::all_of(measured_ways(cloud),
                                       [&](const auto& way) { return way.second > first.at(way.first); });
        };
        EXPECT_TRUE(cloud.world.run_until(all_again, 40min));
        EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
    }
}

}  // namespace
}  // namespace hostler::simulation
