// What is measured over time: devices with columns, rows of cells, and what many samples come to.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace hostler::series {

using Millis = std::int64_t;  // Since 1970, UTC.

// One number of a row: an integer, or the bits of a double. `absent` is in no column a number.
using Cell = std::int64_t;
inline constexpr Cell absent = std::numeric_limits<Cell>::min();

enum class Kind {
    gauge,    // Goes up and down.
    counter,  // Only rises, until it begins again at zero.
};
enum class Form { integer, real };

// A NaN is no measurement: it is absent, and lies where -0.0 would otherwise be taken for it.
inline constexpr std::uint64_t nan_bits = 0x7FF8'0000'0000'0001;
inline constexpr std::uint64_t real_mask = nan_bits ^ std::uint64_t{1} << 63;
inline Cell real_cell(double value) {
    if (std::isnan(value)) return absent;
    return static_cast<Cell>(std::bit_cast<std::uint64_t>(value) ^ real_mask);
}
inline double real_of(Cell cell) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(cell) ^ real_mask);
}

struct Column {
    std::string name;  // "power_mw"; the metric that a query names.
    Kind kind = Kind::gauge;
    Form form = Form::integer;
    bool operator==(const Column&) const = default;
    auto operator<=>(const Column&) const = default;
};

using Labels = std::map<std::string, std::string>;  // "zone" → "lon", "tenant" → "t-…".

// A GPU or a host: all its columns are sampled at the same moments.
struct Device {
    std::string id;  // Unique: "gpu/GPU-…", "host/h-…".
    std::vector<Column> columns;
    Labels labels;
    bool operator==(const Device&) const = default;
};

// Labels in force from a moment on, until the next.
struct Era {
    Millis from = 0;
    Labels labels;
    bool operator==(const Era&) const = default;
};

// By time, each once: of two that begin together the last holds. None that changes nothing.
std::vector<Era> in_order(std::vector<Era> eras);

// What one sample, or several in a row, come to. Sums of these are exact where those of doubles are.
struct Point {
    Millis time = 0;  // Of the last sample.
    std::uint64_t count = 0;
    double min = 0;
    double max = 0;
    double sum = 0;
    double last = 0;
    double increase = 0;  // Of a counter: how far it rose up to each of these samples from the one before,
    Millis span = 0;      // in this time.
    bool operator==(const Point&) const = default;
};

// `next` comes after `into`, which may be empty (count 0).
void merge(Point& into, const Point& next);

// Two samples of a counter that are further apart say nothing about the time between.
inline constexpr Millis gap_max = 5 * 60 * 1000;

// The points of samples in order of time, with the absent left out.
std::vector<Point> points_of(std::span<const Millis> times, std::span<const Cell> cells,
                             const Column& column);

// Sets `increase` and `span` of `next`, one sample, that follows `before`.
void follow(const Point& before, Point& next);

}  // namespace hostler::series
