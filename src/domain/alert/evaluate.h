// What a rule's label sets do from one look to the next.
#pragma once

#include <span>

#include "core/timers.h"
#include "domain/alert/life.h"
#include "domain/alert/rule.h"

namespace hostler::alert {

struct Watched {
    Phase phase = Phase::inactive;
    Instant since{};  // In this phase,
    Instant seen{};   // and its last sample.
    double value = 0;
};

// Kept while a rule is as it is.
struct RuleState {
    std::map<Labels, Watched> watched;
    std::size_t left_out = 0;  // Label sets beyond `alerts_rule_max`, at the last look.
};

// One look: `samples` is all that there is at `now`. A value that is no number is no sample.
void step(const Rule& rule, RuleState& state, Instant now, std::span<const Sample> samples);

}  // namespace hostler::alert
