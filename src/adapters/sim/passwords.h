// Passwords of the simulation: a hash takes simulated time and hides nothing from whoever wants to know.
#pragma once

#include "adapters/sim/dice.h"
#include "core/timers.h"
#include "ports/passwords.h"

namespace hostler::sim {

class SimPasswords final : public Passwords {
public:
    SimPasswords(Timers& timers, Dice dice) : timers_(timers), dice_(dice) {}
    Task<std::string> hash(std::string password) override;
    Task<bool> verify(std::string password, std::string hash) override;

private:
    Task<> take_time();
    Timers& timers_;
    Dice dice_;
    std::size_t under_way_ = 0;
    Instant busy_until_{};  // Those that wait come one behind another.
};

}  // namespace hostler::sim
