// Instances with secrets and images that want a login, while masters, agents and engines die under their
// start.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cloud.h"
#include "seeds.h"

namespace hostler::simulation {

namespace {

class Given : public ::testing::TestWithParam<std::uint64_t> {
protected:
    int ask(const std::string& method, const std::string& target, const std::string& body) {
        for (int tries = 0; tries < 60; ++tries) {
            const auto answer =
                cloud.world.ask(cloud.call(std::string{Cloud::operator_key}, method, target, body));
            if (answer && answer->status < 500) return answer->status;
            cloud.world.run(1s);
        }
        return 0;
    }
    std::string state() {
        const auto now = cloud.term();
        if (!now || now->look().estate.instances.all().empty()) return "none";
        const Instance& instance = now->look().estate.instances.all().begin()->second;
        return fmt::format("{} {}: {}", master::text_of(instance.phase), instance.reason, instance.message);
    }
    bool runs() {
        const auto now = cloud.term();
        if (!now || now->look().estate.instances.all().empty()) return false;
        return now->look().estate.instances.all().begin()->second.phase == InstancePhase::running;
    }
    Cloud cloud{GetParam()};
};

TEST_P(Given, AnInstanceStartsWithThemWhoeverDies) {
    ASSERT_TRUE(cloud.begin({"red-team"})) << cloud.unsettled();
    ASSERT_EQ(ask("POST", "/v1/secrets",
                  R"({"name":"hf","tenantID":"red-team","values":[{"key":"token","value":"t0k3n"}]})"),
              201);
    ASSERT_EQ(ask("POST", "/v1/secrets",
                  R"({"name":"hub","tenantID":"red-team","kind":"registry","server":"docker.io",)"
                  R"("username":"puller","values":[{"key":"password","value":"opensesame"}]})"),
              201);
    ASSERT_EQ(ask("POST", "/v1/specs",
                  R"({"name":"one","cpu":"8","memory":"32Gi","gpuType":"H100 SXM5 80GB","gpuNum":1})"),
              201);
    ASSERT_EQ(ask("POST", "/gpu-instances",
                  R"({"instanceID":"nb","tenantID":"red-team","tenantName":"","image":"private:1",)"
                  R"("storageID":"","specName":"one","template":{},)"
                  R"("secretEnvs":[{"name":"TOKEN","secret":"hf","key":"token"}]})"),
              200);
    sim::Dice dice = cloud.world.dice.fork("secrets");
    for (int round = 0; round < 5; ++round) {
        cloud.world.run(std::chrono::milliseconds{static_cast<std::int64_t>(dice.below(2000))});
        const std::string victim = dice.chance(0.3) ? "master" : cloud.hosts[dice.below(cloud.hosts.size())];
        cloud.world.machine(victim).crash(Death::kill);  // Power would end what runs by then.
        cloud.world.run(std::chrono::milliseconds{static_cast<std::int64_t>(dice.below(3000))});
        if (!cloud.world.machine(victim).up()) cloud.world.machine(victim).boot();
    }
    EXPECT_TRUE(cloud.world.run_until([&] { return runs(); }, 20min)) << state();
    EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
}

INSTANTIATE_TEST_SUITE_P(Seeds, Given, ::testing::Values(1, 2, 3, 4));

}  // namespace

}  // namespace hostler::simulation
