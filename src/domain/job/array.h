// The elements of an array job: "0-15", "1,3,5-7", "0-30:5%4".
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler {

inline constexpr std::int64_t array_elements_max = 10'000;
inline constexpr std::int64_t array_index_max = 4'000'000;

// Indexes first, first + step, … up to last.
struct ArrayRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t step = 1;
    std::int64_t size() const { return (last - first) / step + 1; }
    bool operator==(const ArrayRange&) const = default;
};
BOOST_DESCRIBE_STRUCT(ArrayRange, (), (first, last, step))

struct JobArray {
    std::vector<ArrayRange> ranges;  // As written, no index twice; empty: no array.
    std::int64_t at_most = 0;        // Elements that run at the same time; 0: any number.
    std::int64_t size() const;
    // Of the element at this position, 0 … size() - 1.
    std::int64_t index_at(std::int64_t position) const;
    std::optional<std::int64_t> position_of(std::int64_t index) const;  // nullopt: it has no such index.
    bool operator==(const JobArray&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobArray, (), (ranges, at_most))

// As sbatch reads them: an index that is named twice counts once. Errors: invalid.
Result<JobArray> read_array(std::string_view text);
std::string text_of(const JobArray& array);  // "" for none.

}  // namespace hostler
