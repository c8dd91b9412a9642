// What to do next about an instance.
#pragma once

#include "domain/instance/life.h"

namespace hostler {

// What the host last said about it.
enum class Seen {
    unknown,  // Nothing that counts: no report since the host came back, or the host is silent.
    absent,   // A complete report without it.
    alive,    // A container that runs, of this generation.
    ended,    // A container that does not run any more.
    made,     // A container that was never started, or whose engine could not start it again.
};

enum class InstanceAction {
    none,
    start,        // Tell the host to start it.
    stop,         // Tell the host to stop it and take it away.
    note_alive,   // It runs, and nobody had told us.
    note_end,     // It has ended by itself.
    note_absent,  // The host has nothing of it: what it held is free.
};

// `commanded`: a command about it is under way, whose answer will say more than a report does. Never acts on
// a guess.
constexpr InstanceAction plan(InstancePhase phase, Seen seen, bool commanded) {
    if (commanded) return InstanceAction::none;
    switch (phase) {
        case InstancePhase::placed: return InstanceAction::start;  // Starting what runs already succeeds.
        case InstancePhase::pulling:
        case InstancePhase::starting: return InstanceAction::start;
        case InstancePhase::probing:
        case InstancePhase::running:
            switch (seen) {
                case Seen::unknown: return InstanceAction::none;
                case Seen::absent: return InstanceAction::note_absent;
                case Seen::ended: return InstanceAction::note_end;
                case Seen::made: return InstanceAction::start;
                case Seen::alive:
                    return phase == InstancePhase::probing ? InstanceAction::start : InstanceAction::none;
            }
            return InstanceAction::none;
        case InstancePhase::lost:
            switch (seen) {
                case Seen::unknown: return InstanceAction::none;
                case Seen::absent: return InstanceAction::note_absent;
                case Seen::ended: return InstanceAction::note_end;
                case Seen::made:
                case Seen::alive: return InstanceAction::note_alive;
            }
            return InstanceAction::none;
        case InstancePhase::halting:
        case InstancePhase::stopping:
            return seen == Seen::absent ? InstanceAction::note_absent : InstanceAction::stop;
        case InstancePhase::resting: return InstanceAction::none;  // It holds nothing.
        case InstancePhase::stopped:
        case InstancePhase::failed:
            // It holds its claim until the host confirms; the caller asks only while it does.
            switch (seen) {
                case Seen::unknown: return InstanceAction::none;
                case Seen::absent: return InstanceAction::note_absent;
                case Seen::ended:
                case Seen::made:
                case Seen::alive: return InstanceAction::stop;
            }
            return InstanceAction::none;
    }
    return InstanceAction::none;
}

// Silence is not death.
static_assert(plan(InstancePhase::running, Seen::unknown, false) == InstanceAction::none);
static_assert(plan(InstancePhase::lost, Seen::alive, false) == InstanceAction::note_alive);
static_assert(plan(InstancePhase::halting, Seen::unknown, false) == InstanceAction::stop);
static_assert(plan(InstancePhase::stopped, Seen::alive, false) == InstanceAction::stop);

}  // namespace hostler
