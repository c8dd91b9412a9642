#include "domain/order/round.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "domain/order/tree.h"

namespace hostler {

// A copy of each node that the round has looked at. What it admits counts here; a node is copied before
// anything in it is offered, so nothing counts twice when the caller tells the order, too.
class Round::State {
public:
    State(const Tree& tree, std::int64_t now) : tree_(tree), capacity_(tree.capacity), now_(now) {
        if (const Node* root = tree_.at(Tree::root); root && root->waiting > 0)
            copies_.push_back(copy(*root, Tree::root, 0));
    }

    std::optional<Waiting> next() {
        offered_.reset();
        while (!copies_.empty() && !(copies_[0].looked && copies_[0].children.empty()))
            if (auto job = step()) return job;
        return std::nullopt;
    }

    void admit() {
        if (!offered_) return;
        for (std::size_t at = offered_leaf_; at != 0; at = copies_[at].parent) {
            Copy& node = copies_[at];
            auto& siblings = copies_[node.parent].children;
            const bool listed = siblings.erase(key(at)) > 0;
            node.allocated += *offered_;
            node.rank = rank_of(node.queue, node.allocated, node.used, node.rank.oldest, capacity_);
            if (listed) siblings.insert(key(at));
        }
        offered_.reset();
    }

    void refuse_kind() {
        if (offered_ && offered_kind_ != 0) copies_[offered_leaf_].refused.insert(offered_kind_);
        offered_.reset();
    }

    void refuse_queue() {
        if (offered_) close(offered_leaf_);
        offered_.reset();
    }

    std::vector<LeftOut> left_out;

private:
    struct Child {
        Rank rank;
        std::string name;
        std::size_t copy = 0;
        bool operator<(const Child& other) const {
            return std::tie(rank, name) < std::tie(other.rank, other.name);
        }
    };
    struct Passed {  // It may not wait any more.
        int priority = 0;
        std::int64_t since = 0;
        std::string id;
        LinePlace place() const { return {priority, since, id}; }
    };
    struct Copy {
        Serial serial = 0;
        std::size_t parent = 0;
        int depth = 0;
        std::string name;
        Queue queue;
        Amount allocated;
        double used = 0;
        Rank rank;
        std::set<Child> children;         // That have something to offer.
        bool looked = false;              // `children` are there.
        std::optional<Passed> passed;     // Of a leaf: the last job that was looked at,
        std::set<std::uint32_t> refused;  // and kinds that are not offered.
        int over_limit = 0;
    };

    Copy copy(const Node& node, Serial serial, std::size_t parent) const {
        Copy copy;
        copy.serial = serial;
        copy.parent = parent;
        copy.depth = node.depth;
        copy.name = node.name;
        copy.queue = node.settings();
        copy.allocated = node.allocated;
        copy.used = tree_.used(node, now_).dominant(capacity_);
        copy.rank = rank_of(copy.queue, copy.allocated, copy.used, node.oldest().value_or(0), capacity_);
        return copy;
    }
    Child key(std::size_t at) const { return {copies_[at].rank, copies_[at].name, at}; }

    // Removes a node that has nothing to offer, and its parents that thereby have nothing.
    void close(std::size_t at) {
        while (at != 0) {
            const std::size_t parent = copies_[at].parent;
            copies_[parent].children.erase(key(at));
            if (!copies_[parent].children.empty()) return;
            at = parent;
        }
    }

    void look(std::size_t at) {
        copies_[at].looked = true;
        const Node* node = tree_.at(copies_[at].serial);
        if (!node) return;
        for (const auto& [name, serial] : node->active) {
            copies_.push_back(copy(*tree_.at(serial), serial, at));
            copies_[at].children.insert(key(copies_.size() - 1));
        }
    }

    // Goes down to the first leaf and looks at its next job.
    std::optional<Waiting> step() {
        std::size_t at = 0;
        while (copies_[at].depth < queue_depth) {
            if (!copies_[at].looked) look(at);
            if (copies_[at].children.empty()) return close(at), std::nullopt;
            at = copies_[at].children.begin()->copy;
        }
        const Node* leaf = tree_.at(copies_[at].serial);
        if (!leaf) return close(at), std::nullopt;
        const auto& refused = copies_[at].refused;
        const auto is_refused = [&](std::uint32_t kind) { return refused.contains(kind); };
        if (std::ranges::all_of(leaf->kinds | std::views::keys, is_refused)) return close(at), std::nullopt;
        auto next = leaf->line.begin();
        if (const auto& passed = copies_[at].passed)
            next = leaf->line.upper_bound(passed->place(), BeforeInLine{});
        while (next != leaf->line.end() && is_refused(next->job->second.kind)) ++next;
        if (next == leaf->line.end()) return close(at), std::nullopt;
        const auto& [id, entry] = *next->job;
        copies_[at].passed = {entry.priority, entry.at, id};
        const Amount& size = entry.size;
        if (const auto over = over_limit(at, size)) {
            left_out.push_back({id, path(*over)});
            if (++copies_[at].over_limit >= over_limit_max) close(at);
            return std::nullopt;
        }
        offered_ = size;
        offered_leaf_ = at;
        offered_kind_ = entry.kind;
        return Waiting{id, path(at), entry.priority, entry.at, size, entry.ran, entry.kind};
    }

    std::optional<std::size_t> over_limit(std::size_t leaf, const Amount& more) const {
        for (std::size_t at = leaf; at != 0; at = copies_[at].parent)
            if (const Copy& node = copies_[at];
                node.queue.most && !(node.allocated + more).fits(*node.queue.most))
                return at;
        return std::nullopt;
    }

    QueuePath path(std::size_t at) const {
        QueuePath path;
        for (; at != 0; at = copies_[at].parent) {
            const Copy& node = copies_[at];
            (node.depth == 1 ? path.tenant : node.depth == 2 ? path.project : path.user) = node.name;
        }
        return path;
    }

    const Tree& tree_;
    Amount capacity_;
    std::int64_t now_;
    std::vector<Copy> copies_;  // The root first.
    std::optional<Amount> offered_;
    std::size_t offered_leaf_ = 0;
    std::uint32_t offered_kind_ = 0;
};

Round::Round(std::unique_ptr<State> state) : state_(std::move(state)) {}
Round::~Round() = default;
Round::Round(Round&&) noexcept = default;
Round& Round::operator=(Round&&) noexcept = default;

std::optional<Waiting> Round::next() { return state_->next(); }
void Round::admit() { state_->admit(); }
void Round::refuse_kind() { state_->refuse_kind(); }
void Round::refuse_queue() { state_->refuse_queue(); }
const std::vector<LeftOut>& Round::left_out() const { return state_->left_out; }

Round Order::round(std::int64_t now) const {
    return Round{std::make_unique<Round::State>(*tree_, std::clamp<std::int64_t>(now, 0, time_most))};
}

}  // namespace hostler
