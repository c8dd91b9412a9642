// Images in advance, while masters, agents and engines die under it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cloud.h"
#include "roles/master/stock/images.h"
#include "seeds.h"

namespace hostler::simulation {

namespace {

int put(Cloud& cloud, const std::string& method, const std::string& target, const std::string& body) {
    const auto answer = cloud.world.ask(cloud.call(std::string{Cloud::operator_key}, method, target, body));
    return answer ? answer->status : 0;
}

class Advance : public ::testing::TestWithParam<std::uint64_t> {
protected:
    void begin() {
        ASSERT_TRUE(cloud.begin({"red-team"})) << cloud.unsettled();
        ASSERT_EQ(put(cloud, "POST", "/stocks",
                      R"({"number":4,"operationID":"s","specName":"one","cpu":"8","memory":"32Gi",)"
                      R"("gpuType":"H100 SXM5 80GB","gpuNum":1})"),
                  200);
        ASSERT_EQ(put(cloud, "PUT", "/v1/stocks/one/images",
                      R"({"images":["demo:1","demo:2","demo:3","nobody-has:1"]})"),
                  200);
    }
    // Both hosts have what there is to be had, and the rest is said to have failed.
    bool settled() {
        const auto now = cloud.term();
        if (!now) return false;
        const auto all = master::prepared_images(now->look(), "one");
        if (all.size() != 4) return false;
        for (int i = 0; i < 3; ++i)
            if (all[i].hosts != 2 || all[i].present != 2) return false;
        return all[3].present == 0 && all[3].failed + all[3].pulling == 2;
    }
    Cloud cloud{GetParam()};
};

TEST_P(Advance, EveryHostOfTheStockHasThemWhoeverDies) {
    begin();
    sim::Dice dice = cloud.world.dice.fork("images");
    for (int round = 0; round < 6; ++round) {
        cloud.world.run(std::chrono::milliseconds{static_cast<std::int64_t>(dice.below(4000))});
        const std::string victim = dice.chance(0.4) ? "master" : cloud.hosts[dice.below(cloud.hosts.size())];
        cloud.world.machine(victim).crash(dice.chance(0.5) ? Death::kill : Death::power);
        cloud.world.run(std::chrono::milliseconds{static_cast<std::int64_t>(dice.below(3000))});
        if (!cloud.world.machine(victim).up()) cloud.world.machine(victim).boot();
        if (round == 3)
            for (const auto& host : cloud.hosts) cloud.world.machine(host).engine.remove_image("demo:2");
    }
    EXPECT_TRUE(cloud.world.run_until([&] { return settled(); }, 10min));
    EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
}

TEST_P(Advance, AnInstanceOfAnImageThatIsThereDoesNotWaitForIt) {
    for (const auto& host : cloud.hosts) cloud.world.machine(host).engine.times.pull = 60s;
    begin();
    ASSERT_TRUE(cloud.world.run_until([&] { return settled(); }, 10min));
    const Instant begun = cloud.world.timers.now();
    ASSERT_EQ(put(cloud, "POST", "/gpu-instances",
                  R"({"instanceID":"page","tenantID":"red-team","tenantName":"r","image":"demo:3",)"
                  R"("specName":"one","template":{"ports":[{"port":8080,"isProbe":true,"isPublic":true}]}})"),
              200);
    EXPECT_TRUE(cloud.world.run_until(
        [&] {
            const auto now = cloud.term();
            return now && !now->look().estate.instances.all().empty() &&
                   now->look().estate.instances.all().begin()->second.phase == InstancePhase::running;
        },
        1min));
    EXPECT_LT(cloud.world.timers.now() - begun, 10s);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Advance, ::testing::Values(1, 2, 3, 4));

}  // namespace

}  // namespace hostler::simulation
