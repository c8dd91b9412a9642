// Recovery codes: each stands in for the second factor once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hostler {

inline constexpr int recovery_codes = 10;
inline constexpr int recovery_letters = 16;  // Of 32: 80 bits.

// "abcd-efgh-jkmn-pqrs" of its letters.
std::string shown_recovery_code(std::string_view letters);
// The letters of it as it was typed; nullopt: it has not the form of a recovery code.
std::optional<std::string> recovery_code_letters(std::string_view typed);

}  // namespace hostler
