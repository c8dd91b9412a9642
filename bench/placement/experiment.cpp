#include "bench/placement/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <numeric>

#include <unistd.h>

#include "domain/scheduler/denial.h"
#include "domain/scheduler/testing/rescan.h"

namespace hostler::bench {

namespace {

constexpr std::array reported = {85, 90, 95, 100, 110, 130};

using Clock = std::chrono::steady_clock;
double since_us(Clock::time_point begun) {
    return std::chrono::duration<double, std::micro>(Clock::now() - begun).count();
}

std::string size_of(const Shape& shape) {
    if (shape.gpus == 0) return "cpu";
    return shape.shares() ? "share" : fmt::format("{}gpu", shape.gpus);
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
double deviation(const std::vector<double>& values) {
    if (values.size() < 2) return 0;
    const double middle = mean(values);
    double squares = 0;
    for (const double value : values) squares += (value - middle) * (value - middle);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}
double quantile(std::vector<double> values, double part) {
    const auto at = static_cast<std::size_t>(part * static_cast<double>(values.size()));
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(std::min(at, values.size() - 1));
    std::ranges::nth_element(values, nth);
    return *nth;
}

double resident_mib() {
    std::size_t pages = 0, resident = 0;
    std::ifstream{"/proc/self/statm"} >> pages >> resident;
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

using Tell = std::function<void(std::string_view what, std::string_view unit, double value)>;

// Tasks that each ask for a zone, half of them for trust as well; and why there is no room for what nobody
// has.
void run_needs(const Trace& trace, std::size_t size, const Tell& row) {
    constexpr std::size_t tasks_max = 20'000, zones = 10, denials = 20;
    Fleet fleet;
    for (std::size_t i = 0; i < size; ++i)
        fleet.add(trace.hosts[i % trace.hosts.size()],
                  {.name = fmt::format("host-{}", i),
                   .zone = fmt::format("zone-{}", i % zones),
                   .trust = i % 3 == 0 ? Trust::community : Trust::trusted});
    const auto once = arrivals(trace, 42);
    std::vector<double> needs_us, denials_us;
    for (std::size_t i = 0; i < tasks_max; ++i) {
        Need need{.shape = trace.tasks[once[i % once.size()]].shape};
        need.terms.zones = {fmt::format("zone-{}", i % zones)};
        need.terms.trust = i / zones % 2 == 0 ? Trust::trusted : Trust::community;
        const auto begun = Clock::now();
        fleet.arrive(need);
        if (const auto choice = fleet.choose(need)) HOSTLER_ASSERT(fleet.claim(*choice));
        needs_us.push_back(since_us(begun));
    }
    for (std::size_t i = 0; i < denials; ++i) {
        const auto begun = Clock::now();
        HOSTLER_ASSERT(explain(fleet, Need{.shape = {.memory_bytes = std::int64_t{1} << 50}}));
        denials_us.push_back(since_us(begun));
    }
    row("need-mean", "us", mean(needs_us));
    row("need-p99", "us", quantile(needs_us, 0.99));
    row("denial-mean", "us", mean(denials_us));
}

}  // namespace

Outcome run_experiment(const Trace& trace, std::string_view name, std::uint32_t seed,
                       const std::function<void(const Decided&)>& told) {
    const auto policy = make_policy(name, trace, seed);
    Outcome outcome;
    struct Sum {
        double sum = 0;
        int count = 0;
    };
    std::map<int, Sum> by_percent;
    std::map<std::string, Sum> refused;
    std::int64_t arrived = 0, allocated = 0;
    std::size_t arrival = 0;
    const auto capacity = static_cast<double>(trace.capacity_milli);
    for (const std::size_t number : arrivals(trace, seed)) {
        const Task& task = trace.tasks[number];
        const auto begun = Clock::now();
        const auto choice = policy->place(task);
        outcome.decisions_us.push_back(since_us(begun));
        arrived += task.gpu_milli();
        if (choice) allocated += task.gpu_milli();
        Sum& percent =
            by_percent[static_cast<int>(std::lround(100 * static_cast<double>(arrived) / capacity))];
        percent.sum += 100 * static_cast<double>(allocated) / capacity;
        ++percent.count;
        if (arrived <= trace.capacity_milli) {
            Sum& size = refused[size_of(task.shape)];
            size.sum += choice ? 0 : 100;
            ++size.count;
        }
        told({arrival++, &task, &choice, allocated});
    }
    for (const int percent : reported)
        if (const auto& at = by_percent[percent]; at.count) outcome.allocated[percent] = at.sum / at.count;
    for (const auto& [size, sum] : refused) outcome.refused[size] = sum.sum / sum.count;
    return outcome;
}

std::vector<Row> summarize(const std::vector<Outcome>& outcomes) {
    std::map<int, std::vector<double>> allocated;
    std::map<std::string, std::vector<double>> refused;
    std::vector<double> means, tails;
    for (const Outcome& outcome : outcomes) {
        for (const auto& [percent, value] : outcome.allocated) allocated[percent].push_back(value);
        for (const auto& [size, value] : outcome.refused) refused[size].push_back(value);
        means.push_back(mean(outcome.decisions_us));
        tails.push_back(quantile(outcome.decisions_us, 0.99));
    }
    std::vector<Row> rows;
    for (const auto& [percent, values] : allocated)
        rows.push_back({fmt::format("alloc-{}", percent), "%", mean(values), deviation(values)});
    for (const auto& [size, values] : refused)
        rows.push_back({fmt::format("reject-{}", size), "%", mean(values), deviation(values)});
    rows.push_back({"decision-mean", "us", mean(means), deviation(means)});
    rows.push_back({"decision-p99", "us", mean(tails), deviation(tails)});
    return rows;
}

std::vector<Row> run_scale(const Trace& trace, const std::vector<std::size_t>& sizes) {
    std::vector<Row> rows;
    for (const std::size_t size : sizes) {
        const double memory_before = resident_mib();
        Fleet fleet;
        std::int64_t capacity = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const Machine& host = trace.hosts[i % trace.hosts.size()];
            capacity += host.free_milli();
            fleet.add(host);
        }
        const auto once = arrivals(trace, 42);
        testing::Rescan rescan;
        std::vector<double> decisions_us, rescans_us;
        std::int64_t arrived = 0;
        const std::int64_t rescan_every = capacity * 13 / 10 / 200;
        std::int64_t next_rescan = rescan_every;
        for (std::size_t i = 0; arrived * 10 < capacity * 13; ++i) {
            const Task& task = trace.tasks[once[i % once.size()]];
            arrived += task.gpu_milli();
            const auto begun = Clock::now();
            fleet.arrive(task.shape);
            const auto choice = fleet.choose(task.shape);
            if (arrived > next_rescan) {
                next_rescan += rescan_every;
                rescan.hosts.clear();
                for (std::size_t host = 0; host < size; ++host)
                    rescan.hosts.emplace_back(fleet.at(static_cast<HostNumber>(host)));
                const auto scan_begun = Clock::now();
                const auto same = rescan.choose(task.shape, fleet);
                rescans_us.push_back(since_us(scan_begun));
                HOSTLER_ASSERT(same.has_value() == choice.has_value() && (!same || *same == choice->host));
                if (choice) HOSTLER_ASSERT(fleet.claim(*choice));
                continue;
            }
            if (choice) HOSTLER_ASSERT(fleet.claim(*choice));
            decisions_us.push_back(since_us(begun));
        }
        const auto row = [&](std::string_view what, std::string_view unit, double value) {
            rows.push_back({fmt::format("{}-{}", what, size), std::string{unit}, value, -1});
        };
        row("decision-mean", "us", mean(decisions_us));
        row("decision-p50", "us", quantile(decisions_us, 0.5));
        row("decision-p99", "us", quantile(decisions_us, 0.99));
        row("decision-max", "us", *std::ranges::max_element(decisions_us));
        row("rescan-mean", "us", mean(rescans_us));
        row("memory", "MiB", resident_mib() - memory_before);
        run_needs(trace, size, row);
    }
    return rows;
}

}  // namespace hostler::bench
