#include "domain/order/tree.h"

#include <cmath>

namespace hostler {

namespace {

constexpr double half_lives_max = 40;     // Between two rebases.
constexpr double share_forgotten = 1e-9;  // Usage below this share of the capacity is forgotten at a rebase.
constexpr std::int64_t total_most = std::int64_t{1} << 62;

double power(double exponent) { return std::exp2(std::clamp(exponent, -1000.0, 200.0)); }

}  // namespace

const Queue& Node::settings() const {
    static const Queue defaults;
    return queue ? *queue : defaults;
}

Rank rank_of(const Queue& queue, const Amount& allocated, double used, std::int64_t oldest,
             const Amount& capacity) {
    return {below_guarantee(allocated, queue.guaranteed) ? 0 : 1,
            std::llround((allocated.dominant(capacity) + used) / queue.weight * 1e9), oldest};
}

Tree::Tree() { nodes_.try_emplace(root); }

Serial Tree::serial(const QueuePath& prefix) const {
    Serial serial = root;
    for (int level = 1; level <= prefix.depth(); ++level) {
        const auto& children = at(serial)->children;
        const auto found = children.find(prefix.at(level));
        if (found == children.end()) return 0;
        serial = found->second;
    }
    return serial;
}

const Node* Tree::find(const QueuePath& prefix) const { return at(serial(prefix)); }

QueuePath Tree::path(Serial serial) const {
    QueuePath path;
    climb(serial, [&](const Node& node) {
        (node.depth == 1 ? path.tenant : node.depth == 2 ? path.project : path.user) = node.name;
    });
    return path;
}

double Tree::grown(std::int64_t time) const {
    return half_life_us_ > 0 ? power(static_cast<double>(time - reference_) / half_life_us_) : 0;
}

double Tree::decay(std::int64_t now) const {
    return half_life_us_ > 0 ? power(static_cast<double>(reference_ - now) / half_life_us_) : 0;
}

Mean Tree::used(const Node& node, std::int64_t now) const {
    if (half_life_us_ == 0) return {};
    return (node.ended - node.begun) * decay(now) + Mean{node.allocated};
}

std::optional<QueuePath> Tree::over_limit(Serial leaf, const Amount& more) const {
    for (Serial serial = leaf; serial != root; serial = at(serial)->parent) {
        const Node& node = *at(serial);
        if (node.queue && node.queue->most && !(node.allocated + more).fits(*node.queue->most))
            return path(serial);
    }
    return std::nullopt;
}

Node& Tree::make(const QueuePath& prefix) {
    Serial serial = root;
    for (int level = 1; level <= prefix.depth(); ++level) {
        Serial& child = own(serial).children[prefix.at(level)];
        if (child == 0) {
            child = ++last_;
            Node& node = nodes_[child];
            node.name = prefix.at(level);
            node.parent = serial;
            node.depth = level;
        }
        serial = child;
    }
    return own(serial);
}

// Removes the nodes without settings, jobs and usage, from this one up.
void Tree::prune(Serial serial) {
    while (serial != root) {
        const Node& node = own(serial);
        const bool used =
            node.ended.gpu_milli != 0 || node.ended.cpu_milli != 0 || node.ended.memory_bytes != 0;
        if (node.queue || !node.children.empty() || node.waiting > 0 || node.running > 0 || used) return;
        const Serial parent = node.parent;
        own(parent).children.erase(node.name);
        nodes_.erase(serial);
        serial = parent;
    }
}

// The oldest of a node was `before`; its ancestors follow.
void Tree::note_oldest(Serial serial, std::optional<std::int64_t> before) {
    while (serial != root) {
        const Node& node = own(serial);
        const auto now = node.oldest();
        if (now == before) return;
        Node& parent = own(node.parent);
        const auto parent_before = parent.oldest();
        if (before) parent.since.erase(parent.since.find(*before));
        if (now) parent.since.insert(*now);
        if (now && !before) parent.active[node.name] = serial;
        if (!now) parent.active.erase(node.name);
        serial = node.parent;
        before = parent_before;
    }
}

Result<> Tree::set_half_life(std::int64_t seconds, std::int64_t now) {
    constexpr std::int64_t most = std::int64_t{10} * 365 * 86'400;
    if (seconds < 0 || seconds > most) return fail(Code::invalid, "the half-life is from 0 s to 10 years");
    // The averages of ended runs stay as they are now.
    const double before = decay(now);
    half_life_us_ = static_cast<double>(seconds) * 1e6;
    reference_ = now;
    for (auto& [serial, node] : nodes_) {
        node.ended = node.ended * before;
        node.begun = {};
    }
    for (const auto& [id, entry] : running_)
        for (Serial serial = entry.leaf; serial != 0; serial = own(serial).parent) {
            Node& node = own(serial);
            node.begun = node.begun + Mean{entry.size} * grown(entry.at);
        }
    return {};
}

void Tree::rebase(std::int64_t now) {
    if (half_life_us_ == 0 || static_cast<double>(now - reference_) / half_life_us_ <= half_lives_max) return;
    const double factor = decay(now);
    std::set<Serial> idle;
    for (auto& [serial, node] : nodes_) {
        node.ended = node.ended * factor;
        node.begun = node.begun * factor;
        if (node.ended.dominant(capacity) < share_forgotten) node.ended = {};
        if (node.children.empty()) idle.insert(serial);
    }
    reference_ = now;
    for (const Serial serial : idle) prune(serial);
}

void Tree::set_queue(const QueuePath& prefix, const Queue& queue) { make(prefix).queue = queue; }

void Tree::clear_queue(const QueuePath& prefix) {
    const Serial found = serial(prefix);
    if (found == 0 || found == root) return;
    own(found).queue.reset();
    prune(found);
}

void Tree::wait(const Waiting& job) {
    make(job.path);
    const Serial leaf = serial(job.path);
    const auto before = own(leaf).oldest();
    own(leaf).since.insert(job.since);
    ++own(leaf).kinds[job.kind];
    for (Serial at = leaf; at != 0; at = own(at).parent) {
        ++own(at).waiting;
        own(at).wanted.add(job.size, 1);
    }
    note_oldest(leaf, before);
    const auto [entry, added] = waiting_.insert_or_assign(job.id, Entry{.leaf = leaf,
                                                                        .at = job.since,
                                                                        .size = job.size,
                                                                        .ran = job.ran,
                                                                        .priority = job.priority,
                                                                        .kind = job.kind});
    own(leaf).line.insert({&*entry});
}

void Tree::withdraw(const std::string& id) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    const Entry entry = found->second;
    Node& leaf = own(entry.leaf);
    const auto before = leaf.oldest();
    leaf.line.erase(InLine{&*found});
    waiting_.erase(found);
    if (const auto kind = leaf.kinds.find(entry.kind); --kind->second == 0) leaf.kinds.erase(kind);
    leaf.since.erase(leaf.since.find(entry.at));
    for (Serial at = entry.leaf; at != 0; at = own(at).parent) {
        --own(at).waiting;
        own(at).wanted.add(entry.size, -1);
    }
    note_oldest(entry.leaf, before);
    prune(entry.leaf);
}

bool Tree::holds(const Amount& more) const {
    const Amount& allocated = at(root)->allocated;
    const auto in = [](std::int64_t value, std::int64_t plus) { return value <= total_most - plus; };
    return in(allocated.gpu_milli, more.gpu_milli) && in(allocated.cpu_milli, more.cpu_milli) &&
           in(allocated.memory_bytes, more.memory_bytes);
}

void Tree::start(const Running& job) {
    rebase(job.started);
    make(job.path);
    const Serial leaf = serial(job.path);
    for (Serial at = leaf; at != 0; at = own(at).parent) {
        Node& node = own(at);
        ++node.running;
        node.allocated += job.size;
        node.begun = node.begun + Mean{job.size} * grown(job.started);
    }
    ++own(leaf).priorities[job.priority];
    running_[job.id] = {
        {.leaf = leaf, .at = job.started, .size = job.size, .ran = job.ran, .priority = job.priority},
        job.submitted,
        job.preemptible};
}

void Tree::end(const std::string& id, std::int64_t now) {
    rebase(now);
    remove_running(id, now);
}

void Tree::drop(const std::string& id) { remove_running(id, std::nullopt); }

void Tree::remove_running(const std::string& id, std::optional<std::int64_t> until) {
    const auto found = running_.find(id);
    if (found == running_.end()) return;
    const RunningEntry entry = found->second;
    running_.erase(found);
    const double ran = until ? std::max(0.0, grown(*until) - grown(entry.at)) : 0;
    auto& priorities = own(entry.leaf).priorities;
    if (const auto of = priorities.find(entry.priority); --of->second == 0) priorities.erase(of);
    for (Serial at = entry.leaf; at != 0; at = own(at).parent) {
        Node& node = own(at);
        node.allocated -= entry.size;
        // Without running jobs no rounding stays.
        node.begun = --node.running == 0 ? Mean{} : node.begun - Mean{entry.size} * grown(entry.at);
        node.ended = node.ended + Mean{entry.size} * ran;
    }
    prune(entry.leaf);
}

void Tree::settle(const Settled& settled) {
    rebase(settled.at);
    Node& node = make(settled.path);
    node.ended = half_life_us_ > 0 ? settled.used * grown(settled.at) : Mean{};
    prune(serial(settled.path));
}

}  // namespace hostler
