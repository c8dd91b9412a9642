// The Engine and HostNetwork ports on the simulated engine: what the simulation shows must be what podman
// does.
#include "network_contract.h"
#include "world_rig.h"

namespace hostler::contract {

namespace {

class SimEngineRig : public WorldRig<EngineRig> {
public:
    Engine& engine() override { return *life().engine; }
    Images& images() override { return life().images; }
    EngineEvents& events() override { return life().events; }
    Processes& processes() override { return life().processes; }
    sim::SimEngine& simulated() { return machine_.engine; }
    HostNetwork& network() override { return life().networks; }
    ContainerSpec server(std::string name) override {
        return {.name = name, .labels = {{label, name}}, .image = "demo:1"};
    }
    ContainerSpec finisher(std::string name, int code) override {
        return {.name = name,
                .labels = {{label, name}},
                .image = "demo:1",
                .command = {"exit", std::to_string(code)}};
    }
    ContainerSpec stubborn(std::string name) override {
        auto spec = server(std::move(name));
        spec.image = "stubborn:1";
        return spec;
    }
    std::string subnet(int number) override { return "10.77." + std::to_string(number) + ".0/24"; }
    void crash() override { reboot(); }
};

const EngineKind simulated{"sim", [] { return std::make_shared<SimEngineRig>(); }};

class Simulated : public EngineContract {
protected:
    SimEngineRig& rig() { return static_cast<SimEngineRig&>(*rig_); }
};
INSTANTIATE_TEST_SUITE_P(Sim, Simulated, ::testing::Values(simulated), kind_name);

TEST_P(Simulated, AProgramThatListensOnTheLoopbackOnly) {
    auto spec = rig().server(name());
    spec.image = "loopback:1";
    ASSERT_TRUE(launch(spec));
    EXPECT_EQ(run(rig().processes().listening(name(), 8080)), std::vector<std::string>{"127.0.0.1"});
}

TEST_P(Simulated, AChildThatIsKilledForMemoryIsCounted) {
    ASSERT_TRUE(launch(rig().server(name())));
    for (const char* process : {"loader", "python3"}) rig().simulated().kill_child(name(), process);
    const auto killed = run(rig().processes().memory_kills({name()}));
    ASSERT_TRUE(killed);
    EXPECT_EQ(killed->at(name()), (MemoryKills{2, "python3"}));
}

// As on a real host: its control group is new after each start, and what the kernel tells of it comes later.
TEST_P(Simulated, CountersBeginAgainWithEachStart) {
    const auto measured = [&](const std::string& id) { return rig().simulated().sample_of(id); };
    const auto first = launch(rig().server(name()));
    ASSERT_TRUE(first);
    EXPECT_EQ(measured(first->id), std::nullopt) << "it has just begun";
    ASSERT_TRUE(run(sleep(rig().timers(), std::chrono::seconds{60})));
    const auto before = measured(first->id);
    ASSERT_TRUE(before);
    EXPECT_GT(before->cpu_ms, 20'000);
    EXPECT_EQ(before->network_sent_bytes, std::nullopt) << "it has no network";
    ASSERT_TRUE(run(rig().engine().stop(name(), std::chrono::seconds{1})));
    EXPECT_EQ(measured(first->id), std::nullopt);
    ASSERT_TRUE(run(rig().engine().remove(name())));
    const auto again = launch(rig().server(name()));
    ASSERT_TRUE(again);
    EXPECT_EQ(measured(again->id), std::nullopt);
    ASSERT_TRUE(run(sleep(rig().timers(), std::chrono::seconds{2})));
    ASSERT_TRUE(measured(again->id));
    EXPECT_LT(measured(again->id)->cpu_ms, before->cpu_ms);
}

INSTANTIATE_TEST_SUITE_P(Sim, EngineContract, ::testing::Values(simulated), kind_name);
INSTANTIATE_TEST_SUITE_P(Sim, NetworkContract, ::testing::Values(simulated), kind_name);

}  // namespace

}  // namespace hostler::contract
