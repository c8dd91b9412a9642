// Stands beside the database that several masters share: whom it has given its lease, by a clock that nobody
// puts forward or back, and what it took from whom.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "core/timers.h"
#include "findings.h"

namespace hostler::simulation {

// A master that would tell from memory.
struct Leading {
    std::string who;
    std::uint64_t epoch = 0;
    bool operator==(const Leading&) const = default;
    auto operator<=>(const Leading&) const = default;
};

class LeaseWatch {
public:
    explicit LeaseWatch(Findings& found) : found_(found) {}

    void led(const Leading& by, Duration length, Instant now);
    void renewed(const Leading& by, Duration length, Instant now);
    void resigned(const Leading& by) { grants_.erase(by); }
    void committed(std::uint64_t epoch, std::uint64_t number);
    void put_forward(Instant now) { put_forward_ = now; }  // The clock that leases are counted by.
    // The epoch and the commit that it is at, after all that came later was lost. `promised`: what anybody
    // was told is not among that.
    void rewound(std::uint64_t epoch, std::uint64_t number, bool promised);
    // Who leads at this moment, each by its own clock.
    void look(const std::vector<Leading>& leaders, Instant now);
    // Whoever led before the clock was put forward may have told this: asked for then, answered now.
    bool may_be_old(Instant asked, Instant now) const;

private:
    struct Grant {
        Instant since{};  // When it was last given or renewed.
        Instant until{};
    };
    void check_alone(const Leading& one, const Leading& other);

    Findings& found_;
    std::map<Leading, Grant> grants_;
    std::set<Leading> outlived_;  // Was reported.
    std::uint64_t epoch_ = 0, number_ = 0;
    std::uint64_t served_ = 0;  // The highest epoch in which anybody led.
    Instant put_forward_ = Instant::min();
    Duration length_{};
};

}  // namespace hostler::simulation
