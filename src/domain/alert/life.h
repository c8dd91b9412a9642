// The life of one label set under one rule.
#pragma once

#include <boost/describe.hpp>

#include "domain/life.h"

namespace hostler::alert {

enum class Phase {
    inactive,
    pending,   // It breaches, not yet for long enough.
    firing,    // It is told.
    clearing,  // It breaches no more, not yet for long enough: a breach from here is the same firing.
};
BOOST_DESCRIBE_ENUM(Phase, inactive, pending, firing, clearing)

enum class Event {
    breach,  // The sample is beyond the threshold,
    last,    // and has been for as long as the rule says.
    ease,    // The sample is within it,
    clear,   // and has been for as long as the rule says.
};
BOOST_DESCRIBE_ENUM(Event, breach, last, ease, clear)

inline constexpr Edge<Phase, Event> alert_life[] = {
    {Phase::inactive, Event::breach, Phase::pending}, {Phase::pending, Event::last, Phase::firing},
    {Phase::pending, Event::ease, Phase::inactive},   {Phase::firing, Event::ease, Phase::clearing},
    {Phase::clearing, Event::breach, Phase::firing},  {Phase::clearing, Event::clear, Phase::inactive},
};
static_assert(is_deterministic(alert_life));

constexpr bool is_told(Phase phase) { return phase == Phase::firing || phase == Phase::clearing; }

}  // namespace hostler::alert
