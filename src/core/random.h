// Dice as a parameter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hostler {

class Random {
public:
    virtual ~Random() = default;
    virtual void fill(std::span<std::uint8_t> into) = 0;  // Cryptographically strong, but in the simulation.
};

// `prefix` + "-" + `length` letters of a 32-letter alphabet without look-alikes: fit for host names and
// labels.
std::string new_id(Random& random, std::string_view prefix, int length = 10);
// `prefix` + "_" + 43 letters: 256 bits, base64url.
std::string new_secret(Random& random, std::string_view prefix);
std::uint64_t random_number(Random& random);

}  // namespace hostler
