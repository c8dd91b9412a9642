// One command on its way through the executor.
#pragma once

#include "core/task_group.h"
#include "roles/agent/executor.h"

namespace hostler::agent {

struct Executor::Job {
    explicit Job(uplink::Command&& of);
    std::shared_ptr<const uplink::Command> kept;
    const uplink::Command& command = *kept;
    bool superseded = false;       // A later command of its subject waits for it to end.
    bool interruptible = true;     // Between calls that must not be left half done.
    TaskGroup* running = nullptr;  // Where it is being done.
    std::optional<Workload> seen;  // To be told with the answer.
};

// Repeats what failed in passing: a caller may do so with every port.
template <class Call>
auto persist(Timers& timers, Call call) -> decltype(call()) {
    constexpr int tries_max = 5;
    Duration wait = std::chrono::milliseconds{250};
    for (int tries = 1;; ++tries) {
        auto answer = co_await call();
        if (answer || tries == tries_max) co_return answer;
        if (answer.error().code != Code::unavailable && answer.error().code != Code::timeout)
            co_return answer;
        CO_TRY(co_await sleep(timers, wait));
        wait *= 2;
    }
}

}  // namespace hostler::agent
