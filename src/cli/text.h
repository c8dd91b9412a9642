// How text is shown: its format, and what fits a terminal; columns, ages, sizes.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/timers.h"

namespace hostler::cli {

namespace json = boost::json;

enum class Format { table, json, yaml, csv, name, html };
// Errors: invalid.
Result<Format> parse_format(std::string_view text);

struct Style {
    Format format = Format::table;
    bool colour = false;
    bool terminal = false;
    int columns = 0;  // Of the terminal; 0: as wide as need be.
    WallTime now;     // For ages.
};

// Characters that a terminal shows, at one column each.
std::size_t shown(std::string_view text);

// With "…" for what a terminal has no room for in so many columns, one for each character.
std::string cut(std::string text, std::size_t width);

// Columns as wide as need be, the first `texts` to the left, the last as it is.
std::string lined_up(const std::vector<std::vector<std::string>>& rows, std::size_t texts);

// Between the clock of the machine that wrote a time and ours.
inline constexpr std::chrono::seconds clock_skew{5};

// "3m", "in 29d". A time that is ahead by at most `clock_skew` is shown as now: "0s".
std::string age(WallTime then, WallTime now);
std::string bytes_text(std::int64_t bytes);  // "80 GiB"

}  // namespace hostler::cli
