// The order of waiting jobs in the slow and obvious way, which the fast one must equal.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "domain/order/order.h"

namespace hostler {

struct PlainOrder {
    struct Ran {
        QueuePath path;
        Amount size;
        std::int64_t started = 0, ended = 0;
    };

    Amount capacity;
    std::int64_t half_life_s = 0;
    std::map<QueuePath, Queue> queues;
    std::map<std::string, Waiting> waiting;
    std::map<std::string, Running> running;
    std::vector<Ran> ran;

    bool within(const QueuePath& path, const QueuePath& prefix) const;
    Queue queue(const QueuePath& prefix) const;
    Amount allocated(const QueuePath& prefix) const;
    Mean used(const QueuePath& prefix, std::int64_t now) const;
};

// One round: looks at everything in each step.
class PlainRound {
public:
    PlainRound(const PlainOrder& order, std::int64_t now, int over_limit_max)
        : order_(order), now_(now), over_limit_max_(over_limit_max) {}

    std::optional<Waiting> next();
    void admit();
    void refuse_queue();
    std::vector<std::string> left_out;

private:
    std::vector<Waiting> open(const QueuePath& prefix) const;
    Amount allocated(const QueuePath& prefix) const;
    std::optional<Waiting> first(const QueuePath& prefix) const;
    bool over_limit(const Waiting&) const;

    const PlainOrder& order_;
    std::int64_t now_;
    int over_limit_max_;
    std::set<std::string> seen_;
    std::set<QueuePath> closed_;
    std::map<QueuePath, int> over_;
    std::vector<Waiting> admitted_;
    std::optional<Waiting> offered_;
};

}  // namespace hostler
