// The life of a job.
#pragma once

#include <boost/describe.hpp>

#include "domain/life.h"

namespace hostler {

enum class JobPhase {
    pending,     // It waits for its turn and for room.
    admitted,    // Its tasks have a place; none of them runs yet.
    starting,    // Some of them run.
    running,     // An element of it runs with all its tasks.
    preempting,  // Its tasks are being stopped to make room; it waits again afterwards.
    succeeded,   // All its elements ended with exit code 0.
    failed,      // One of them did not, and is not tried again.
    cancelled,   // Its owner cancelled it.
};
BOOST_DESCRIBE_ENUM(JobPhase, pending, admitted, starting, running, preempting, succeeded, failed, cancelled)

enum class JobEvent {
    admit,    // Tasks of it have got a place.
    start,    // A task runs.
    run,      // All tasks of an element run.
    preempt,  // All that it has is to make room.
    wait,     // It has no tasks, and is not over: it waits for its next one.
    succeed,
    fail,
    cancel,
};
BOOST_DESCRIBE_ENUM(JobEvent, admit, start, run, preempt, wait, succeed, fail, cancel)

using JobEdge = Edge<JobPhase, JobEvent>;

inline constexpr JobEdge job_life[] = {
    {JobPhase::pending, JobEvent::admit, JobPhase::admitted},
    {JobPhase::pending, JobEvent::fail, JobPhase::failed},
    {JobPhase::pending, JobEvent::succeed, JobPhase::succeeded},
    {JobPhase::pending, JobEvent::cancel, JobPhase::cancelled},

    {JobPhase::admitted, JobEvent::start, JobPhase::starting},
    {JobPhase::admitted, JobEvent::run, JobPhase::running},
    {JobPhase::admitted, JobEvent::preempt, JobPhase::preempting},
    {JobPhase::admitted, JobEvent::wait, JobPhase::pending},
    {JobPhase::admitted, JobEvent::succeed, JobPhase::succeeded},
    {JobPhase::admitted, JobEvent::fail, JobPhase::failed},
    {JobPhase::admitted, JobEvent::cancel, JobPhase::cancelled},

    {JobPhase::starting, JobEvent::run, JobPhase::running},
    {JobPhase::starting, JobEvent::preempt, JobPhase::preempting},
    {JobPhase::starting, JobEvent::wait, JobPhase::pending},
    {JobPhase::starting, JobEvent::succeed, JobPhase::succeeded},
    {JobPhase::starting, JobEvent::fail, JobPhase::failed},
    {JobPhase::starting, JobEvent::cancel, JobPhase::cancelled},

    {JobPhase::running, JobEvent::preempt, JobPhase::preempting},
    {JobPhase::running, JobEvent::wait, JobPhase::pending},
    {JobPhase::running, JobEvent::succeed, JobPhase::succeeded},
    {JobPhase::running, JobEvent::fail, JobPhase::failed},
    {JobPhase::running, JobEvent::cancel, JobPhase::cancelled},

    {JobPhase::preempting, JobEvent::wait, JobPhase::pending},
    {JobPhase::preempting, JobEvent::succeed, JobPhase::succeeded},
    {JobPhase::preempting, JobEvent::fail, JobPhase::failed},
    {JobPhase::preempting, JobEvent::cancel, JobPhase::cancelled},
};

constexpr bool is_final(JobPhase phase) { return is_final(job_life, phase); }

static_assert(is_deterministic(job_life));
static_assert(is_final(JobPhase::succeeded) && is_final(JobPhase::failed) && is_final(JobPhase::cancelled));

}  // namespace hostler
