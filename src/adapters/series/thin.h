// Fewer points for a longer time: what a segment keeps of each minute or hour.
#pragma once

#include "adapters/series/block.h"
#include "adapters/series/segment.h"

namespace hostler::series {

// The forms of what a segment stores for these columns. Raw: the columns. Else for a gauge count, min, max,
// sum and last; for a counter count, last, increase and span.
std::vector<Form> forms_of(const std::vector<Column>& columns, Level level);
// Where in a block `column` begins, and how many there are.
struct Parts {
    std::size_t at = 0;
    std::size_t count = 1;
};
Parts parts_of(const std::vector<Column>& columns, std::size_t column, Level level);

// The points of one column; `parts` are its columns in a block of this level. Of a thinned counter, min and
// max are its last value.
std::vector<Point> points_in(std::span<const Millis> times, std::span<const std::vector<Cell>> parts,
                             const Column& column, Level level);

// All of a device's rows of level `from` as rows of the next one. A counter's step from the rows before these
// is not in it.
Rows thin(const Rows& rows, const std::vector<Column>& columns, Level from);

}  // namespace hostler::series
