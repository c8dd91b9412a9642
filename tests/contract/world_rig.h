// A machine of the simulated world, on which a suite's adapter stands.
#pragma once

#include "adapters/sim/world.h"
#include "rig.h"

namespace hostler::contract {

template <class Port>
class WorldRig : public Port {
public:
    WorldRig() {
        world_.faults.reboot_max = {};
        machine_.boot([](sim::Life&) { return std::make_shared<int>(); });
    }
    Loop& loop() override { return life().loop; }
    Timers& timers() override { return life().timers; }
    void drive(std::function<bool()> done) override {
        HOSTLER_ASSERT(world_.run_until(done, std::chrono::minutes{10}) && "the adapter never answers");
    }

protected:
    sim::Life& life() { return machine_.life(); }
    void reboot() {
        machine_.crash();
        machine_.boot();
    }
    sim::World world_{1};
    sim::Machine& machine_ = world_.machine("host", 2);
};

}  // namespace hostler::contract
