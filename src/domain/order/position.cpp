// How many jobs a round would offer before one of them.
#include <cmath>

#include "domain/order/tree.h"

namespace hostler {

namespace {

// One queue while a round admits its jobs, each with their mean size.
class Filling {
public:
    Filling(const Tree& tree, const Node& node, std::int64_t now)
        : tree_(tree),
          node_(node),
          mean_(node.wanted.mean(node.waiting)),
          used_(tree.used(node, now).dominant(tree.capacity)) {}

    Rank after(std::int64_t jobs) const {
        return rank_of(node_.settings(), allocated(jobs), used_, node_.oldest().value_or(0), tree_.capacity);
    }
    // How many of its jobs come before a sibling's at this rank.
    std::int64_t before(const Rank& rank, const std::string& name) const {
        std::int64_t low = 0, high = node_.waiting;
        while (low < high) {
            const std::int64_t job = low + (high - low) / 2;  // This job, counted from 0.
            const Rank own = after(job);
            const bool first = std::tie(own, node_.name) < std::tie(rank, name);
            const auto& most = node_.settings().most;
            if (first && (!most || allocated(job + 1).fits(*most)))
                low = job + 1;
            else
                high = job;
        }
        return low;
    }

private:
    Amount allocated(std::int64_t jobs) const {
        const auto whole = [&](double mean) {
            return std::llround(std::min(mean * static_cast<double>(jobs), 0x1p61));
        };
        return node_.allocated +
               Amount{whole(mean_.gpu_milli), whole(mean_.cpu_milli), whole(mean_.memory_bytes)};
    }

    const Tree& tree_;
    const Node& node_;
    Mean mean_;
    double used_;
};

}  // namespace

std::optional<std::int64_t> Order::position(const std::string& id, std::int64_t now) const {
    now = std::clamp<std::int64_t>(now, 0, time_most);
    const auto found = tree_->waiting().find(id);
    if (found == tree_->waiting().end()) return std::nullopt;
    const Entry& entry = found->second;
    const Node* node = tree_->at(entry.leaf);
    const Line& line = node->line;
    auto before = static_cast<std::int64_t>(line.rank(line.find(InLine{&*found})));
    // In each node, `before` of the child's own jobs precede it; those of the siblings that precede it are
    // added.
    for (; node->parent != 0; node = tree_->at(node->parent)) {
        const Rank rank = Filling{*tree_, *node, now}.after(before);
        std::int64_t others = 0;
        for (const auto& [name, serial] : tree_->at(node->parent)->active)
            if (name != node->name)
                others += Filling{*tree_, *tree_->at(serial), now}.before(rank, node->name);
        before += others;
    }
    return before;
}

}  // namespace hostler
