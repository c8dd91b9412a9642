// For tests of what runs on threads of its own: real time, and a loop that really waits.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <map>
#include <optional>

#include "core/task_group.h"
#include "core/timers.h"

namespace hostler::testing {

class RealTimers : public Timers {
public:
    explicit RealTimers(Loop& loop) : loop_(loop) {}

    Instant now() const override { return std::chrono::steady_clock::now(); }
    WallTime wall() const override {
        return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
    }
    TimerId schedule(Instant at, std::move_only_function<void()> wake) override {
        const TimerId id = ++last_;
        auto& timer = timers_.try_emplace(id, loop_, at).first->second;
        timer.async_wait([this, id, wake = std::move(wake)](boost::system::error_code) mutable {
            if (timers_.erase(id) > 0) wake();
        });
        return id;
    }
    void cancel(TimerId id) override { timers_.erase(id); }

private:
    Loop& loop_;
    TimerId last_ = 0;
    std::map<TimerId, asio::steady_timer> timers_;
};

// The task's answer, however long it takes.
template <class T>
Result<T> run_real(Loop& loop, Task<T> task) {
    std::optional<Result<T>> answer;
    TaskGroup group{loop};
    group.start("test", [](std::optional<Result<T>>& into, Task<T> inner) -> Task<> {
        into.emplace(co_await std::move(inner));
        co_return Result<>{};
    }(answer, std::move(task)));
    loop.restart();
    while (!answer && loop.run_one() > 0) {
    }
    HOSTLER_ASSERT(answer && "the task waits for something that nothing will do");
    loop.restart();
    loop.poll();
    return std::move(*answer);
}

}  // namespace hostler::testing
