// One command on its way through the executor.
#pragma once

#include <optional>
#include <vector>

#include "core/signal.h"
#include "core/task_group.h"
#include "roles/agent/executor.h"

namespace hostler::agent {

struct Executor::Job {
    explicit Job(uplink::Command&& of);
    std::shared_ptr<const uplink::Command> kept;
    const uplink::Command& command = *kept;
    bool resumed = false;                        // It was begun before this start of the agent.
    bool superseded = false;                     // A later command of its subject waits for it to end.
    bool interruptible = true;                   // Between calls that must not be left half done.
    TaskGroup* running = nullptr;                // Where it is being done.
    std::optional<Workload> seen;                // To be told with the answer.
    std::uint64_t killed = 0;                    // The same: generation of what got SIGKILL,
    Duration killed_after{};                     // so long after SIGTERM. 0: nothing did.
    std::shared_ptr<uplink::Measured> measured;  // The same.
    std::map<std::string, std::string> outputs;  // The same; secrets, so that no log has them.
    std::vector<Leftover> leftovers;             // The same.
    // Of a challenge: where its paths begin, once the master has said it.
    std::optional<std::uint32_t> path_seed;
    Signal path_told;
};

// The error with a reason for programs, unless it has one.
Error because(Error error, std::string_view reason);

// Whose login a private image was pulled with. The default project has its tenant's name alone, as agents
// before there were projects wrote it down.
std::string login_scope(const uplink::StartWorkload& wanted);

// Repeats what failed in passing: a caller may do so with every port. An engine that is started again is back
// before the last try, 7.75 s after the first.
template <class Call>
auto persist(Timers& timers, Call call) -> decltype(call()) {
    constexpr int tries_max = 6;
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

// Does all at the same time. The first error, in their order.
inline Task<> at_once(Loop& loop, std::vector<Task<>> tasks) {
    std::vector<std::optional<Result<>>> answers(tasks.size());
    std::size_t left = tasks.size();
    Signal ended;
    TaskGroup group{loop};
    for (std::size_t i = 0; i < tasks.size(); ++i)
        group.start("part of a command",
                    [](std::optional<Result<>>& into, std::size_t& due, Signal& done, Task<> task) -> Task<> {
                        into = co_await std::move(task);
                        if (--due == 0) done.notify_all();
                        co_return Result<>{};
                    }(answers[i], left, ended, std::move(tasks[i])));
    Result<> waited{};
    if (left > 0) waited = co_await ended.wait();
    (void)co_await group.close();
    CO_TRY(std::move(waited));
    for (auto& answer : answers) CO_TRY(std::move(*answer));
    co_return Result<>{};
}

}  // namespace hostler::agent
