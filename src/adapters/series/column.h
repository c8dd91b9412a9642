// One column of a block: many cells of one device and metric, without loss in as little as there is in them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "domain/series/sample.h"

namespace hostler::series {

// Of a column that never changes: one byte and its value. Else its cells are the first one plus multiples of
// a common divisor (clocks step by 15 MHz, memory by pages); what is stored is by how much each misses its
// forecast (the one before; the mean of those before; the same of differences), by the chances of how long
// such a number is. Doubles are integers times a power of ten where all of them are exactly that, else each
// is XORed with the one before.
void add_column(std::string& to, std::span<const Cell> cells, Form form);

// Exactly `rows` cells. Errors: invalid (it is damaged).
Result<std::vector<Cell>> read_column(std::string_view bytes, std::size_t rows);

}  // namespace hostler::series
