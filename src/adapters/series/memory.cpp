#include "adapters/series/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include "domain/series/ranges.h"

namespace hostler::series {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

// One sample of the metric, with all that is to be known about it.
struct Sample {
    Millis time = 0;
    double value = 0;
    std::optional<double> before;  // Of a counter, if it is not too long ago.
    Millis before_time = 0;
    Labels labels;
};

double over_of(const Query& query, const std::vector<const Sample*>& samples) {
    if (samples.empty()) return nothing;
    std::vector<double> values;
    double sum = 0;
    double increase = 0;
    double seconds = 0;
    for (const auto* sample : samples) {
        values.push_back(sample->value);
        sum += sample->value;
        if (!sample->before) continue;
        increase += sample->value >= *sample->before ? sample->value - *sample->before : sample->value;
        seconds += static_cast<double>(sample->time - sample->before_time) / 1000;
    }
    switch (query.over) {
        case Over::last: return values.back();
        case Over::avg: return sum / static_cast<double>(values.size());
        case Over::min: return std::ranges::min(values);
        case Over::max: return std::ranges::max(values);
        case Over::sum: return sum;
        case Over::count: return static_cast<double>(values.size());
        case Over::quantile: return quantile(values, query.over_quantile);
        case Over::increase: return seconds > 0 ? increase : nothing;
        case Over::rate: return seconds > 0 ? increase / seconds : nothing;
    }
    return nothing;
}

double across_of(const Query& query, std::vector<double> values) {
    if (values.empty()) return nothing;
    double sum = 0;
    for (const double value : values) sum += value;
    switch (query.across) {
        case Across::none: return values.back();
        case Across::sum: return sum;
        case Across::avg: return sum / static_cast<double>(values.size());
        case Across::min: return std::ranges::min(values);
        case Across::max: return std::ranges::max(values);
        case Across::count: return static_cast<double>(values.size());
        case Across::quantile: return quantile(values, query.across_quantile);
    }
    return nothing;
}

Labels name_of(const Query& query, const std::string& device, const Labels& labels) {
    Labels name = labels;
    if (query.across == Across::none)
        name["device"] = device;
    else
        std::erase_if(name, [&query](const auto& label) { return !contains(query.by, label.first); });
    return name;
}

// All samples of the metric of one device, whatever its columns were.
std::vector<Sample> samples_of(const MemoryRows& rows, const std::string& id, const std::string& metric) {
    std::map<Millis, Sample> samples;
    std::vector<Era> eras;
    for (const auto& device : rows.devices) {
        if (device.facts.id != id) continue;
        const auto column = std::ranges::find(device.facts.columns, metric, &Column::name);
        if (column == device.facts.columns.end()) continue;
        eras.insert(eras.end(), device.eras.begin(), device.eras.end());
        std::optional<double> before;
        Millis before_time = 0;
        for (const auto& [time, cells] : device.rows) {
            const Cell cell = cells[static_cast<std::size_t>(column - device.facts.columns.begin())];
            if (cell == absent) continue;
            Sample sample{.time = time,
                          .value = column->form == Form::real ? real_of(cell) : static_cast<double>(cell),
                          .before = std::nullopt,
                          .before_time = before_time,
                          .labels = {}};
            if (column->kind == Kind::counter && time - before_time <= gap_max) sample.before = before;
            before = sample.value;
            before_time = time;
            samples.try_emplace(time, sample);
        }
    }
    std::vector<Sample> all;
    for (auto& [time, sample] : samples) {
        const Era* holds = nullptr;
        for (const auto& era : eras)
            if (era.from <= time && (!holds || era.from >= holds->from)) holds = &era;
        if (!holds) holds = &*std::ranges::min_element(eras, {}, &Era::from);
        sample.labels = holds->labels;
        all.push_back(std::move(sample));
    }
    return all;
}

}  // namespace

Task<DeviceNumber> MemoryStore::describe(Device device, Millis from) {
    std::set<std::string> names;
    for (const auto& column : device.columns) names.insert(column.name);
    if (device.id.empty() || device.columns.empty() || device.columns.size() > columns_max ||
        names.size() < device.columns.size() || names.contains(""))
        co_return fail(Code::invalid, "a device has an id and columns with different names");
    auto found = std::ranges::find_if(kept_.devices, [&device](const MemoryRows::Kept& kept) {
        return kept.facts.id == device.id && kept.facts.columns == device.columns;
    });
    if (found == kept_.devices.end()) {
        kept_.devices.push_back({.facts = device, .eras = {}, .rows = {}});
        found = kept_.devices.end() - 1;
    }
    std::erase_if(found->eras, [from](const Era& era) { return era.from >= from; });
    found->eras.push_back({from, device.labels});
    co_return static_cast<DeviceNumber>(found - kept_.devices.begin());
}

Task<> MemoryStore::append(SampleBatch batch) {
    std::size_t cells = 0;
    for (const auto& row : batch.rows) {
        if (row.device >= kept_.devices.size())
            co_return fail(Code::invalid, "this device number was never given out");
        cells += kept_.devices[row.device].facts.columns.size();
    }
    if (cells != batch.cells.size()) co_return fail(Code::invalid, "a wrong number of cells");
    auto next = batch.cells.begin();
    for (const auto& row : batch.rows) {
        auto& device = kept_.devices[row.device];
        const auto end = next + static_cast<std::ptrdiff_t>(device.facts.columns.size());
        device.rows.try_emplace(row.time, next, end);
        next = end;
    }
    stats_.rows += batch.rows.size();
    co_return Result<>{};
}

Task<std::vector<Line>> MemoryStore::query(Query query) {
    CO_TRY(check(query));
    std::set<std::string> ids;
    for (const auto& device : kept_.devices) ids.insert(device.facts.id);
    const auto steps = static_cast<std::size_t>((query.to - query.from - 1) / query.step + 1);
    std::map<Labels, std::vector<std::vector<double>>> groups;  // Of each step: the values of devices.
    for (const auto& id : ids) {
        const auto samples = samples_of(kept_, id, query.metric);
        std::map<Labels, std::vector<std::vector<const Sample*>>> parts;
        for (const auto& sample : samples) {
            if (sample.time < query.from || sample.time >= query.to || !matches(query, sample.labels))
                continue;
            auto& part = parts[name_of(query, id, sample.labels)];
            part.resize(steps);
            part[static_cast<std::size_t>((sample.time - query.from) / query.step)].push_back(&sample);
        }
        for (const auto& [name, part] : parts) {
            for (std::size_t step = 0; step < steps; ++step) {
                const double value = over_of(query, part[step]);
                if (std::isnan(value)) continue;
                groups[name].resize(steps);
                groups[name][step].push_back(value);
            }
        }
    }
    std::vector<Line> lines;
    for (const auto& [name, values] : groups) {
        Line line{.labels = name, .values = {}};
        for (const auto& step : values) line.values.push_back(across_of(query, step));
        lines.push_back(std::move(line));
    }
    order(lines, query.top);
    co_return lines;
}

Task<> MemoryStore::keep(SeriesPolicy policy, WallTime now) {
    const auto end =
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch() - policy.hour).count();
    for (auto& device : kept_.devices)
        std::erase_if(device.rows, [end](const auto& row) { return row.first < end; });
    co_return Result<>{};
}

Task<SeriesStats> MemoryStore::stats() {
    auto stats = stats_;
    stats.devices = kept_.devices.size();
    co_return stats;
}

}  // namespace hostler::series
