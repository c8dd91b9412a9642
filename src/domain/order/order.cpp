#include "domain/order/order.h"

#include <cmath>
#include <ranges>

#include "domain/order/tree.h"

namespace hostler {

namespace {

bool in_time(std::int64_t time) { return time >= 0 && time <= time_most; }
std::int64_t clamped(std::int64_t time) { return std::clamp<std::int64_t>(time, 0, time_most); }

bool has_gap(const QueuePath& path) {
    return (path.tenant.empty() && !path.project.empty()) || (path.project.empty() && !path.user.empty());
}

Result<> check(const std::string& id, const QueuePath& path, const Amount& size, std::int64_t time,
               const char* time_name, std::int64_t ran) {
    Error error{Code::invalid, "the job cannot be ordered"};
    if (id.empty()) error.fields.push_back({"id", "empty"});
    if (path.depth() < queue_depth || has_gap(path))
        error.fields.push_back({"path", "needs a tenant, a project and a user"});
    if (!size.valid()) error.fields.push_back({"size", "each resource from 0 to 2^50"});
    if (!in_time(time)) error.fields.push_back({time_name, "from 0 to 2^61 microseconds"});
    if (!in_time(ran)) error.fields.push_back({"ran", "from 0 to 2^61 microseconds"});
    if (!error.fields.empty()) return std::unexpected(std::move(error));
    return {};
}

// Weights of the children among which their parent's part is divided.
double active_weights(const Tree& tree, const Node& parent) {
    double sum = 0;
    for (const auto& [name, serial] : parent.children)
        if (const Node& child = *tree.at(serial); child.waiting + child.running > 0)
            sum += child.settings().weight;
    return sum;
}

// `among`: active_weights() of its parent, which is entitled to `parent`.
double entitled(const Tree& tree, const Node& node, double parent, double among) {
    const Queue& queue = node.settings();
    if (node.waiting + node.running == 0) among += queue.weight;
    return std::max(parent * queue.weight / among, queue.guaranteed.dominant(tree.capacity));
}

Standing standing_of(const Tree& tree, const Node& node, const QueuePath& path, std::int64_t now) {
    const Queue& queue = node.settings();
    Standing standing{path, queue, node.allocated, node.waiting, node.running};
    standing.share = node.allocated.dominant(tree.capacity);
    standing.used = tree.used(node, now).dominant(tree.capacity);
    standing.rank = (standing.share + standing.used) / queue.weight;
    standing.guaranteed = below_guarantee(node.allocated, queue.guaranteed);
    standing.oldest = node.oldest().value_or(0);
    return standing;
}

}  // namespace

Order::Order() : tree_(std::make_unique<Tree>()) {}
Order::~Order() = default;
Order::Order(Order&&) noexcept = default;
Order& Order::operator=(Order&&) noexcept = default;

Result<> Order::set_capacity(const Amount& capacity) {
    if (!capacity.valid()) return fail(Code::invalid, "each resource of the capacity is from 0 to 2^50");
    tree_->capacity = capacity;
    return {};
}

const Amount& Order::capacity() const { return tree_->capacity; }

Result<> Order::set_half_life(std::int64_t seconds, std::int64_t now) {
    return tree_->set_half_life(seconds, clamped(now));
}

Result<> Order::set_queue(const QueuePath& prefix, const Queue& queue) {
    if (has_gap(prefix) || prefix.depth() == 0)
        return fail(Code::invalid, "a queue is named by its tenant, then its project, then its user");
    TRY(hostler::check(queue));
    tree_->set_queue(prefix, queue);
    return {};
}

void Order::clear_queue(const QueuePath& prefix) { tree_->clear_queue(prefix); }

Result<> Order::wait(const Waiting& job) {
    TRY(check(job.id, job.path, job.size, job.since, "since", job.ran));
    tree_->withdraw(job.id);
    tree_->drop(job.id);
    tree_->wait(job);
    return {};
}

void Order::withdraw(const std::string& id) { tree_->withdraw(id); }

Result<> Order::start(const Running& job) {
    TRY(check(job.id, job.path, job.size, job.started, "started", job.ran));
    if (!in_time(job.submitted)) return fail(Code::invalid, "the job was submitted at a wrong time");
    if (!tree_->holds(job.size))
        return fail(Code::exhausted, "the running jobs hold more than 2^62 of a resource");
    tree_->withdraw(job.id);
    tree_->drop(job.id);
    tree_->start(job);
    return {};
}

void Order::end(const std::string& id, std::int64_t now) { tree_->end(id, clamped(now)); }

std::vector<Settled> Order::settled(std::int64_t now) const {
    std::vector<Settled> all;
    for (const Standing& standing : standings(now)) {
        const Mean used = tree_->settled(*tree_->find(standing.path), clamped(now));
        if (used.gpu_milli > 0 || used.cpu_milli > 0 || used.memory_bytes > 0)
            all.push_back({standing.path, used, clamped(now)});
    }
    return all;
}

Result<> Order::settle(const Settled& settled) {
    const auto in = [](double value) { return value >= 0 && value <= static_cast<double>(Amount::most); };
    if (!in(settled.used.gpu_milli) || !in(settled.used.cpu_milli) || !in(settled.used.memory_bytes) ||
        !in_time(settled.at) || has_gap(settled.path) || settled.path.depth() == 0)
        return fail(Code::invalid,
                    "settled usage is of a queue, from 0 to 2^50, at a time from 0 to 2^61 us");
    tree_->settle(settled);
    return {};
}

std::optional<QueuePath> Order::at_limit(const std::string& id) const {
    const auto found = tree_->waiting().find(id);
    if (found == tree_->waiting().end()) return std::nullopt;
    return tree_->over_limit(found->second.leaf, found->second.size);
}

std::optional<Waiting> Order::waiting(const std::string& id) const {
    const auto found = tree_->waiting().find(id);
    if (found == tree_->waiting().end()) return std::nullopt;
    const Entry& entry = found->second;
    return Waiting{id, tree_->path(entry.leaf), entry.priority, entry.at, entry.size, entry.ran, entry.kind};
}

std::optional<Running> Order::running(const std::string& id) const {
    const auto found = tree_->running().find(id);
    if (found == tree_->running().end()) return std::nullopt;
    const RunningEntry& entry = found->second;
    return Running{id,       tree_->path(entry.leaf), entry.priority,  entry.size,
                   entry.at, entry.preemptible,       entry.submitted, entry.ran};
}

std::size_t Order::waiting_count() const { return tree_->waiting().size(); }
std::size_t Order::running_count() const { return tree_->running().size(); }

Amount Order::allocated(const QueuePath& prefix) const {
    const Node* node = tree_->find(prefix);
    return node ? node->allocated : Amount{};
}

std::optional<Standing> Order::standing(const QueuePath& prefix, std::int64_t now) const {
    const Node* node = tree_->find(prefix);
    if (!node) return std::nullopt;
    Standing standing = standing_of(*tree_, *node, prefix, clamped(now));
    std::vector<const Node*> above;
    for (const Node* at = node; at->parent != 0; at = tree_->at(at->parent)) above.push_back(at);
    standing.entitled = 1;
    for (const Node* at : above | std::views::reverse)
        standing.entitled =
            entitled(*tree_, *at, standing.entitled, active_weights(*tree_, *tree_->at(at->parent)));
    return standing;
}

std::vector<Standing> Order::standings(std::int64_t now) const {
    std::vector<Standing> all;
    const auto add = [&](const auto& self, const Node& node, const QueuePath& path, double part) -> void {
        if (node.depth > 0) {
            all.push_back(standing_of(*tree_, node, path, clamped(now)));
            all.back().entitled = part;
        }
        const double among = active_weights(*tree_, node);
        for (const auto& [name, serial] : node.children) {
            QueuePath below = path;
            (node.depth == 0 ? below.tenant : node.depth == 1 ? below.project : below.user) = name;
            const Node& child = *tree_->at(serial);
            self(self, child, below, entitled(*tree_, child, part, among));
        }
    };
    add(add, *tree_->at(Tree::root), {}, 1);
    return all;
}

}  // namespace hostler
