// The nodes behind `Order`. For this folder only.
#pragma once

#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>
#include <map>
#include <set>
#include <tuple>

#include "domain/order/order.h"

namespace hostler {

inline constexpr std::int64_t time_most = std::int64_t{1} << 61;

using Serial = std::uint64_t;  // Of a node; never used twice, so a round notices that a node has gone.

// A job in the tree. There may be very many that wait.
struct Entry {
    Serial leaf = 0;
    std::int64_t at = 0;  // `since` or `started`.
    Amount size;
    std::int64_t ran = 0;
    int priority = 0;
    std::uint32_t kind = 0;  // Of a waiting one.
};
using WaitingEntry = std::pair<const std::string, Entry>;  // By its id.

// Where a job stands in the line of its leaf.
struct LinePlace {
    int priority = 0;
    std::int64_t since = 0;
    std::string_view id;
    bool operator<(const LinePlace& other) const {
        return std::tie(other.priority, since, id) < std::tie(priority, other.since, other.id);
    }
};
struct InLine {
    const WaitingEntry* job = nullptr;  // In the tree, which keeps it in its place.
    LinePlace place() const { return {job->second.priority, job->second.at, job->first}; }
};
struct BeforeInLine {
    static LinePlace place(const LinePlace& place) { return place; }
    static LinePlace place(const InLine& one) { return one.place(); }
    bool operator()(const auto& one, const auto& two) const { return place(one) < place(two); }
};
using Line =
    boost::multi_index_container<InLine, boost::multi_index::indexed_by<boost::multi_index::ranked_unique<
                                             boost::multi_index::identity<InLine>, BeforeInLine>>>;

// Sums of many sizes exceed 64 bits.
struct Sum {
    __int128 gpu_milli = 0, cpu_milli = 0, memory_bytes = 0;
    void add(const Amount& amount, int times) {
        gpu_milli += __int128{amount.gpu_milli} * times;
        cpu_milli += __int128{amount.cpu_milli} * times;
        memory_bytes += __int128{amount.memory_bytes} * times;
    }
    Mean mean(std::int64_t count) const {
        const double by = count > 0 ? 1.0 / static_cast<double>(count) : 0;
        return Mean{static_cast<double>(gpu_milli), static_cast<double>(cpu_milli),
                    static_cast<double>(memory_bytes)} *
               by;
    }
};

struct Node {
    std::string name;
    Serial parent = 0;
    int depth = 0;
    std::optional<Queue> queue;
    Amount allocated;
    // Usage as value × 2^(t / half-life), so that time passing changes nothing stored. The decayed average at
    // t is (ended - begun) × decay(t) + allocated: of ended runs the sum of size × (2^end - 2^start), of
    // running ones the sum of size × 2^start.
    Mean ended, begun;
    std::map<std::string, Serial> children, active;  // `active`: those with waiting jobs.
    Line line;                                       // Of a leaf.
    std::map<std::uint32_t, std::int64_t> kinds;     // Of a leaf: how many of each kind wait.
    std::map<int, std::int64_t> priorities;          // Of a leaf: how many of each run.
    std::int64_t waiting = 0, running = 0;           // Of the subtree.
    Sum wanted;                                      // Sizes of waiting jobs of the subtree.
    std::multiset<std::int64_t> since;  // Of the jobs of a leaf, of the oldest of each active child.

    const Queue& settings() const;
    std::optional<std::int64_t> oldest() const {
        return since.empty() ? std::nullopt : std::optional{*since.begin()};
    }
};

struct RunningEntry : Entry {
    std::int64_t submitted = 0;
    bool preemptible = true;
};

// How nodes of one parent are compared; the name decides at last.
struct Rank {
    int tier = 0;          // 0: below its guarantee.
    std::int64_t key = 0;  // Billionths.
    std::int64_t oldest = 0;
    auto operator<=>(const Rank&) const = default;
};
Rank rank_of(const Queue&, const Amount& allocated, double used, std::int64_t oldest, const Amount& capacity);

class Tree {
public:
    static constexpr Serial root = 1;

    Tree();
    const Node* at(Serial serial) const {
        const auto found = nodes_.find(serial);
        return found == nodes_.end() ? nullptr : &found->second;
    }
    const Node* find(const QueuePath& prefix) const;
    Serial serial(const QueuePath& prefix) const;  // 0: none.
    QueuePath path(Serial) const;
    // The node and those above it, without the root.
    template <class Act>
    void climb(Serial serial, const Act& act) const {
        for (const Node* node = at(serial); node && node->parent != 0; node = at(node->parent)) act(*node);
    }

    // Decayed average use, as of now; without a half-life none.
    Mean used(const Node&, std::int64_t now) const;
    double decay(std::int64_t now) const;  // 2^-((now - reference) / half-life)
    Mean settled(const Node& node, std::int64_t now) const { return node.ended * decay(now); }
    std::optional<QueuePath> over_limit(Serial leaf, const Amount& more) const;

    Result<> set_half_life(std::int64_t seconds, std::int64_t now);
    void set_queue(const QueuePath& prefix, const Queue&);
    void clear_queue(const QueuePath& prefix);
    void wait(const Waiting&);
    void withdraw(const std::string& id);
    bool holds(const Amount& more) const;  // The sums stay in range.
    void start(const Running&);
    void end(const std::string& id, std::int64_t now);
    void drop(const std::string& id);  // A running job, as though it never ran.
    void settle(const Settled&);

    Amount capacity;
    const std::map<std::string, Entry>& waiting() const { return waiting_; }
    const std::map<std::string, RunningEntry>& running() const { return running_; }

private:
    Node& make(const QueuePath& prefix);
    Node& own(Serial serial) { return nodes_.at(serial); }
    void prune(Serial);
    void note_oldest(Serial, std::optional<std::int64_t> before);
    double grown(std::int64_t at) const;  // 2^((at - reference) / half-life)
    void rebase(std::int64_t now);
    void remove_running(const std::string& id, std::optional<std::int64_t> until);

    std::map<Serial, Node> nodes_;
    Serial last_ = root;
    std::map<std::string, Entry> waiting_;
    std::map<std::string, RunningEntry> running_;
    double half_life_us_ = 0;
    std::int64_t reference_ = 0;
};

}  // namespace hostler
