// The only source of chance in the simulation.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/random.h"

namespace hostler::sim {

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): the same on every
// machine.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    // From 0 to n - 1. The bias of the modulus is far below what a simulation could notice.
    std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : next() % n; }
    bool chance(double probability) { return static_cast<double>(next() >> 11) * 0x1p-53 < probability; }
    // Dice of its own for one purpose, so that a change in another part does not shift its throws.
    Dice fork(std::string_view purpose) const {
        std::uint64_t seed = state_ ^ 0xcbf29ce484222325;
        for (const char c : purpose) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        return Dice{seed};
    }

private:
    std::uint64_t state_;
};

class SimRandom final : public Random {
public:
    explicit SimRandom(Dice dice) : dice_(dice) {}
    void fill(std::span<std::uint8_t> into) override {
        for (auto& byte : into) byte = static_cast<std::uint8_t>(dice_.next());
    }

private:
    Dice dice_;
};

}  // namespace hostler::sim
