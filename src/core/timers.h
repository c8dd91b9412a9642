// Time as a parameter: the only clock, and the only way to wait for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/task.h"

namespace hostler {

using Duration = std::chrono::nanoseconds;
using Instant = std::chrono::steady_clock::time_point;  // Monotonic; meaningless between machines.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;  // For people, certificates and the store.

using TimerId = std::uint64_t;

// Wake-ups on one loop. Not to be called from another thread.
class Timers {
public:
    virtual ~Timers() = default;
    virtual Instant now() const = 0;
    // The same, with the time that the machine was asleep: for what others count on meanwhile.
    virtual Instant now_with_sleep() const { return now(); }
    virtual WallTime wall() const = 0;
    // Calls `wake` once on this loop, at `at` or soon after; never from within schedule().
    virtual TimerId schedule(Instant at, std::move_only_function<void()> wake) = 0;
    // After cancel() returns, `wake` is not called. Cancelling what has fired does nothing.
    virtual void cancel(TimerId) = 0;

    // Ends with the timers: tasks that a loop gives up when it is destroyed may outlive them.
    std::weak_ptr<const void> life() const { return life_; }

private:
    std::shared_ptr<const void> life_ = std::make_shared<char>();
};

// Errors: cancelled.
Task<> sleep(Timers& timers, Duration time);

// Calls `expire` if it still lives `time` after it was made: the deadline of what happens in a scope.
class Deadline {
public:
    Deadline(Timers& timers, Duration time, std::move_only_function<void()> expire);
    ~Deadline();
    Deadline(const Deadline&) = delete;
    Deadline& operator=(const Deadline&) = delete;
    void renew(Duration time);  // Counts anew from now.
    bool expired() const { return expired_; }

private:
    void arm(Instant at);
    Timers& timers_;
    std::weak_ptr<const void> life_;
    std::move_only_function<void()> expire_;
    Instant at_;
    TimerId timer_ = 0;
    bool expired_ = false;
};

// "2026-11-21T11:40:29.000123Z" (RFC 3339, UTC).
std::string rfc3339(WallTime);
// Errors: invalid.
Result<WallTime> parse_rfc3339(std::string_view);

}  // namespace hostler
