// Codes that a person compares or types in a browser to let a program sign in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hostler {

// Consonants: they make no words, and none looks like another or like a digit. 20^8 codes, 34 bits.
inline constexpr std::string_view device_letters = "BCDFGHJKLMNPQRSTVWXZ";
inline constexpr std::size_t device_code_letters = 8;

// The letters of a code by a random number.
std::string device_code_of(std::uint64_t random);
// "BCDF-GHJK" of its letters.
std::string shown_device_code(std::string_view letters);
// The letters of it as it was typed; nullopt: it has not the form of a code.
std::optional<std::string> device_code_typed(std::string_view typed);

}  // namespace hostler
