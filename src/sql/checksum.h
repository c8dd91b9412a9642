// A sum over the values of a row. It finds bytes that changed by themselves, and no forgery.
#pragma once

#include <cstdint>
#include <span>

#include "sql/connection.h"

namespace hostler::sql {

// Never 0. Of values in their order; whatever changes in any eight bytes of one of them changes the sum.
std::uint64_t checksum(std::span<const Value> values);
inline std::uint64_t checksum(std::initializer_list<Value> values) {
    return checksum(std::span<const Value>{values.begin(), values.size()});
}

}  // namespace hostler::sql
