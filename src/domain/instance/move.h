// When an instance whose host is silent may be begun elsewhere.
#pragma once

#include "core/timers.h"
#include "domain/instance/instance.h"

namespace hostler {

// So long its host runs it without a word of ours, and so long at most it then takes to stop it.
struct MoveTerms {
    Duration lease{};
    Duration margin{};
};

enum class MoveStep {
    none,  // It stays where it is.
    wait,  // It may still run there.
    move,  // Nothing of it runs there any more.
};

// `silence`: since a word of its host, or since we lead: whoever led before may have renewed its lease until
// then, and nobody since. What is wanted of it otherwise comes first: only a lost one moves.
constexpr MoveStep plan_move(LossPolicy policy, InstancePhase phase, Duration silence, MoveTerms terms) {
    switch (policy) {
        case LossPolicy::stay: return MoveStep::none;
        case LossPolicy::move: break;
    }
    if (phase != InstancePhase::lost) return MoveStep::none;
    return silence < terms.lease + terms.margin ? MoveStep::wait : MoveStep::move;
}

static_assert(plan_move(LossPolicy::stay, InstancePhase::lost, Duration::max(), {}) == MoveStep::none);
static_assert(plan_move(LossPolicy::move, InstancePhase::running, Duration::max(), {}) == MoveStep::none);

}  // namespace hostler
