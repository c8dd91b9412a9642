#include "domain/alert/replay.h"

#include <algorithm>
#include <cmath>

namespace hostler::alert {

std::size_t firings(const Rule& rule, const series::Line& line, Duration step_length) {
    RuleState state;
    Instant now{};
    Sample sample{.labels = line.labels};
    std::size_t times = 0;
    bool told = false;
    for (const double value : line.values) {
        now += step_length;
        sample.value = value;
        const std::size_t there = std::isnan(value) ? 0 : 1;
        step(rule, state, now, std::span{&sample, there});
        const bool tells = !state.watched.empty() && is_told(state.watched.begin()->second.phase);
        if (tells && !told) ++times;
        told = tells;
    }
    return times;
}

series::Millis replay_step(const Rule& rule, Duration back, std::uint64_t lines, std::uint64_t points_max) {
    constexpr series::Millis shortest = 60'000;
    const auto whole =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(back).count());
    const std::uint64_t steps =
        std::clamp<std::uint64_t>(points_max / std::max<std::uint64_t>(lines, 1), 1, series::steps_max);
    const auto fits = static_cast<series::Millis>((whole + steps - 1) / steps);
    return std::max({shortest, static_cast<series::Millis>(rule.window_s) * 1000, fits});
}

}  // namespace hostler::alert
