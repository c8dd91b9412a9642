// The life of an instance. The API's state is a coarser view of the phase.
#pragma once

#include <boost/describe.hpp>
#include <string_view>

#include "domain/life.h"

namespace hostler {

enum class InstancePhase {
    placed,    // It has a claim on a host; nothing runs yet.
    pulling,   // The host gets the image.
    starting,  // The container is being made.
    probing,   // It runs; its probe ports do not all answer yet.
    running,   // They do.
    halting,   // To be stopped for now; the host has not confirmed it.
    resting,   // Stopped for now: it holds nothing but its name, URLs and volumes, and may be started again.
    stopping,  // To be ended; the host has not confirmed it.
    stopped,   // Its owner wanted that, or its program ended well.
    failed,    // It ended by itself, or never began.
    lost,      // Its host has been silent for too long. It may come back with the host.
};
BOOST_DESCRIBE_ENUM(InstancePhase, placed, pulling, starting, probing, running, halting, resting, stopping,
                    stopped, failed, lost)

enum class InstanceEvent {
    pull,  // The agent says what it is at …
    start,
    probe,
    ready,      // … and that all probes have answered.
    halt,       // It is to rest, as its owner or a rule wants.
    wake,       // It has a place again …
    restart,    // … or is to begin anew in the one that it has.
    stop,       // The owner has had enough.
    fail,       // The start failed, or the container exited.
    finish,     // The container exited with code 0.
    absent,     // The host confirms that nothing of it runs there.
    lose_host,  // The host is lost; instances do not follow it into `unreachable`.
    host_gone,  // The host was removed for good.
    retry,      // It ended by itself, and its owner lets it begin once more.
};
BOOST_DESCRIBE_ENUM(InstanceEvent, pull, start, probe, ready, halt, wake, restart, stop, fail, finish, absent,
                    lose_host, host_gone, retry)

using InstanceEdge = Edge<InstancePhase, InstanceEvent>;

inline constexpr InstanceEdge instance_life[] = {
    {InstancePhase::placed, InstanceEvent::pull, InstancePhase::pulling},
    {InstancePhase::placed, InstanceEvent::start, InstancePhase::starting},
    {InstancePhase::placed, InstanceEvent::probe, InstancePhase::probing},
    {InstancePhase::placed, InstanceEvent::ready, InstancePhase::running},
    {InstancePhase::pulling, InstanceEvent::start, InstancePhase::starting},
    {InstancePhase::pulling, InstanceEvent::probe, InstancePhase::probing},
    {InstancePhase::pulling, InstanceEvent::ready, InstancePhase::running},
    {InstancePhase::starting, InstanceEvent::probe, InstancePhase::probing},
    {InstancePhase::starting, InstanceEvent::ready, InstancePhase::running},
    {InstancePhase::probing, InstanceEvent::ready, InstancePhase::running},

    {InstancePhase::placed, InstanceEvent::halt, InstancePhase::halting},
    {InstancePhase::pulling, InstanceEvent::halt, InstancePhase::halting},
    {InstancePhase::starting, InstanceEvent::halt, InstancePhase::halting},
    {InstancePhase::probing, InstanceEvent::halt, InstancePhase::halting},
    {InstancePhase::running, InstanceEvent::halt, InstancePhase::halting},
    {InstancePhase::lost, InstanceEvent::halt, InstancePhase::halting},
    {InstancePhase::halting, InstanceEvent::absent, InstancePhase::resting},
    {InstancePhase::halting, InstanceEvent::host_gone, InstancePhase::resting},
    {InstancePhase::halting, InstanceEvent::stop, InstancePhase::stopping},
    {InstancePhase::resting, InstanceEvent::wake, InstancePhase::placed},
    {InstancePhase::resting, InstanceEvent::stop, InstancePhase::stopped},
    {InstancePhase::pulling, InstanceEvent::restart, InstancePhase::placed},
    {InstancePhase::starting, InstanceEvent::restart, InstancePhase::placed},
    {InstancePhase::probing, InstanceEvent::restart, InstancePhase::placed},
    {InstancePhase::running, InstanceEvent::restart, InstancePhase::placed},
    {InstancePhase::lost, InstanceEvent::restart, InstancePhase::placed},  // It is back with an earlier run.

    {InstancePhase::placed, InstanceEvent::stop, InstancePhase::stopping},
    {InstancePhase::pulling, InstanceEvent::stop, InstancePhase::stopping},
    {InstancePhase::starting, InstanceEvent::stop, InstancePhase::stopping},
    {InstancePhase::probing, InstanceEvent::stop, InstancePhase::stopping},
    {InstancePhase::running, InstanceEvent::stop, InstancePhase::stopping},
    {InstancePhase::lost, InstanceEvent::stop,
     InstancePhase::stopped},  // Its claim waits for the host's word.

    {InstancePhase::placed, InstanceEvent::fail, InstancePhase::failed},
    {InstancePhase::pulling, InstanceEvent::fail, InstancePhase::failed},
    {InstancePhase::starting, InstanceEvent::fail, InstancePhase::failed},
    {InstancePhase::probing, InstanceEvent::fail, InstancePhase::failed},
    {InstancePhase::running, InstanceEvent::fail, InstancePhase::failed},
    {InstancePhase::lost, InstanceEvent::fail, InstancePhase::failed},

    {InstancePhase::placed, InstanceEvent::finish, InstancePhase::stopped},
    {InstancePhase::pulling, InstanceEvent::finish, InstancePhase::stopped},
    {InstancePhase::starting, InstanceEvent::finish, InstancePhase::stopped},
    {InstancePhase::probing, InstanceEvent::finish, InstancePhase::stopped},
    {InstancePhase::running, InstanceEvent::finish, InstancePhase::stopped},
    {InstancePhase::lost, InstanceEvent::finish, InstancePhase::stopped},
    {InstancePhase::failed, InstanceEvent::retry, InstancePhase::placed},
    {InstancePhase::stopped, InstanceEvent::retry, InstancePhase::placed},

    {InstancePhase::running, InstanceEvent::absent, InstancePhase::failed},
    {InstancePhase::probing, InstanceEvent::absent, InstancePhase::failed},
    {InstancePhase::lost, InstanceEvent::absent, InstancePhase::failed},
    {InstancePhase::stopping, InstanceEvent::absent, InstancePhase::stopped},

    {InstancePhase::placed, InstanceEvent::lose_host, InstancePhase::lost},
    {InstancePhase::pulling, InstanceEvent::lose_host, InstancePhase::lost},
    {InstancePhase::starting, InstanceEvent::lose_host, InstancePhase::lost},
    {InstancePhase::probing, InstanceEvent::lose_host, InstancePhase::lost},
    {InstancePhase::running, InstanceEvent::lose_host, InstancePhase::lost},
    {InstancePhase::stopping, InstanceEvent::lose_host, InstancePhase::stopped},
    {InstancePhase::lost, InstanceEvent::ready, InstancePhase::running},
    {InstancePhase::lost, InstanceEvent::probe, InstancePhase::probing},

    {InstancePhase::placed, InstanceEvent::host_gone, InstancePhase::failed},
    {InstancePhase::pulling, InstanceEvent::host_gone, InstancePhase::failed},
    {InstancePhase::starting, InstanceEvent::host_gone, InstancePhase::failed},
    {InstancePhase::probing, InstanceEvent::host_gone, InstancePhase::failed},
    {InstancePhase::running, InstanceEvent::host_gone, InstancePhase::failed},
    {InstancePhase::lost, InstanceEvent::host_gone, InstancePhase::failed},
    {InstancePhase::stopping, InstanceEvent::host_gone, InstancePhase::stopped},
};

// It is over: only a retry of its owner leads on from here.
constexpr bool is_final(InstancePhase phase) {
    return phase == InstancePhase::stopped || phase == InstancePhase::failed;
}

static_assert(is_deterministic(instance_life));
static_assert(std::ranges::all_of(instance_life, [](const InstanceEdge& edge) {
    return is_final(edge.from) == (edge.event == InstanceEvent::retry);
}));

// It has a place on a host. (One that has ended keeps its claim until the host confirms that nothing runs.)
constexpr bool has_place(InstancePhase phase) { return !is_final(phase) && phase != InstancePhase::resting; }

// An older run of it may still be seen while this one is about to begin.
constexpr bool is_restartable(InstancePhase phase) {
    return next(instance_life, phase, InstanceEvent::restart) || phase == InstancePhase::placed;
}

// The state as the source API spells it: ready running stopping stopped failed lost. (`init` is a stock
// slot's; what rests is stopped, too.)
std::string_view state_of(InstancePhase phase);

}  // namespace hostler
