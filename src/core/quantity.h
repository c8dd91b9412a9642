// Kubernetes' resource.Quantity: "500m", "2", "1.5Gi", "3e3", "100k". Kept as an exact integer of
// thousandths.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler {

// Notation: k8s.io/apimachinery/pkg/api/resource: sign, decimal digits, then one of n u m (none) k M G T P E,
// Ki Mi Gi Ti Pi Ei, or an exponent e3 / E3. What is finer than a thousandth is rounded up, as Kubernetes
// does.
struct Quantity {
    std::int64_t milli = 0;
    auto operator<=>(const Quantity&) const = default;
    // Whole units, rounded up: bytes of "1.5Gi", CPUs of "500m".
    constexpr std::int64_t units() const { return milli >= 0 ? (milli + 999) / 1000 : milli / 1000; }
    static constexpr Quantity of_units(std::int64_t n) { return {n * 1000}; }
};

// Errors: invalid, with a sentence that shows the notation. Range: ±9.2e15 units.
Result<Quantity> parse_quantity(std::string_view text);
// The shortest exact form: binary suffixes when they divide it, else decimal.
std::string to_string(Quantity);

}  // namespace hostler
