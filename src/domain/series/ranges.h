// Two things that the ranges of our standard library lack.
#pragma once

#include <algorithm>
#include <functional>

namespace hostler::series {

template <class Range, class Value, class Projection = std::identity>
bool contains(const Range& range, const Value& value, Projection projection = {}) {
    return std::ranges::find(range, value, projection) != std::ranges::end(range);
}

template <class Items, class Range>
void extend(Items& to, const Range& range) {
    to.insert(to.end(), range.begin(), range.end());
}

}  // namespace hostler::series
