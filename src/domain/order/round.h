// One pass over the waiting jobs, best first. It may stop after any step and continue later.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "domain/order/order.h"

namespace hostler {

// A job that is not offered because a queue would exceed its limit.
struct LeftOut {
    std::string job;
    QueuePath queue;  // The one at its limit.
};

// At each node: children below their guarantee first, then the lowest (share + used) / weight, compared in
// billionths; then the oldest waiting job, then the name. In a leaf: the highest priority, the earliest
// `since`, the id. What the round admits counts at once. A job that would exceed a queue's limit is left out;
// after over_limit_max of them the rest of their leaf is.
//
// Between two steps the order may change: withdrawn jobs are not offered; what else is new (jobs, ends,
// settings) counts from the next round on, or from when the round first looks at the queue. A step takes
// O(depth × log children); the first one at a node takes O(its children that wait). A leaf where only refused
// kinds wait takes one step; where others wait, those before them are passed.
class Round {
public:
    static constexpr int over_limit_max = 16;

    ~Round();
    Round(Round&&) noexcept;
    Round& operator=(Round&&) noexcept;

    // The best waiting job that was not yet offered; nullopt: none. One that was neither admitted nor refused
    // is refused.
    std::optional<Waiting> next();

    // The offered job counts as running in this round. The caller also tells the order (`start`).
    void admit();
    void refuse() {}

    // Refuses, and offers no further job of its kind and leaf in this round. Of no kind: as refuse().
    void refuse_kind();

    // Refuses, and offers no further job of its leaf in this round: nothing of it can pass the refused job.
    void refuse_queue();

    const std::vector<LeftOut>& left_out() const;

private:
    friend class Order;
    class State;
    explicit Round(std::unique_ptr<State>);
    std::unique_ptr<State> state_;
};

}  // namespace hostler
