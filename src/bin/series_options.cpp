#include "bin/series_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "core/quantity.h"

namespace hostler::bin {

namespace {

// "15d", "36h", "2y". Empty: what it is already.
Result<> read_span(std::string_view option, const std::string& text, Duration& into) {
    using std::chrono::hours;
    if (text.empty()) return {};
    char* end = nullptr;
    const long number = std::strtol(text.c_str(), &end, 10);
    const std::string_view unit{end};
    const long each = unit == "h" ? 1 : unit == "d" ? 24 : unit == "y" ? 365 * 24 : 0;
    if (number < 1 || number > 100'000 || each == 0)
        return fail(Code::invalid, fmt::format("{} {}: it is a number of h, d or y, as 15d", option, text));
    into = hours{number * each};
    return {};
}

}  // namespace

void SeriesOptions::add_to(CLI::App& app) {
    app.add_option("--series-raw", raw, "So long samples are kept as they came: 15d, 36h")
        ->default_str("15d");
    app.add_option("--series-minute", minute, "So long a point of each minute")->default_str("90d");
    app.add_option("--series-hour", hour, "So long a point of each hour")->default_str("2y");
    app.add_option(
        "--series-disk-max", disk_max,
        "Of the disk for series, as 200Gi: beyond it the oldest samples are thinned sooner; else no "
        "bound");
}

Result<> SeriesOptions::put_into(master::Settings& settings) const {
    SeriesPolicy& kept = settings.series_kept;
    TRY(read_span("--series-raw", raw, kept.raw));
    TRY(read_span("--series-minute", minute, kept.minute));
    TRY(read_span("--series-hour", hour, kept.hour));
    if (kept.minute < kept.raw || kept.hour < kept.minute)
        return fail(Code::invalid,
                    "--series-raw, --series-minute, --series-hour: each retention must be at least as long "
                    "as the one before");
    if (disk_max.empty()) return {};
    const auto bytes = parse_quantity(disk_max);
    if (!bytes || bytes->units() <= 0)
        return fail(Code::invalid, fmt::format("--series-disk-max {}: it is a quantity, as 200Gi", disk_max));
    settings.series_disk_max = static_cast<std::uint64_t>(bytes->units());
    return {};
}

std::vector<std::string> SeriesOptions::arguments() const {
    std::vector<std::string> words;
    const std::pair<const char*, const std::string*> all[] = {{"--series-raw", &raw},
                                                              {"--series-minute", &minute},
                                                              {"--series-hour", &hour},
                                                              {"--series-disk-max", &disk_max}};
    for (const auto& [option, value] : all)
        if (!value->empty()) words.insert(words.end(), {option, *value});
    return words;
}

}  // namespace hostler::bin
