// Runs a loop and weighs each of its turns: as long as one handler has the thread, everybody else waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/task.h"

namespace hostler::bench {

// What a client asked for.
enum class Ask { create, dry_run, other };

// CPU time of this thread.
std::int64_t thread_cpu_ns();

class Turns {
public:
    struct Taken {
        std::vector<double> turns_us;     // CPU of each.
        std::vector<double> calls_us[3];  // CPU of all turns from a call to its answer, by what was asked.
        double longest_wall_ms = 0;       // Of the turns that did not wait for anything before.
        double cpu_s = 0;  // Of the thread since the last take(), the loop's own part included.
        double wall_s = 0;
    };

    explicit Turns(Loop& loop) : loop_(loop) {}
    // Until `done`; on one thread, which is this loop's from then on.
    void run(const std::atomic<bool>& done);
    // A call begins in this turn: what answered() wants.
    std::int64_t asked() const { return spent_ns_; }
    // It ends in this turn. Where several are under way, each has the turns of all.
    void answered(Ask what, std::int64_t asked) { answered_.emplace_back(what, asked); }
    // Since the last time; called in a turn, which counts for the next time.
    Taken take();
    // Told of the CPU time of each turn when it is over, in microseconds.
    std::function<void(double)> over;

private:
    void note(std::int64_t cpu_ns);

    Loop& loop_;
    std::int64_t spent_ns_ = 0;  // By all turns before this one.
    std::vector<std::pair<Ask, std::int64_t>> answered_;
    Taken taken_;
    std::int64_t cpu_begun_ = 0;
    std::int64_t wall_begun_ = 0;
};

}  // namespace hostler::bench
