// The simulation's time: it moves only from wake-up to wake-up, when nobody has anything left to do.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "core/timers.h"

namespace hostler::sim {

// A running hash of all that happened; two runs from one seed have the same.
class Digest {
public:
    void add(std::string_view bytes) {
        for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    void add(std::uint64_t number) {
        for (int i = 0; i < 8; ++i, number >>= 8) value_ = (value_ ^ (number & 0xff)) * 0x100000001b3;
    }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325;
};

class Clock {
public:
    Instant now() const { return now_; }
    TimerId schedule(Instant at, std::move_only_function<void()> wake);
    void cancel(TimerId id) { (void)take(id); }
    std::move_only_function<void()> take(TimerId id);  // As cancel(); empty when it was not there.
    // Goes to the first wake-up not after `limit` and calls it. false: there is none, and it is `limit` now.
    bool step(Instant limit);
    std::size_t size() const { return wakes_.size(); }
    // What all wall clocks are ahead of the time that has passed: days go by at once, and nobody is awake in
    // them.
    void jump(std::chrono::microseconds by) { ahead_ += by; }
    std::chrono::microseconds ahead() const { return ahead_; }
    Digest digest;

private:
    Instant now_{};
    std::chrono::microseconds ahead_{};
    TimerId last_ = 0;
    std::map<std::pair<Instant, TimerId>, std::move_only_function<void()>> wakes_;
    std::unordered_map<TimerId, Instant> times_;
};

// How a machine's clocks differ from the world's.
struct Skew {
    std::chrono::microseconds wall{};  // Ahead by so much.
    std::int64_t rate_ppm = 0;         // Its monotonic clock is faster by so many millionths,
    std::int64_t wall_ppm = 0;         // and its wall clock by so many.
};

// One process's view of the time. After cut() nothing that it was asked for happens any more; but what would
// have been called is kept, since a coroutine that sleeps goes away with it. A process that is stopped is
// called when it goes on, for all that was due meanwhile.
class SimTimers final : public Timers {
public:
    explicit SimTimers(Clock& clock, Skew skew = {}) : clock_(clock), skew_(skew) {}
    ~SimTimers() override { cut(); }
    void stop() { stopped_ = true; }
    void go_on();
    void jump(std::chrono::microseconds by) { skew_.wall += by; }

    Instant now() const override;
    WallTime wall() const override;
    TimerId schedule(Instant at, std::move_only_function<void()> wake) override;
    void cancel(TimerId id) override;
    void cut();

private:
    void due(TimerId id, std::move_only_function<void()> wake);
    Clock& clock_;
    Skew skew_;
    std::set<TimerId> mine_;
    std::deque<std::pair<TimerId, std::move_only_function<void()>>> late_;  // Came while it was stopped.
    bool stopped_ = false;
    std::vector<std::move_only_function<void()>> never_;
    bool cut_ = false;
};

}  // namespace hostler::sim
