// The order of waiting jobs: a tree of queues with what waits and runs in each, kept by deltas. One lives
// beside the estate and equals one that is built from the same jobs, settings and settled usage.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "domain/order/queue.h"

namespace hostler {

class Round;
class Tree;

// A job that waits. Times are microseconds since 1970, in [0, 2^61].
struct Waiting {
    std::string id;
    QueuePath path;          // Of a leaf: no name is empty.
    int priority = 0;        // The higher is earlier within a leaf.
    std::int64_t since = 0;  // When it was submitted.
    Amount size;             // Of all its tasks.
    std::int64_t ran = 0;    // Microseconds that it ran before it was preempted.
    // The caller's number for jobs that find room, or do not, where the others of their queue do. 0: of no
    // kind.
    std::uint32_t kind = 0;
    bool operator==(const Waiting&) const = default;
};

// A job that holds resources.
struct Running {
    std::string id;
    QueuePath path;
    int priority = 0;
    Amount size;
    std::int64_t started = 0;
    bool preemptible = true;  // False: never a victim.
    std::int64_t submitted = 0;
    std::int64_t ran = 0;  // As of Waiting.
    bool operator==(const Running&) const = default;
};

// Usage of ended runs in a node: the decayed average of what it held, as of `at`. The caller stores it.
struct Settled {
    QueuePath path;  // A prefix.
    Mean used;
    std::int64_t at = 0;
};

// One queue, as it is now.
struct Standing {
    QueuePath path;
    Queue queue;
    Amount allocated;
    std::int64_t waiting = 0, running = 0;  // Jobs, of the whole subtree.
    double share = 0;                       // Dominant share of the capacity that it holds, in [0, 1].
    double used = 0;                        // The same of its decayed average use.
    double rank = 0;                        // (share + used) / weight: the lowest of siblings is next.
    bool guaranteed = false;                // Below its guarantee: before its siblings that are not.
    // Its part of the capacity, in [0, 1]: what its parent is entitled to, divided by the weights of the
    // siblings with waiting or running jobs; at least the dominant share of its guarantee.
    double entitled = 0;
    std::int64_t oldest = 0;  // Since when the job waits that has waited longest; 0: none waits.
};

class Order {
public:
    Order();
    ~Order();
    Order(Order&&) noexcept;
    Order& operator=(Order&&) noexcept;

    // All that can be allocated. invalid: a resource is negative or too large.
    Result<> set_capacity(const Amount&);
    const Amount& capacity() const;

    // Usage counts half after this time; 0: usage does not count. In [0, 10 years]; another is refused. What
    // was used keeps its weight as of now.
    Result<> set_half_life(std::int64_t seconds, std::int64_t now);

    // Settings of a node, by its prefix. invalid: check(Queue), or the prefix has a gap.
    Result<> set_queue(const QueuePath& prefix, const Queue&);
    void clear_queue(const QueuePath& prefix);

    // Adds a waiting job; one of the same id is replaced. A running one is to be ended first, or its usage is
    // lost. invalid: a name is empty, an amount or a time is out of range; then nothing changes.
    Result<> wait(const Waiting&);
    void withdraw(const std::string& id);  // One that does not wait: no effect.

    // Adds a running job; one of the same id, waiting or running, is replaced. Errors as of `wait`, and
    // exhausted: all running ones hold more than 2^62 of a resource.
    Result<> start(const Running&);
    void end(const std::string& id, std::int64_t now);  // Its usage counts until now.

    // Usage of ended runs, to be stored and given to the next instance. `settle` replaces.
    std::vector<Settled> settled(std::int64_t now) const;
    Result<> settle(const Settled&);

    // The order as of now: offers the best job first. The order must outlive it and stay in place.
    Round round(std::int64_t now) const;

    // An estimate of how many waiting jobs are offered before this one in a round as of now that admits all
    // of them: each queue's jobs count with their mean size. Exact where all jobs are of one size.
    // O(queues × log jobs). nullopt: it does not wait.
    std::optional<std::int64_t> position(const std::string& id, std::int64_t now) const;

    // The queue whose limit the waiting job would exceed if it was admitted now. nullopt: none.
    std::optional<QueuePath> at_limit(const std::string& id) const;

    std::optional<Waiting> waiting(const std::string& id) const;
    std::optional<Running> running(const std::string& id) const;
    std::size_t waiting_count() const;
    std::size_t running_count() const;
    Amount allocated(const QueuePath& prefix) const;
    std::optional<Standing> standing(const QueuePath& prefix, std::int64_t now) const;
    // Every queue, parents before children, siblings by name. O(queues).
    std::vector<Standing> standings(std::int64_t now) const;

    const Tree& tree() const { return *tree_; }  // For this folder.

private:
    std::unique_ptr<Tree> tree_;
};

}  // namespace hostler
