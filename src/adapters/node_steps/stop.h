// When work that blocks has to end.
#pragma once

#include <atomic>
#include <chrono>

#include "core/result.h"

namespace hostler::node_steps {

using Clock = std::chrono::steady_clock;

// Of one step or one look: its deadline, and whether somebody has cancelled it. Asked by its thread.
class Stop {
public:
    explicit Stop(Clock::time_point until) : until_(until) {}
    void cancel() { cancelled_ = true; }
    bool cancelled() const { return cancelled_; }
    bool late() const { return Clock::now() >= until_; }
    bool now() const { return cancelled() || late(); }
    Clock::time_point until() const { return until_; }

private:
    std::atomic<bool> cancelled_ = false;
    Clock::time_point until_;
};

}  // namespace hostler::node_steps
