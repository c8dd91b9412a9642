#include "domain/order/slicing.h"

#include <algorithm>
#include <cmath>

namespace hostler {

Result<> check(const Slicing& slicing) {
    constexpr std::int64_t most_s = 10'000'000;
    Error error{Code::invalid, "wrong time slices"};
    if (slicing.slice_s < 1 || slicing.slice_s > most_s)
        error.fields.push_back({"slice_s", "from 1 to 10000000"});
    if (!std::isfinite(slicing.promise) || slicing.promise < 0 || slicing.promise > 1)
        error.fields.push_back({"promise", "from 0 to 1"});
    if (slicing.grace_s < 0 || slicing.grace_s > most_s)
        error.fields.push_back({"grace_s", "from 0 to 10000000"});
    if (!error.fields.empty()) return std::unexpected(std::move(error));
    return {};
}

double served(const Slicing& slicing, std::int64_t submitted, std::int64_t ran, std::int64_t now) {
    const double grace = static_cast<double>(slicing.grace_s) * 1e6;
    const double passed = std::max(0.0, static_cast<double>(now) - static_cast<double>(submitted)) + grace;
    if (passed <= 0) return 1;
    return std::clamp((static_cast<double>(ran) + grace) / passed, 0.0, 1.0);
}

}  // namespace hostler
