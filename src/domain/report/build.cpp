#include "domain/report/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hostler::report {

namespace {

constexpr std::size_t round_cells = 20'000;  // That work() does at once.
constexpr double joules_of_kwh = 3'600'000;

// Three digits behind the point say all that was measured.
double rounded(double value) { return std::round(value * 1000) / 1000; }
double hours(double seconds) { return rounded(seconds / 3600); }

WallTime wall(Millis time) { return WallTime{std::chrono::milliseconds{time}}; }

std::string_view source_of(std::string_view label) { return label == "instance" ? "workload" : label; }

std::string label_in(const series::Labels& labels, std::string_view name) {
    const auto at = labels.find(std::string{name});
    return at == labels.end() ? "" : at->second;
}

Error too_large(std::string message, std::string_view reason) {
    Error error{Code::exhausted, std::move(message), std::string{reason}};
    error.help = "Ask for fewer labels (by), for part of it (where), or for a shorter time.";
    return error;
}

// The highest first, equal ones by their labels.
template <class Item, class Order>
void keep_top(std::vector<Item>& items, std::size_t top, Order order) {
    std::ranges::sort(items, [&](const Item& a, const Item& b) {
        const auto first = std::invoke(order, a), second = std::invoke(order, b);
        return first != second ? first > second : a.labels < b.labels;
    });
    if (top != 0 && items.size() > top) items.resize(top);
}

}  // namespace

Millis usual_step(Millis span) {
    static constexpr int minutes[] = {1, 5, 10, 15, 30};
    for (const int step : minutes)
        if (span <= Millis{step} * 60'000 * 300) return Millis{step} * 60'000;
    return step_max;
}

std::vector<Ask> asks_of(Depth depth) {
    std::vector<Ask> asks;
    // A GPU that tells little of itself still counts.
    for (const Figure figure : {Figure::utilization, Figure::memory_total, Figure::temperature})
        asks.push_back({.metric = facts_of(figure).metric, .over = series::Over::count});
    for (const FigureFacts& row : figure_table()) {
        const bool basic = row.figure == Figure::utilization || row.figure == Figure::memory_used ||
                           row.figure == Figure::memory_total || row.figure == Figure::power;
        if (row.metric.empty() || (depth == Depth::usage && !basic)) continue;
        asks.push_back({.metric = row.metric, .over = row.over, .of = row.of, .figure = row.figure});
    }
    return asks;
}

void Builder::Mean::add(double value, double by) {
    if (std::isnan(value)) return;
    sum += value * by;
    weight += by;
}

std::optional<double> Builder::Mean::value() const {
    return weight > 0 ? std::optional{rounded(sum / weight)} : std::nullopt;
}

Builder::Builder(Question question) : question_(std::move(question)), next_(rows_.end()) {
    by_time_ = std::ranges::count(question_.by, "day") + std::ranges::count(question_.by, "hour") > 0;
    const Millis steps = (question_.to - question_.from + question_.step - 1) / question_.step;
    const Millis most = static_cast<Millis>(slices_max);
    slice_ = question_.step * std::max<Millis>(1, (steps + most - 1) / most);
}

void Builder::begin(Millis from, Millis to) {
    from_ = from;
    to_ = to;
    steps_ = static_cast<std::size_t>((to - from + question_.step - 1) / question_.step);
    rows_.clear(), hosts_.clear(), device_counts_.clear(), host_devices_.clear();
    next_ = rows_.end();
    prepared_ = false;
}

Result<> Builder::take(const Ask& ask, std::vector<series::Line> lines) {
    for (series::Line& line : lines) {
        Row& row =
            ask.of == Measured::host ? hosts_[label_in(line.labels, "host")] : rows_[std::move(line.labels)];
        if (rows_.size() * steps_ > cells_max)
            return std::unexpected(
                too_large(fmt::format("{} GPUs with their holders over {} steps are more than {} cells",
                                      rows_.size(), steps_, cells_max),
                          stretch_too_large));
        auto& into = ask.figure ? row.figures[static_cast<std::size_t>(*ask.figure)] : row.samples;
        into.resize(steps_, ask.figure ? not_measured : 0);
        const double scale = ask.figure ? facts_of(*ask.figure).scale : 1;
        for (std::size_t i = 0; i < std::min(steps_, line.values.size()); ++i) {
            if (std::isnan(line.values[i])) continue;
            const auto value = static_cast<float>(line.values[i] * scale);
            into[i] = ask.figure ? value : std::max(into[i], value);
        }
    }
    return {};
}

std::vector<std::string> Builder::hosts() const {
    std::set<std::string> hosts;
    for (const auto& [labels, row] : rows_) hosts.insert(label_in(labels, "host"));
    return {hosts.begin(), hosts.end()};
}

// How many samples each GPU has in a step, whoever held it, and how many GPUs of a host have some.
void Builder::prepare() {
    for (const auto& [labels, row] : rows_) {
        auto& counts = device_counts_[label_in(labels, "device")];
        counts.resize(steps_);
        auto& devices = host_devices_[label_in(labels, "host")];
        devices.resize(steps_);
        for (std::size_t i = 0; i < row.samples.size(); ++i) {
            if (row.samples[i] > 0 && counts[i] == 0) ++devices[i];
            counts[i] += row.samples[i];
        }
    }
    next_ = rows_.begin();
    prepared_ = true;
}

Result<bool> Builder::work() {
    if (!prepared_) prepare();
    for (std::size_t cells = 0; cells < round_cells && next_ != rows_.end(); ++next_, cells += steps_)
        TRY(add(next_->first, next_->second));
    return next_ != rows_.end();
}

Result<Builder::Group*> Builder::group_of(const series::Labels& labels, Millis time) {
    Labels name;
    for (const std::string& label : question_.by) {
        const std::string moment = rfc3339(wall(time));
        if (label == "day")
            name[label] = moment.substr(0, 10);
        else if (label == "hour")
            name[label] = moment.substr(0, 10) + " " + moment.substr(11, 2) + ":00";
        else
            name[label] = label_in(labels, source_of(label));
    }
    const auto [at, fresh] = groups_.try_emplace(std::move(name));
    if (fresh && static_cast<std::int64_t>(groups_.size()) > lines_max)
        return std::unexpected(too_large(fmt::format("the report would have more than {} lines", lines_max),
                                         "report_too_large"));
    return &at->second;
}

Result<> Builder::add(const series::Labels& labels, const Row& row) {
    const std::string use = label_in(labels, "use");
    const Use how = use.empty() ? Use::free : use == "instance" ? Use::claimed : Use::other;
    const std::string device = label_in(labels, "device");
    const auto& counts = device_counts_.at(device);
    const auto spans = spans_of(labels);
    Group* group = nullptr;
    for (std::size_t i = 0; i < row.samples.size(); ++i) {
        if (row.samples[i] <= 0) continue;
        const Millis from = from_ + static_cast<Millis>(i) * question_.step;
        const double length = static_cast<double>(std::min(to_, from + question_.step) - from);
        // Samples may come a little sooner than they should: a step has no more time than it has.
        const double stands = std::min(static_cast<double>(question_.interval), length / counts[i]);
        const double seconds = row.samples[i] * stands / 1000;
        if (!group || by_time_) group = TRY(group_of(labels, from));
        const Figures figures = figures_at(labels, row, i);
        for (Group* one : {group, &total_}) {
            one->devices.insert(device);
            add_cell(*one, how, figures, seconds, span_at(spans, from));
        }
        Seconds& slice = slices_[from / slice_ * slice_];
        const double utilization = figures.has(Figure::utilization) ? figures[Figure::utilization] : 0.0;
        slice.measured += seconds;
        if (how != Use::claimed) continue;
        const bool idle = figures.has(Figure::utilization) && utilization < idle_below_percent;
        slice.claimed += seconds;
        slice.busy += seconds * utilization / 100;
        if (idle) slice.idle += seconds;
        add_run(labels, *group, from, seconds, idle);
    }
    return {};
}

std::span<const PriceSpan> Builder::spans_of(const series::Labels& labels) {
    if (question_.prices.prices.empty()) return {};
    const auto [at, fresh] = price_spans_.try_emplace({label_in(labels, "host"), label_in(labels, "model")});
    if (fresh) at->second = price_spans(question_.prices, labels, question_.from, question_.to);
    return at->second;
}

void Builder::add_cell(Group& group, Use use, const Figures& figures, double seconds,
                       const PriceSpan* price) {
    Seconds& sums = group.sums;
    sums.measured += seconds;
    const double energy = figures.has(Figure::power) ? seconds * figures[Figure::power] : 0;
    group.energy += energy;
    if (use == Use::other) sums.other += seconds;
    if (use != Use::claimed) return;
    sums.claimed += seconds;
    group.memory.add(figures[Figure::memory_used_percent], seconds);
    if (!figures.has(Figure::utilization)) {
        sums.unknown += seconds;
        return;
    }
    sums.busy += seconds * figures[Figure::utilization] / 100;
    if (figures[Figure::utilization] < idle_below_percent) {
        sums.idle += seconds;
        group.idle_energy += energy;
        add_cost(group.idle_cost, price, seconds);
        group.idle_memory.add(figures[Figure::memory_used_percent], seconds);
    }
    const Rule* rule = judge(figures);
    if (!rule) return;
    Bound& bound = group.bounds[rule->verdict];
    bound.seconds += seconds;
    for (const Figure figure : rule->evidence) bound.evidence[figure].add(figures[figure], seconds);
}

void Builder::add_run(const series::Labels& labels, Group& group, Millis from, double seconds, bool idle) {
    if (!idle) {
        runs_.erase(labels);
        return;
    }
    Run& run = runs_[labels];
    if (run.until != from) run = {.since = from};
    run.until = from + question_.step;
    run.seconds += seconds;
    run.group = &group;
    for (Group* one : {&group, &total_}) one->longest = std::max(one->longest, run.seconds);
}

bool Builder::whole_host(const std::string& host, std::size_t step) const {
    if (!question_.hosts_gpus) return true;
    const auto gpus = question_.hosts_gpus->find(host);
    const auto here = host_devices_.find(host);
    return gpus != question_.hosts_gpus->end() && here != host_devices_.end() &&
           here->second[step] >= gpus->second;
}

Figures Builder::figures_at(const series::Labels& labels, const Row& row, std::size_t step) const {
    Figures figures;
    const auto fill = [&](const Row& from) {
        for (std::size_t i = 0; i < figures_count; ++i)
            if (!from.figures[i].empty()) figures.values[i] = from.figures[i][step];
    };
    fill(row);
    const std::string host = label_in(labels, "host");
    if (const auto at = hosts_.find(host); at != hosts_.end() && whole_host(host, step)) fill(at->second);
    complete(figures);
    return figures;
}

UsageLine Builder::usage_line(const Labels& labels, const Group& group) const {
    const Seconds& sums = group.sums;
    UsageLine line{.labels = labels,
                   .gpus = static_cast<int>(group.devices.size()),
                   .measured_hours = hours(sums.measured),
                   .claimed_hours = hours(sums.claimed),
                   .other_hours = hours(sums.other),
                   .free_hours = hours(sums.measured - sums.claimed - sums.other),
                   .busy_hours = hours(sums.busy),
                   .idle_hours = hours(sums.idle),
                   .unknown_hours = hours(sums.unknown)};
    if (sums.claimed > sums.unknown)
        line.utilization_percent = rounded(100 * sums.busy / (sums.claimed - sums.unknown));
    line.memory_used_percent = group.memory.value();
    line.energy_kwh = rounded(group.energy / joules_of_kwh);
    return line;
}

WasteLine Builder::waste_line(const Labels& labels, const Group& group) const {
    const Seconds& sums = group.sums;
    WasteLine line{.labels = labels,
                   .gpus = static_cast<int>(group.devices.size()),
                   .claimed_hours = hours(sums.claimed),
                   .idle_hours = hours(sums.idle),
                   .idle_percent = rounded(100 * sums.idle / sums.claimed),
                   .longest_hours = hours(group.longest)};
    if (group.idle_since != 0) line.idle_since = wall(group.idle_since);
    line.memory_used_percent = group.idle_memory.value();
    line.energy_kwh = rounded(group.idle_energy / joules_of_kwh);
    line.advice = waste_advice(line.idle_percent, line.idle_since.has_value());
    line.idle_costs = costs_of(group.idle_cost);
    return line;
}

void Builder::add_findings(Report& to, const Labels& labels, const Group& group) const {
    for (const auto& [verdict, bound] : group.bounds) {
        const Rule& rule = rule_of(verdict);
        Finding finding{.labels = labels,
                        .verdict = verdict,
                        .hours = hours(bound.seconds),
                        .percent = rounded(100 * bound.seconds / (group.sums.claimed - group.sums.unknown)),
                        .evidence = {},
                        .advice = std::string{rule.advice}};
        for (const Figure figure : rule.evidence)
            if (const auto value = bound.evidence.at(figure).value())
                finding.evidence.push_back({.figure = std::string{facts_of(figure).name},
                                            .value = *value,
                                            .unit = std::string{facts_of(figure).unit}});
        to.bottlenecks.push_back(std::move(finding));
    }
}

std::vector<Slice> Builder::timeline() const {
    std::vector<Slice> made;
    for (const auto& [from, sums] : slices_) {
        const Millis begin = std::max(from, question_.from), end = std::min(question_.to, from + slice_);
        const double length = static_cast<double>(end - begin) / 1000;
        made.push_back({.from = wall(begin),
                        .gpus = rounded(sums.measured / length),
                        .claimed = rounded(sums.claimed / length),
                        .busy = rounded(sums.busy / length),
                        .idle = rounded(sums.idle / length)});
    }
    return made;
}

Report Builder::finish(std::size_t top) && {
    for (auto& [labels, run] : runs_) {
        if (run.until < question_.to - question_.step) continue;
        if (question_.held &&
            !question_.held->contains(held_name(label_in(labels, "host"), label_in(labels, "gpu"),
                                                label_in(labels, "tenant"), label_in(labels, "workload"))))
            continue;
        for (Group* one : {run.group, &total_})
            if (one->idle_since == 0 || run.since < one->idle_since) one->idle_since = run.since;
    }
    Report report{.from = wall(question_.from),
                  .to = wall(question_.to),
                  .step = question_.step / 1000,
                  .by = fmt::format("{}", fmt::join(question_.by, ",")),
                  .total = usage_line({}, total_)};
    for (const auto& [labels, group] : groups_) {
        report.usage.push_back(usage_line(labels, group));
        if (group.sums.idle > 0) report.waste.push_back(waste_line(labels, group));
        add_findings(report, labels, group);
    }
    const std::size_t groups = report.usage.size();
    // A course over time stays in its order.
    if (!by_time_ || top != 0)
        keep_top(report.usage, top,
                 [](const UsageLine& line) { return std::pair(line.claimed_hours, line.measured_hours); });
    keep_top(report.waste, top, &WasteLine::idle_hours);
    keep_top(report.bottlenecks, top, &Finding::hours);
    report.left_out = static_cast<int>(groups - report.usage.size());
    report.timeline = timeline();
    report.idle_costs = costs_of(total_.idle_cost);
    return report;
}

}  // namespace hostler::report
