// A consolidation on its way: what `consolidate.h` planned, applied step by step.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "domain/instance/life.h"
#include "domain/life.h"
#include "domain/object.h"

namespace hostler {

enum class ConsolidationPhase {
    running,
    cancelling,  // Nothing more is begun; what was stopped is begun again first.
    failing,     // The same, since a step no longer holds.
    done,
    cancelled,
    failed,
};
BOOST_DESCRIBE_ENUM(ConsolidationPhase, running, cancelling, failing, done, cancelled, failed)

enum class ConsolidationEvent { cancel, refuse, finish };
BOOST_DESCRIBE_ENUM(ConsolidationEvent, cancel, refuse, finish)

inline constexpr Edge<ConsolidationPhase, ConsolidationEvent> consolidation_life[] = {
    {ConsolidationPhase::running, ConsolidationEvent::cancel, ConsolidationPhase::cancelling},
    {ConsolidationPhase::running, ConsolidationEvent::refuse, ConsolidationPhase::failing},
    {ConsolidationPhase::running, ConsolidationEvent::finish, ConsolidationPhase::done},
    {ConsolidationPhase::cancelling, ConsolidationEvent::finish, ConsolidationPhase::cancelled},
    {ConsolidationPhase::failing, ConsolidationEvent::finish, ConsolidationPhase::failed},
};
static_assert(is_deterministic(consolidation_life));
constexpr bool is_final(ConsolidationPhase phase) { return is_final(consolidation_life, phase); }

enum class MoveState {
    waiting,
    stopping,  // Its place there is held; it stops here.
    done,      // It has that place, or another.
    skipped,   // It ended, or was moved or stopped by others.
    dropped,   // It was never begun.
};
BOOST_DESCRIBE_ENUM(MoveState, waiting, stopping, done, skipped, dropped)

struct ConsolidationStep {
    std::string workload;  // Instance, or slot of the stock:
    bool stock = false;
    std::string from;  // Hosts.
    std::string to;
    MoveState phase = MoveState::waiting;
    std::string claim;  // That holds its place there while it stops.
    std::string slot;   // Of the stock, which comes along.
    std::string message;
    bool operator==(const ConsolidationStep&) const = default;
};
BOOST_DESCRIBE_STRUCT(ConsolidationStep, (), (workload, stock, from, to, phase, claim, slot, message))

struct ConsolidationRecord {
    std::string id;    // "co-…"
    std::string zone;  // Of which alone; empty: of all.
    int at_once = 1;   // Instances that stop at one time.
    std::vector<ConsolidationStep> steps;
    std::vector<std::string>
        freed;     // Hosts on which nothing is left afterwards. They take nothing meanwhile.
    int gpus = 0;  // Of those hosts.
    ConsolidationPhase phase = ConsolidationPhase::running;
    std::string message;  // Why it failed.
    std::int64_t created_at = 0;
    std::int64_t ended_at = 0;
    Meta meta;
    bool operator==(const ConsolidationRecord&) const = default;
};
BOOST_DESCRIBE_STRUCT(ConsolidationRecord, (),
                      (id, zone, at_once, steps, freed, gpus, phase, message, created_at, ended_at))

enum class StepAction { none, begin, drop, start, give_up };

// What a step does next. `instance`: its phase, of a step that is stopping. `ours`: it stops because of this
// step, and nobody has wanted anything else of it since.
constexpr StepAction plan_step(ConsolidationPhase of, MoveState phase, InstancePhase instance, bool ours) {
    switch (phase) {
        case MoveState::waiting:
            return of == ConsolidationPhase::running ? StepAction::begin : StepAction::drop;
        case MoveState::stopping:
            if (!ours) return StepAction::give_up;
            return instance == InstancePhase::resting ? StepAction::start : StepAction::none;
        case MoveState::done:
        case MoveState::skipped:
        case MoveState::dropped: break;
    }
    return StepAction::none;
}
// A place is begun in once its host has said that nothing runs in the other.
static_assert(plan_step(ConsolidationPhase::running, MoveState::stopping, InstancePhase::halting, true) ==
              StepAction::none);
// What was stopped is begun again, whatever became of the rest.
static_assert(plan_step(ConsolidationPhase::cancelling, MoveState::stopping, InstancePhase::resting, true) ==
              StepAction::start);

}  // namespace hostler
