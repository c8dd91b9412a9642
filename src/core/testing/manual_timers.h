// For tests: time that moves only when told to.
#pragma once

#include <map>

#include "core/timers.h"

namespace hostler::testing {

class ManualTimers : public Timers {
public:
    explicit ManualTimers(Loop& loop) : loop_(loop) {}

    Instant now() const override { return now_; }
    WallTime wall() const override {
        return start + std::chrono::duration_cast<std::chrono::microseconds>(now_.time_since_epoch());
    }
    TimerId schedule(Instant at, std::move_only_function<void()> wake) override {
        wakes_.emplace(std::pair{std::max(at, now_), ++last_}, std::move(wake));
        return last_;
    }
    void cancel(TimerId id) override {
        std::erase_if(wakes_, [&](const auto& wake) { return wake.first.second == id; });
    }

    // Lets the loop do all it can, then moves on from wake-up to wake-up, and lets it do all it can after
    // each.
    void advance(Duration time) {
        const Instant end = now_ + time;
        settle();
        while (!wakes_.empty() && wakes_.begin()->first.first <= end) {
            auto next = wakes_.extract(wakes_.begin());
            now_ = next.key().first;
            next.mapped()();
            settle();
        }
        now_ = end;
    }
    // Runs the loop until nothing is left to do without time passing.
    void settle() {
        loop_.restart();
        while (loop_.poll() > 0) {
        }
    }

    std::size_t size() const { return wakes_.size(); }  // Wake-ups that are set.

private:
    static constexpr WallTime start{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
    Loop& loop_;
    Instant now_{};
    TimerId last_ = 0;
    std::map<std::pair<Instant, TimerId>, std::move_only_function<void()>> wakes_;
};

}  // namespace hostler::testing
