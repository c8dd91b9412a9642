// Rows of one device, column by column, with a checksum: what a segment is made of.
#pragma once

#include "adapters/series/column.h"

namespace hostler::series {

struct Rows {
    std::vector<Millis> times;               // Rising.
    std::vector<std::vector<Cell>> columns;  // Each as long as `times`.
};

constexpr std::size_t block_rows_max = 1024;

// `forms` has one for each column; 1 … block_rows_max rows.
std::string encode_block(const Rows& rows, std::span<const Form> forms);

// The times, and the columns whose places are asked for, in this order. Errors: invalid (damaged, or has no
// such column).
Result<Rows> read_block(std::string_view block, std::span<const std::size_t> columns);

}  // namespace hostler::series
