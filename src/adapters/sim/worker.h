// A worker that takes simulated time instead of a thread.
#pragma once

#include <deque>

#include "adapters/sim/vfs.h"
#include "core/worker.h"

namespace hostler::sim {

// A job runs at one moment and is done at a later one: whoever dies in between has done it and was not told.
class SimWorker final : public Worker {
public:
    SimWorker(Timers& timers, SimVfs& disk) : timers_(timers), disk_(disk) {}
    ~SimWorker() override { cut(); }

    void post(std::move_only_function<void()> job, std::move_only_function<void()> done) override {
        jobs_.push_back({std::move(job), std::move(done)});
        if (jobs_.size() == 1 && !cut_) begin();
    }
    std::size_t backlog() const override { return jobs_.size(); }
    // No job runs any more. They are kept, since the coroutines that wait for them go away with them.
    void cut() {
        cut_ = true;
        timers_.cancel(timer_);
    }
    std::function<void()> power_went;  // Called when the disk lost its power in the middle of a job.

private:
    struct Job {
        std::move_only_function<void()> run;
        std::move_only_function<void()> done;
    };

    void begin() {
        constexpr std::chrono::microseconds way{20};  // To the thread and back.
        timer_ = timers_.schedule(timers_.now() + way, [this, way] {
            const bool before = disk_.crashed_on_call();
            jobs_.front().run();
            jobs_.front().run = nullptr;
            if (!before && disk_.crashed_on_call() && power_went) return power_went();
            timer_ = timers_.schedule(timers_.now() + way + disk_.take_time(), [this] {
                auto done = std::move(jobs_.front().done);
                jobs_.pop_front();
                if (!jobs_.empty()) begin();
                done();
            });
        });
    }

    Timers& timers_;
    SimVfs& disk_;
    std::deque<Job> jobs_;
    TimerId timer_ = 0;
    bool cut_ = false;
};

}  // namespace hostler::sim
