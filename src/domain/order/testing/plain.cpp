#include "domain/order/testing/plain.h"

#include <cmath>

namespace hostler {

namespace {

QueuePath prefix_of(const QueuePath& path, int depth) {
    return {path.tenant, depth >= 2 ? path.project : "", depth >= 3 ? path.user : ""};
}

}  // namespace

bool PlainOrder::within(const QueuePath& path, const QueuePath& prefix) const {
    return prefix_of(path, prefix.depth()) == prefix || prefix.depth() == 0;
}

Queue PlainOrder::queue(const QueuePath& prefix) const {
    const auto found = queues.find(prefix);
    return found == queues.end() ? Queue{} : found->second;
}

Amount PlainOrder::allocated(const QueuePath& prefix) const {
    Amount sum;
    for (const auto& [id, job] : running)
        if (within(job.path, prefix)) sum += job.size;
    return sum;
}

Mean PlainOrder::used(const QueuePath& prefix, std::int64_t now) const {
    if (half_life_s == 0) return {};
    const auto left = [&](std::int64_t at) {
        return std::exp2(-static_cast<double>(now - at) / (static_cast<double>(half_life_s) * 1e6));
    };
    Mean sum;
    for (const Ran& run : ran)
        if (within(run.path, prefix)) sum = sum + Mean{run.size} * (left(run.ended) - left(run.started));
    for (const auto& [id, job] : running)
        if (within(job.path, prefix)) sum = sum + Mean{job.size} * (1 - left(job.started));
    return sum;
}

Amount PlainRound::allocated(const QueuePath& prefix) const {
    Amount sum = order_.allocated(prefix);
    for (const Waiting& job : admitted_)
        if (order_.within(job.path, prefix)) sum += job.size;
    return sum;
}

// Jobs below the prefix that can still be offered.
std::vector<Waiting> PlainRound::open(const QueuePath& prefix) const {
    std::vector<Waiting> all;
    for (const auto& [id, job] : order_.waiting)
        if (order_.within(job.path, prefix) && !seen_.contains(id) && !closed_.contains(job.path))
            all.push_back(job);
    return all;
}

std::optional<Waiting> PlainRound::first(const QueuePath& prefix) const {
    const std::vector<Waiting> jobs = open(prefix);
    if (jobs.empty()) return std::nullopt;
    if (prefix.depth() == queue_depth)
        return *std::ranges::min_element(jobs, {}, [](const Waiting& job) {
            return std::tuple(-std::int64_t{job.priority}, job.since, job.id);
        });
    std::set<QueuePath> children;
    for (const Waiting& job : jobs) children.insert(prefix_of(job.path, prefix.depth() + 1));
    const auto key = [&](const QueuePath& child) {
        const Queue queue = order_.queue(child);
        const Amount held = allocated(child);
        const double share =
            held.dominant(order_.capacity) + order_.used(child, now_).dominant(order_.capacity);
        std::int64_t oldest = INT64_MAX;
        for (const auto& [id, job] : order_.waiting)
            if (order_.within(job.path, child)) oldest = std::min(oldest, job.since);
        return std::tuple(!below_guarantee(held, queue.guaranteed), std::llround(share / queue.weight * 1e9),
                          oldest, child);
    };
    return first(*std::ranges::min_element(children, {}, key));
}

bool PlainRound::over_limit(const Waiting& job) const {
    for (int depth = 1; depth <= queue_depth; ++depth) {
        const QueuePath prefix = prefix_of(job.path, depth);
        const auto most = order_.queue(prefix).most;
        if (most && !(allocated(prefix) + job.size).fits(*most)) return true;
    }
    return false;
}

std::optional<Waiting> PlainRound::next() {
    for (;;) {
        offered_ = first({});
        if (!offered_) return std::nullopt;
        seen_.insert(offered_->id);
        if (!over_limit(*offered_)) return offered_;
        left_out.push_back(offered_->id);
        if (++over_[offered_->path] >= over_limit_max_) closed_.insert(offered_->path);
    }
}

void PlainRound::admit() { admitted_.push_back(*offered_); }
void PlainRound::refuse_queue() { closed_.insert(offered_->path); }

}  // namespace hostler
