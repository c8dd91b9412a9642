// Sums of money in millionths of a currency's unit, and as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler {

inline constexpr std::int64_t money_max_micros = 1'000'000'000'000'000;  // 1,000,000,000 of the unit.

// "2.49", "0.000001": digits, and at most six behind the point. Errors: invalid, with the notation.
Result<std::int64_t> parse_money(std::string_view text);
// With two digits behind the point, or as many more as it takes: "2.00", "2.495".
std::string money_text(std::int64_t micros);

// Three capital letters, as ISO 4217 has them.
bool is_currency(std::string_view text);

}  // namespace hostler
