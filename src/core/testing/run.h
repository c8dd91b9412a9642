// For tests: run one task to its end.
#pragma once

#include <optional>

#include "core/task_group.h"

namespace hostler::testing {

// The task's answer; nullopt when the loop has nothing left to do and the task still waits (it is then
// cancelled).
template <class T>
std::optional<Result<T>> try_run(Loop& loop, Task<T> task) {
    std::optional<Result<T>> answer;
    TaskGroup group{loop};
    group.start("test", [](std::optional<Result<T>>& into, Task<T> inner) -> Task<> {
        into.emplace(co_await std::move(inner));
        co_return Result<>{};
    }(answer, std::move(task)));
    loop.restart();
    while (loop.poll() > 0) {
    }
    if (answer) return answer;
    group.cancel();
    while (loop.poll() > 0) {
    }
    return std::nullopt;
}

// The task's answer; a task that never ends is a broken test.
template <class T>
Result<T> run(Loop& loop, Task<T> task) {
    auto answer = try_run(loop, std::move(task));
    HOSTLER_ASSERT(answer && "the task waits for something that nothing will do");
    return std::move(*answer);
}

}  // namespace hostler::testing
