#include "bench/estate/turns.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace hostler::bench {

namespace {

std::int64_t read_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

}  // namespace

std::int64_t thread_cpu_ns() { return read_ns(CLOCK_THREAD_CPUTIME_ID); }

void Turns::run(const std::atomic<bool>& done) {
    constexpr std::chrono::milliseconds wait{100};
    const auto guard = asio::make_work_guard(loop_);
    cpu_begun_ = thread_cpu_ns();
    wall_begun_ = read_ns(CLOCK_MONOTONIC);
    while (!done) {
        const std::int64_t cpu = thread_cpu_ns(), wall = read_ns(CLOCK_MONOTONIC);
        if (loop_.poll_one() > 0)
            taken_.longest_wall_ms =
                std::max(taken_.longest_wall_ms, static_cast<double>(read_ns(CLOCK_MONOTONIC) - wall) / 1e6);
        else
            loop_.run_one_for(wait);
        note(thread_cpu_ns() - cpu);
    }
}

void Turns::note(std::int64_t cpu_ns) {
    taken_.turns_us.push_back(static_cast<double>(cpu_ns) / 1e3);
    spent_ns_ += cpu_ns;
    if (over) over(static_cast<double>(cpu_ns) / 1e3);
    for (const auto& [what, asked] : std::exchange(answered_, {}))
        taken_.calls_us[static_cast<std::size_t>(what)].push_back(static_cast<double>(spent_ns_ - asked) /
                                                                  1e3);
}

Turns::Taken Turns::take() {
    const std::int64_t cpu = thread_cpu_ns(), wall = read_ns(CLOCK_MONOTONIC);
    Taken taken = std::exchange(taken_, {});
    taken.cpu_s = static_cast<double>(cpu - std::exchange(cpu_begun_, cpu)) / 1e9;
    taken.wall_s = static_cast<double>(wall - std::exchange(wall_begun_, wall)) / 1e9;
    return taken;
}

}  // namespace hostler::bench
