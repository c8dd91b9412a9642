// A life is a table: which event moves an object from which phase to which.
#pragma once

#include <algorithm>
#include <optional>
#include <ranges>
#include <span>

namespace hostler {

template <class Phase, class Event>
struct Edge {
    Phase from;
    Event event;
    Phase to;
};

// Where `event` leads from `from`; nullopt: nothing happens.
template <class Phase, class Event, std::size_t n>
constexpr std::optional<Phase> next(const Edge<Phase, Event> (&life)[n], Phase from, Event event) {
    for (const auto& edge : life)
        if (edge.from == from && edge.event == event) return edge.to;
    return std::nullopt;
}

// Nothing leads on from here.
template <class Phase, class Event, std::size_t n>
constexpr bool is_final(const Edge<Phase, Event> (&life)[n], Phase phase) {
    return std::ranges::none_of(life, [phase](const auto& edge) { return edge.from == phase; });
}

// No phase and event that lead two ways.
template <class Phase, class Event, std::size_t n>
constexpr bool is_deterministic(const Edge<Phase, Event> (&life)[n]) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j)
            if (life[i].from == life[j].from && life[i].event == life[j].event) return false;
    return true;
}

}  // namespace hostler
