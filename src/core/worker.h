// A thread of its own for calls that block (a disk, a driver that may hang).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/suspend.h"

namespace hostler {

// Runs jobs in order, off the loop. The simulation has one that takes simulated time instead of a thread.
class Worker {
public:
    virtual ~Worker() = default;  // Waits for the job that is running; those behind it are dropped.
    // Runs `job` elsewhere, then `done` on the loop that the worker belongs to. Never blocks.
    virtual void post(std::move_only_function<void()> job, std::move_only_function<void()> done) = 0;
    virtual std::size_t backlog() const = 0;
};

// Runs `job` on the worker and gives its answer. The job must own what it touches: when the caller is
// cancelled, the job runs on and its answer is dropped. A job that ran ends where it ran, with what it owns.
// Errors: those of the job; cancelled.
template <class T>
Task<T> run_on(Worker& worker, std::move_only_function<Result<T>()> job) {
    struct Call {
        std::move_only_function<Result<T>()> job;
        std::optional<Result<T>> answer;
    };
    auto call = std::make_shared<Call>(std::move(job), std::nullopt);
    co_return co_await suspend<T>([&worker, call](WakerPtr<T> waker) {
        worker.post([call] { call->answer = std::exchange(call->job, {})(); },
                    [call, waker] { waker->wake(std::move(*call->answer)); });
    });
}

// The real one: one thread; more than `size_max` jobs waiting is our own mistake.
std::unique_ptr<Worker> make_worker(Loop& loop, std::string name, std::size_t size_max = 4096);

}  // namespace hostler
