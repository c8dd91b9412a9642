#include "domain/order/victims.h"

#include <algorithm>
#include <array>
#include <set>

#include "domain/order/tree.h"

namespace hostler {

namespace {

using Chain = std::array<Serial, queue_depth + 1>;  // From the root to a leaf.

std::int64_t to_us(std::int64_t seconds) {
    return std::clamp<std::int64_t>(seconds, 0, 1'000'000'000) * 1'000'000;
}

// No guaranteed resource that the job holds falls below the guarantee without it.
bool keeps(const Amount& guaranteed, const Amount& without, const Amount& size) {
    const auto in = [](std::int64_t least, std::int64_t left, std::int64_t goes) {
        return least == 0 || goes == 0 || left >= least;
    };
    return in(guaranteed.gpu_milli, without.gpu_milli, size.gpu_milli) &&
           in(guaranteed.cpu_milli, without.cpu_milli, size.cpu_milli) &&
           in(guaranteed.memory_bytes, without.memory_bytes, size.memory_bytes);
}

class Candidates {
public:
    Candidates(const Tree& tree, const Entry& claimant, const EvictionRules& rules, std::int64_t now)
        : tree_(tree), claimant_(claimant), rules_(rules), now_(now), own_(chain(claimant.leaf)) {
        for (const std::string& id : rules.leaving)
            if (const auto at = tree.running().find(id); at != tree.running().end())
                for (const Serial serial : chain(at->second.leaf)) leaving_[serial] += at->second.size;
        for (const Promise& one : rules.promised)
            if (const Serial leaf = tree.serial(one.path))
                for (const Serial serial : chain(leaf)) promised_[serial] += one.size;
        gone_ = leaving_;
        for (const auto& [id, entry] : tree.running())
            if (entry.preemptible && !rules.leaving.contains(id) && now - entry.at >= to_us(rules.min_run_s))
                jobs_.push_back({&id, &entry, chain(entry.leaf)});
        for (Job& job : jobs_)
            while (job.common < queue_depth && job.chain[job.common + 1] == own_[job.common + 1])
                ++job.common;
    }

    std::vector<Victim> find() {
        reclaim();
        priority();
        slice();
        return std::move(found_);
    }

private:
    struct Job {
        const std::string* id = nullptr;
        const RunningEntry* entry = nullptr;
        Chain chain{};
        std::size_t common = 0;  // The level of the deepest common node.
        bool taken = false;
    };

    Chain chain(Serial leaf) const {
        Chain chain{};
        for (std::size_t level = chain.size(); level-- > 0; leaf = tree_.at(leaf)->parent)
            chain[level] = leaf;
        return chain;
    }
    const Node& node(Serial serial) const { return *tree_.at(serial); }
    Amount left(Serial serial) const {
        const auto gone = gone_.find(serial);
        return gone == gone_.end() ? node(serial).allocated : node(serial).allocated - gone->second;
    }
    // By the claimant's queue, with what is promised to it.
    Amount held(Serial serial) const {
        Amount held = node(serial).allocated;
        if (const auto at = leaving_.find(serial); at != leaving_.end()) held -= at->second;
        if (const auto at = promised_.find(serial); at != promised_.end()) held += at->second;
        return held;
    }
    void take(Job& job, Eviction why) {
        job.taken = true;
        found_.push_back({*job.id, why});
        for (const Serial serial : job.chain) gone_[serial] += job.entry->size;
    }
    void sort(const auto& key) {
        std::ranges::sort(jobs_, [&](const Job& a, const Job& b) {
            const auto of_a = key(a), of_b = key(b);
            return of_a != of_b ? of_a < of_b : *a.id < *b.id;
        });
    }

    // 0: no guarantee covers the job and its queues keep theirs; 1: they do not; 2: a guarantee at a lower
    // level covers it; 3: it is no victim. What was taken before has gone.
    int reclaim_class(const Job& job) const {
        const std::size_t level = job.common + 1;
        if (level > queue_depth) return 3;
        const Node& own = node(own_[level]);
        if (!covers(own.settings().guaranteed, held(own_[level]), claimant_.size)) return 3;
        int worst = 0;
        for (std::size_t at = level; at <= queue_depth; ++at) {
            const Amount& guaranteed = node(job.chain[at]).settings().guaranteed;
            const Amount without = left(job.chain[at]) - job.entry->size;
            if (covers(guaranteed, without, job.entry->size))
                worst = std::max(worst, at == level ? 3 : 2);
            else if (!keeps(guaranteed, without, job.entry->size))
                worst = std::max(worst, 1);
        }
        return worst;
    }
    void reclaim() {
        sort([](const Job& job) { return -job.entry->at; });
        for (int worst = 0; worst < 3; ++worst)
            for (Job& job : jobs_)
                if (!job.taken && reclaim_class(job) <= worst) take(job, Eviction::reclaim);
    }

    void priority() {
        sort([](const Job& job) { return std::pair(job.entry->priority, -job.entry->at); });
        for (Job& job : jobs_)
            if (!job.taken && job.common == queue_depth && job.entry->priority < claimant_.priority)
                take(job, Eviction::priority);
    }

    double waiting_part(const Entry& entry) const {
        return served(*rules_.slicing, entry.at, entry.ran, now_);
    }
    double running_part(const RunningEntry& entry) const {
        return served(*rules_.slicing, entry.submitted, entry.ran + now_ - entry.at, now_);
    }
    // The victim's queue holds more than the claimant's, for their weights; within a leaf all are equal.
    bool holds_more(const Job& job) const {
        if (job.common == queue_depth) return job.entry->priority <= claimant_.priority;
        const auto share = [&](Serial serial, const Amount& held) {
            return held.dominant(tree_.capacity) / node(serial).settings().weight;
        };
        const Serial victim = job.chain[job.common + 1], own = own_[job.common + 1];
        return share(victim, left(victim)) > share(own, held(own));
    }
    void slice() {
        if (!rules_.slicing || waiting_part(claimant_) >= rules_.slicing->promise) return;
        sort([&](const Job& job) {
            const Entry& entry = *job.entry;
            const auto ran = static_cast<double>(entry.ran + now_ - entry.at);
            return std::pair(-ran * entry.size.dominant(tree_.capacity), entry.at);
        });
        for (Job& job : jobs_)
            if (!job.taken && now_ - job.entry->at >= to_us(rules_.slicing->slice_s) &&
                running_part(*job.entry) >= rules_.slicing->promise && !covered(job) && holds_more(job))
                take(job, Eviction::slice);
    }
    // Time slices take nothing that is guaranteed.
    bool covered(const Job& job) const {
        for (std::size_t at = job.common + 1; at <= queue_depth; ++at)
            if (covers(node(job.chain[at]).settings().guaranteed, left(job.chain[at]) - job.entry->size,
                       job.entry->size))
                return true;
        return false;
    }

    const Tree& tree_;
    const Entry& claimant_;
    const EvictionRules& rules_;
    std::int64_t now_;
    Chain own_;
    std::vector<Job> jobs_;
    std::map<Serial, Amount> gone_, leaving_, promised_;
    std::vector<Victim> found_;
};

// The smallest set, by few calls of `enough`: the shortest prefix that is enough ends with a job that is
// needed; the shortest prefix that is enough with that one ends with the next; and so on.
class Least {
public:
    Least(std::vector<Victim> all, const Enough& enough) : all_(std::move(all)), enough_(enough) {}

    std::optional<std::vector<Victim>> find() {
        std::size_t bound = 0;
        for (;;) {  // Small sets first.
            if (is_enough(bound)) break;
            if (bound == all_.size() || tries_ == 0) return std::nullopt;
            bound = std::min(all_.size(), std::max<std::size_t>(1, bound * 2));
        }
        while (bound > 0) {
            const std::size_t prefix = shortest(bound);
            if (prefix == 0) break;
            if (tries_ == 0) return chosen(prefix);
            needed_.insert(prefix - 1);
            bound = prefix - 1;
        }
        return chosen(0);
    }

private:
    std::vector<Victim> chosen(std::size_t prefix) const {
        std::vector<Victim> set(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(prefix));
        for (const std::size_t i : needed_)
            if (i >= prefix) set.push_back(all_[i]);
        return set;
    }
    bool is_enough(std::size_t prefix) {
        if (tries_ == 0) return false;
        --tries_;
        return enough_(chosen(prefix));
    }
    // `bound` is enough.
    std::size_t shortest(std::size_t bound) {
        std::size_t low = 0;
        while (low < bound) {
            const std::size_t middle = low + (bound - low) / 2;
            if (is_enough(middle))
                bound = middle;
            else
                low = middle + 1;
        }
        return bound;
    }

    std::vector<Victim> all_;
    const Enough& enough_;
    std::set<std::size_t> needed_;
    int tries_ = victim_tries_max;
};

}  // namespace

std::vector<Victim> candidates(const Order& order, const std::string& claimant, const EvictionRules& rules,
                               std::int64_t now) {
    const Tree& tree = order.tree();
    const auto found = tree.waiting().find(claimant);
    if (found == tree.waiting().end()) return {};
    return Candidates{tree, found->second, rules, std::clamp<std::int64_t>(now, 0, time_most)}.find();
}

bool may_have_victims(const Order& order, const Waiting& claimant, const EvictionRules& rules) {
    const Tree& tree = order.tree();
    const Serial leaf = tree.serial(claimant.path);
    if (leaf == 0 || tree.running().empty()) return false;
    if (rules.slicing) return true;
    const auto& priorities = tree.at(leaf)->priorities;
    bool may = !priorities.empty() && priorities.begin()->first < claimant.priority;
    tree.climb(leaf, [&](const Node& node) {
        may = may || covers(node.settings().guaranteed, node.allocated, claimant.size);
    });
    return may;
}

std::optional<std::vector<Victim>> victims(const Order& order, const std::string& claimant,
                                           const EvictionRules& rules, std::int64_t now,
                                           const Enough& enough) {
    const Tree& tree = order.tree();
    const auto found = tree.waiting().find(claimant);
    if (found == tree.waiting().end()) return std::nullopt;
    const Entry& entry = found->second;
    const auto within_limits = [&](const std::vector<Victim>& gone) {
        for (Serial at = entry.leaf; at != Tree::root; at = tree.at(at)->parent) {
            const auto& most = tree.at(at)->settings().most;
            if (!most) continue;
            Amount held = tree.at(at)->allocated + entry.size;
            const auto is_below = [&](Serial leaf) {
                while (leaf != at && leaf != 0 && leaf != Tree::root) leaf = tree.at(leaf)->parent;
                return leaf == at;
            };
            for (const Promise& one : rules.promised)
                if (is_below(tree.serial(one.path))) held += one.size;
            for (const std::string& id : rules.leaving)
                if (const auto job = tree.running().find(id);
                    job != tree.running().end() && is_below(job->second.leaf))
                    held -= job->second.size;
            for (const Victim& victim : gone) {
                const Entry& job = tree.running().at(victim.id);
                if (is_below(job.leaf)) held -= job.size;
            }
            if (!held.fits(*most)) return false;
        }
        return true;
    };
    const Enough both = [&](const std::vector<Victim>& gone) { return within_limits(gone) && enough(gone); };
    return Least{candidates(order, claimant, rules, now), both}.find();
}

}  // namespace hostler
