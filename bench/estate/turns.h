// Runs a loop and weighs each of its turns: as long as one handler has the thread, everybody else waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/task.h"

namespace hostler::bench {

// What a turn was for. `master`: everything that is no call of a client.
enum class Turn { master, create, dry_run, call };

// CPU time of this thread.
std::int64_t thread_cpu_ns();

class Turns {
public:
    struct Taken {
        std::vector<double> cpu_us[4];  // Of each turn, by what it was for.
        double longest_wall_ms = 0;     // Of those that did not wait for anything before.
        double cpu_s = 0;               // Of the thread since the last take(), the loop's own part included.
        double wall_s = 0;
    };

    explicit Turns(Loop& loop) : loop_(loop) {}
    // Until `done`; on one thread, which is this loop's from then on.
    void run(const std::atomic<bool>& done);
    // Of the turn that runs now; called in it.
    void is_for(Turn what) { now_ = what; }
    // Since the last time; called in a turn, which counts for the next time.
    Taken take();

private:
    void note(std::int64_t cpu_ns);

    Loop& loop_;
    Turn now_ = Turn::master;
    Taken taken_;
    std::int64_t cpu_begun_ = 0;
    std::int64_t wall_begun_ = 0;
};

}  // namespace hostler::bench
