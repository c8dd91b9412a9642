// A deadline for a call that has none of its own.
#pragma once

#include "core/signal.h"
#include "core/task_group.h"
#include "core/timers.h"

namespace hostler::agent {

// The task's answer; when it takes longer than `time` it is cancelled, and the answer is `timeout`. Returns
// only when the task has ended, so what it refers to may go away after.
template <class T>
Task<T> within(Loop& loop, Timers& timers, Duration time, std::string what, Task<T> task) {
    std::optional<Result<T>> answer;
    Signal ended;
    TaskGroup group{loop};
    group.start(what, [](std::optional<Result<T>>& into, Signal& done, Task<T> inner) -> Task<> {
        into.emplace(co_await std::move(inner));
        done.notify_all();
        co_return Result<>{};
    }(answer, ended, std::move(task)));
    bool late = false;
    const Deadline deadline{timers, time, [&] {
                                late = true;
                                group.cancel();
                            }};
    Result<> waited{};
    if (!answer) waited = co_await ended.wait();
    (void)co_await group.close();
    if (!waited) co_return std::unexpected(waited.error());
    if (late && !*answer && answer->error().code == Code::cancelled)
        co_return fail(Code::timeout, what + " did not answer in time");
    co_return std::move(*answer);
}

}  // namespace hostler::agent
