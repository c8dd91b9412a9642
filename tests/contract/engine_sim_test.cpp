// The Engine and HostNetwork ports on the simulated engine: what the simulation shows must be what podman
// does.
#include "adapters/sim/world.h"
#include "engine_contract.h"

namespace hostler::contract {

namespace {

class SimEngineRig : public EngineRig {
public:
    SimEngineRig() {
        world_.faults.reboot_max = {};
        machine_.boot([](sim::Life&) { return std::make_shared<int>(); });
    }
    Loop& loop() override { return machine_.life().loop; }
    Timers& timers() override { return machine_.life().timers; }
    Engine& engine() override { return *machine_.life().engine; }
    HostNetwork& network() override { return machine_.life().networks; }
    void drive(std::function<bool()> done) override {
        HOSTLER_ASSERT(world_.run_until(done, std::chrono::minutes{10}) &&
                       "the simulated engine never answers");
    }
    ContainerSpec server(std::string name) override {
        return {.name = name, .labels = {{label, name}}, .image = "demo:1"};
    }
    ContainerSpec finisher(std::string name, int code) override {
        return {.name = name,
                .labels = {{label, name}},
                .image = "demo:1",
                .command = {"exit", std::to_string(code)}};
    }
    std::string subnet(int number) override { return "10.77." + std::to_string(number) + ".0/24"; }
    void crash() override {
        machine_.crash();
        machine_.boot();
    }

private:
    sim::World world_{1};
    sim::Machine& machine_ = world_.machine("host", 2);
};

INSTANTIATE_TEST_SUITE_P(Sim, EngineContract,
                         ::testing::Values(EngineKind{"sim",
                                                      [] { return std::make_shared<SimEngineRig>(); }}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace

}  // namespace hostler::contract
