#include "bench/placement/policies.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace hostler::bench {

namespace {

class Ours final : public Policy {
public:
    explicit Ours(const Trace& trace) {
        for (const Machine& host : trace.hosts) fleet_.add(host);
    }
    std::optional<Choice> place(const Task& task) override {
        fleet_.arrive(task.shape);
        const auto choice = fleet_.choose(task.shape);
        if (choice) HOSTLER_ASSERT(fleet_.claim(*choice));
        return choice;
    }

private:
    Fleet fleet_;
};

// All hosts are scored; the highest wins, of equals the first. A score is kept until its host changes.
class Scored : public Policy {
public:
    explicit Scored(const Trace& trace)
        : hosts_(trace.hosts), kinds_(trace.kinds.size()), used_(trace.hosts.size()) {
        capacity_ = trace.hosts;
    }

    std::optional<Choice> place(const Task& task) final {
        Kind& kind = kinds_[task.kind];
        if (kind.scores.empty()) {
            kind.scores.resize(hosts_.size());
            for (std::size_t host = 0; host < hosts_.size(); ++host) kind.scores[host] = look(task, host);
        } else {
            std::set<std::size_t> changed(changes_.begin() + static_cast<std::ptrdiff_t>(kind.seen),
                                          changes_.end());
            for (const std::size_t host : changed) kind.scores[host] = look(task, host);
        }
        kind.seen = changes_.size();
        const std::size_t best = pick(kind.scores);
        if (best == hosts_.size()) return std::nullopt;
        return hold(task, best, kind.scores[best].gpu);
    }

protected:
    struct Score {
        int points = unfit;
        int gpu = -1;  // For a share.
    };
    static constexpr int unfit = -1'000'000;

    virtual Score score(const Task& task, std::size_t host) = 0;
    virtual std::size_t pick(const std::vector<Score>& scores) {
        std::size_t best = scores.size();
        for (std::size_t i = 0; i < scores.size(); ++i)
            if (scores[i].points > (best < scores.size() ? scores[best].points : unfit)) best = i;
        return best;
    }
    virtual void held(std::size_t host) {}

    // The GPU that a share leaves least of; of equals the first.
    static int fullest(const Shape& shape, const Machine& host) {
        int best = -1;
        for (int i = 0; i < host.gpus; ++i) {
            const auto free = host.free[static_cast<std::size_t>(i)];
            if (free >= shape.gpu_milli && (best < 0 || free < host.free[static_cast<std::size_t>(best)]))
                best = i;
        }
        return best;
    }

    std::vector<Machine> hosts_, capacity_;

private:
    struct Kind {
        std::vector<Score> scores;
        std::size_t seen = 0;
    };

    Score look(const Task& task, std::size_t host) {
        return fits(task.shape, hosts_[host]) ? score(task, host) : Score{};
    }

    Choice hold(const Task& task, std::size_t number, int gpu) {
        Machine& host = hosts_[number];
        const Shape& shape = task.shape;
        Choice choice{
            static_cast<HostNumber>(number), shape.cpu_milli, shape.memory_bytes, {}, shape.gpu_milli};
        if (shape.shares()) choice.gpus = {gpu};
        for (int i = 0; !shape.shares() && static_cast<int>(choice.gpus.size()) < shape.gpus; ++i)
            if (host.free[static_cast<std::size_t>(i)] == gpu_whole) choice.gpus.push_back(i);
        host.cpu_milli -= shape.cpu_milli;
        host.memory_bytes -= shape.memory_bytes;
        for (const int taken : choice.gpus) {
            auto& free = host.free[static_cast<std::size_t>(taken)];
            free = static_cast<std::int16_t>(free - shape.gpu_milli);
        }
        used_[number] = true;
        changes_.push_back(number);
        note(task, number);
        held(number);
        return choice;
    }

protected:
    virtual void note(const Task& task, std::size_t host) {}
    std::vector<Kind> kinds_;
    std::vector<bool> used_;

private:
    std::vector<std::size_t> changes_;
};

// Fragmentation Gradient Descent: the host, and the GPU of it, where the least is lost to the tasks of the
// trace.
class Fgd final : public Scored {
public:
    explicit Fgd(const Trace& trace) : Scored(trace), before_(trace.hosts.size()) {
        using Key = std::tuple<std::int64_t, int, int, std::uint64_t>;
        std::map<Key, int> counts;
        for (const Task& task : trace.tasks)
            ++counts[{task.shape.cpu_milli, task.shape.gpu_milli, task.shape.gpus, task.shape.models}];
        std::vector<std::pair<int, Key>> order;
        for (const auto& [key, count] : counts) order.emplace_back(-count, key);
        std::ranges::sort(order);  // The commonest first.
        for (const auto& [count, key] : order) {
            const auto& [cpu, milli, gpus, models] = key;
            target_.push_back(
                {{.cpu_milli = cpu, .gpus = gpus, .gpu_milli = milli, .models = models}, -count * 1.0});
        }
        double sum = 0;
        std::size_t kept = 0;
        while (kept < target_.size() && sum < 0.95 * static_cast<double>(trace.tasks.size()))
            sum += target_[kept++].popularity;
        target_.resize(kept);
        for (Target& target : target_) target.popularity /= sum;
        for (std::size_t host = 0; host < hosts_.size(); ++host) held(host);
    }

private:
    struct Target {
        Shape shape;
        double popularity = 0;
    };

    double fragments(const Machine& host) const {
        double sum = 0;
        const int all = host.free_milli();
        for (const auto& [shape, popularity] : target_) {
            int lost = 0, able = 0;
            for (int i = 0; i < host.gpus; ++i) {
                const auto free = host.free[static_cast<std::size_t>(i)];
                free < shape.gpu_milli ? lost += free : ++able;
            }
            const bool runs = shape.gpus > 0 && host.cpu_milli >= shape.cpu_milli &&
                              (shape.models >> host.model & 1) && able >= shape.gpus;
            sum += popularity * (runs ? lost : all);
        }
        return sum;
    }

    void held(std::size_t host) override { before_[host] = fragments(hosts_[host]); }

    int points(std::size_t number, const Machine& after) const {
        return static_cast<int>(100 / (1 + std::exp(-(before_[number] - fragments(after)) / 1000)));
    }

    Score score(const Task& task, std::size_t number) override {
        const Shape& shape = task.shape;
        Machine after = hosts_[number];
        after.cpu_milli -= shape.cpu_milli;
        if (!shape.shares()) {
            int left = shape.gpus;
            for (auto& free : after.free)
                if (left > 0 && free == gpu_whole) free = 0, --left;
            return {points(number, after), -1};
        }
        Score best;
        for (int i = 0; i < after.gpus; ++i) {
            auto& free = after.free[static_cast<std::size_t>(i)];
            if (free < shape.gpu_milli) continue;
            free = static_cast<std::int16_t>(free - shape.gpu_milli);
            if (const int worth = points(number, after); worth > best.points) best = {worth, i};
            free = static_cast<std::int16_t>(free + shape.gpu_milli);
        }
        return best;
    }

    std::vector<Target> target_;
    std::vector<double> before_;
};

constexpr double cpus_most = 128,
                 gpus_most = 8;  // The largest host of the trace: what vectors are measured by.

class BestFit final : public Scored {
    using Scored::Scored;
    Score score(const Task& task, std::size_t number) override {
        const Machine& host = hosts_[number];
        const double cpu = static_cast<double>(host.cpu_milli - task.shape.cpu_milli) / 1000;
        const double gpu = static_cast<double>(host.free_milli() - task.gpu_milli()) / 1000;
        return {static_cast<int>(100 * (1 - 0.5 * cpu / cpus_most - 0.5 * gpu / gpus_most)),
                fullest(task.shape, host)};
    }
};

class DotProd final : public Scored {
    using Scored::Scored;
    Score score(const Task& task, std::size_t number) override {
        const Machine& host = hosts_[number];
        const double cpu = static_cast<double>(host.cpu_milli) / 1000 / cpus_most *
                           (static_cast<double>(task.shape.cpu_milli) / 1000 / cpus_most);
        const double gpu = static_cast<double>(host.free_milli()) / 1000 / gpus_most *
                           (static_cast<double>(task.gpu_milli()) / 1000 / gpus_most);
        return {static_cast<int>(100 * (1 - (cpu + gpu) / 2)), fullest(task.shape, host)};
    }
};

// A shared GPU before an idle one on a used host before an idle host; of idle hosts the smallest.
class Packing final : public Scored {
    using Scored::Scored;
    Score score(const Task& task, std::size_t number) override {
        const Shape& shape = task.shape;
        const Machine& host = hosts_[number];
        if (shape.gpus == 0) return {0, -1};
        const int gpu = fullest(shape, host);
        if (host.free_milli() == capacity_[number].free_milli())
            return {std::max(33 - host.gpus, host.gpus), gpu};
        const int free = shape.shares() ? host.free[static_cast<std::size_t>(gpu)] : gpu_whole;
        if (free < gpu_whole) return {std::max(100 - free / 100, 50), gpu};
        return {std::max(50 - shape.gpus, 33), gpu};
    }
};

// Tasks beside their like: where there are only such, then where there are some, then on an idle host; of
// these on what has the fewest GPUs free.
class Clustering final : public Scored {
public:
    explicit Clustering(const Trace& trace) : Scored(trace), classes_(trace.hosts.size()) {}

private:
    static int class_of(const Shape& shape) { return shape.shares() ? 0 : shape.gpus; }
    void note(const Task& task, std::size_t host) override {
        if (task.shape.gpus > 0) classes_[host].insert(class_of(task.shape));
    }
    Score score(const Task& task, std::size_t number) override {
        if (task.shape.gpus == 0) return {0, -1};
        const auto& there = classes_[number];
        const bool same = there.contains(class_of(task.shape));
        const int base = same && there.size() == 1 ? 75 : same ? 50 : there.empty() ? 25 : 0;
        constexpr int most = static_cast<int>(gpus_most) * gpu_whole;
        return {base + 25 * (most - hosts_[number].free_milli()) / most, fullest(task.shape, hosts_[number])};
    }
    std::vector<std::set<int>> classes_;
};

class Random final : public Scored {
public:
    Random(const Trace& trace, std::uint32_t seed) : Scored(trace), dice_(seed ^ 0x5eed) {}

private:
    Score score(const Task& task, std::size_t number) override {
        if (!task.shape.shares()) return {0, -1};
        std::vector<int> able;
        for (int i = 0; i < hosts_[number].gpus; ++i)
            if (hosts_[number].free[static_cast<std::size_t>(i)] >= task.shape.gpu_milli) able.push_back(i);
        return {0, able[dice_.below(static_cast<std::uint32_t>(able.size()))]};
    }
    std::size_t pick(const std::vector<Score>& scores) override {
        std::vector<std::size_t> able;
        for (std::size_t i = 0; i < scores.size(); ++i)
            if (scores[i].points != unfit) able.push_back(i);
        return able.empty() ? scores.size() : able[dice_.below(static_cast<std::uint32_t>(able.size()))];
    }
    Dice dice_;
};

}  // namespace

std::unique_ptr<Policy> make_policy(std::string_view name, const Trace& trace, std::uint32_t seed) {
    if (name == "hostler") return std::make_unique<Ours>(trace);
    if (name == "fgd") return std::make_unique<Fgd>(trace);
    if (name == "bestfit") return std::make_unique<BestFit>(trace);
    if (name == "dotprod") return std::make_unique<DotProd>(trace);
    if (name == "packing") return std::make_unique<Packing>(trace);
    if (name == "clustering") return std::make_unique<Clustering>(trace);
    if (name == "random") return std::make_unique<Random>(trace, seed);
    return nullptr;
}

}  // namespace hostler::bench
