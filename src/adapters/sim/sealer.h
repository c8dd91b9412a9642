// The sealer of the simulation: hides nothing from whoever wants to know, and binds to key and place as a
// real one does. The same is sealed the same way.
#pragma once

#include "adapters/sim/dice.h"
#include "ports/sealer.h"

namespace hostler::sim {

class SimSealer final : public Sealer {
public:
    explicit SimSealer(Dice dice) : dice_(dice) {}
    std::vector<std::string> keys() const override { return keys_; }
    Result<std::string> make() override;
    Result<> forget(std::string key) override;
    Result<> read() override { return {}; }
    Result<std::string> seal(std::string_view key, std::string_view place,
                             std::string_view plain) const override;
    Result<std::string> open(std::string_view key, std::string_view place,
                             std::string_view sealed) const override;

private:
    Result<> check(std::string_view key) const;
    Dice dice_;
    std::vector<std::string> keys_;
};

}  // namespace hostler::sim
