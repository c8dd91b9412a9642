#include "bench/placement/trace.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <fstream>
#include <map>

namespace hostler::bench {

Dice::Dice(std::uint32_t seed) : index_(state_.size()) {
    const auto n = state_.size();
    const auto mixed = [&](std::size_t i) {
        const std::uint32_t before = state_[i - 1];
        return before ^ (before >> 30);
    };
    state_[0] = 19650218;
    for (std::size_t i = 1; i < n; ++i) state_[i] = 1812433253U * mixed(i) + static_cast<std::uint32_t>(i);
    std::size_t i = 1;
    const auto advance = [&] {
        if (++i < n) return;
        state_[0] = state_[n - 1];
        i = 1;
    };
    for (std::size_t k = 0; k < n; ++k, advance()) state_[i] = (state_[i] ^ (mixed(i) * 1664525U)) + seed;
    for (std::size_t k = 0; k + 1 < n; ++k, advance())
        state_[i] = (state_[i] ^ (mixed(i) * 1566083941U)) - static_cast<std::uint32_t>(i);
    state_[0] = 0x80000000U;
}

std::uint32_t Dice::next() {
    const auto n = state_.size();
    if (index_ == n) {
        for (std::size_t k = 0; k < n; ++k) {
            const std::uint32_t y = (state_[k] & 0x80000000U) | (state_[(k + 1) % n] & 0x7fffffffU);
            state_[k] = state_[(k + 397) % n] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfU : 0);
        }
        index_ = 0;
    }
    std::uint32_t y = state_[index_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
}

std::uint32_t Dice::below(std::uint32_t bound) {
    const int unused = std::countl_zero(bound);
    std::uint32_t drawn = bound;
    while (drawn >= bound) drawn = next() >> unused;
    return drawn;
}

namespace {

// The rows of a CSV file whose columns are found by the names in its first line.
class Table {
public:
    explicit Table(const std::string& path) : path_(path), file_(path) {
        std::vector<std::string> names;
        if (split(names))
            for (std::size_t i = 0; i < names.size(); ++i) columns_[names[i]] = i;
    }
    bool next() { return split(row_); }
    std::string text(const std::string& column) const {
        const auto found = columns_.find(column);
        return found == columns_.end() || found->second >= row_.size() ? "" : row_[found->second];
    }
    Result<std::int64_t> number(const std::string& column) const {
        const std::string word = text(column);
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc{} || end != word.data() + word.size() || value < 0)
            return fail(Code::invalid,
                        fmt::format("{}:{}: no number in column {}: \"{}\"", path_, line_, column, word));
        return value;
    }
    Error wrong(std::string_view what) const {
        return {Code::invalid, fmt::format("{}:{}: {}", path_, line_, what)};
    }
    int line() const { return line_; }

private:
    bool split(std::vector<std::string>& words) {
        std::string line;
        if (!std::getline(file_, line)) return false;
        ++line_;
        words.assign(1, {});
        for (const char c : line)
            if (c == ',')
                words.emplace_back();
            else if (c != '\r')
                words.back() += c;
        return true;
    }

    std::string path_;
    std::ifstream file_;
    std::map<std::string, std::size_t> columns_;
    std::vector<std::string> row_;
    int line_ = 0;
};

constexpr std::int64_t mib = std::int64_t{1} << 20;

Result<Machine> read_host(const Table& table, std::vector<std::string>& models) {
    Machine made{.cpu_milli = TRY(table.number("cpu_milli")),
                 .memory_bytes = TRY(table.number("memory_mib")) * mib};
    const auto gpus = TRY(table.number("gpu"));
    if (gpus > gpus_max) return std::unexpected(table.wrong("more GPUs than a host may have"));
    made.gpus = static_cast<int>(gpus);
    for (int i = 0; i < made.gpus; ++i) made.free[static_cast<std::size_t>(i)] = gpu_whole;
    if (gpus == 0) return made;
    const auto model = std::ranges::find(models, table.text("model"));
    made.model = static_cast<int>(model - models.begin());
    if (model == models.end()) models.push_back(table.text("model"));
    if (models.size() > gpu_models_max)
        return std::unexpected(table.wrong("more models than a fleet may have"));
    return made;
}

// "V100M16|V100M32": any of these; empty: any at all.
std::uint64_t models_of(const std::string& spec, const std::vector<std::string>& models) {
    if (spec.empty()) return ~std::uint64_t{0};
    std::uint64_t mask = 0;
    const std::string bounded = "|" + spec + "|";
    for (std::size_t i = 0; i < models.size(); ++i)
        if (bounded.find("|" + models[i] + "|") != std::string::npos) mask |= std::uint64_t{1} << i;
    return mask;
}

Result<Task> read_task(const Table& table, const std::vector<std::string>& models) {
    Task task{.name = table.text("name"), .gpu_spec = table.text("gpu_spec")};
    task.shape.cpu_milli = TRY(table.number("cpu_milli"));
    task.shape.memory_bytes = TRY(table.number("memory_mib")) * mib;
    task.shape.gpus = static_cast<int>(TRY(table.number("num_gpu")));
    if (task.shape.gpus > 0) {
        task.shape.gpu_milli = static_cast<int>(TRY(table.number("gpu_milli")));
        task.shape.models = models_of(task.gpu_spec, models);
    }
    if (!task.shape.sound()) return std::unexpected(table.wrong("no such demand for GPUs"));
    return task;
}

}  // namespace

Result<Trace> read_trace(const std::string& nodes, const std::string& pods) {
    Trace trace;
    std::vector<std::string> models;
    Table hosts{nodes};
    while (hosts.next()) {
        const Machine host = TRY(read_host(hosts, models));
        if (host.gpus == 0) continue;
        trace.names.push_back(hosts.text("sn"));
        trace.hosts.push_back(host);
        trace.capacity_milli += host.free_milli();
    }
    Table tasks{pods};
    std::map<Shape, std::size_t> kinds;
    while (tasks.next()) {
        Task task = TRY(read_task(tasks, models));
        task.kind = kinds.emplace(task.shape, kinds.size()).first->second;
        if (task.kind == trace.kinds.size()) trace.kinds.push_back(task.shape);
        trace.tasks.push_back(std::move(task));
    }
    if (trace.hosts.empty()) return std::unexpected(hosts.wrong("no hosts with GPUs"));
    if (trace.tasks.empty()) return std::unexpected(tasks.wrong("no tasks"));
    return trace;
}

void shuffle_hosts(Trace& trace, std::uint32_t seed) {
    Dice names{seed}, hosts{seed};
    names.shuffle(trace.names);
    hosts.shuffle(trace.hosts);
}

std::vector<std::size_t> arrivals(const Trace& trace, std::uint32_t seed) {
    Dice dice{seed};
    std::vector<std::size_t> order(trace.tasks.size());
    std::int64_t asked = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
        asked += trace.tasks[i].gpu_milli();
    }
    dice.shuffle(order);
    while (asked > 0) {  // A trace that asks for no GPU is never enough.
        const std::size_t task = dice.below(static_cast<std::uint32_t>(trace.tasks.size()));
        asked += trace.tasks[task].gpu_milli();
        if (asked * 10 > trace.capacity_milli * 13) break;
        order.push_back(task);
    }
    return order;
}

}  // namespace hostler::bench
