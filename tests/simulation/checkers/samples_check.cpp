#include "samples_check.h"

#include <fmt/format.h>

#include "proto/uplink.pb.h"

namespace hostler::simulation {

Task<DeviceNumber> WatchedSeries::describe(series::Device device, series::Millis from) {
    const std::string id = device.id;
    const series::Labels labels = device.labels;
    const DeviceNumber number = CO_TRY(co_await store_.describe(std::move(device), from));
    Device& known = devices_[number];
    known.id = id;
    known.labels.erase(known.labels.lower_bound(from), known.labels.end());
    known.labels[from] = labels;
    co_return number;
}

Task<> WatchedSeries::append(SampleBatch batch) {
    const auto rows = batch.rows;
    CO_TRY(co_await store_.append(std::move(batch)));
    for (const auto& row : rows) {
        const Device& device = devices_.at(row.device);
        rows_[device.id].insert(row.time);
        const auto after = device.labels.upper_bound(row.time);
        if (after != device.labels.begin()) taken_(std::prev(after)->second, row.time);
    }
    co_return Result<>{};
}

void SamplesCheck::begin() {
    waiting_.clear();
    answers_ = last_ = 0;
}

void SamplesCheck::look(const agent::Agent* agent, const StoredRows& rows, Findings& found) {
    const agent::ReportQueue* queue = agent ? agent->reports() : nullptr;
    if (!queue || (queue->answers() == answers_ && queue->last() == last_)) return;
    answers_ = queue->answers();
    last_ = queue->last();
    std::map<std::uint64_t, bool> now;
    for (const auto* report = queue->after(0); report; report = queue->after(report->sequence()))
        now.emplace(report->sequence(), report->has_host());
    // What had to make room is gone and not settled.
    for (const auto& [number, sampled] : waiting_)
        if (sampled && !now.contains(number) && number <= queue->settled()) ++settled_;
    waiting_ = std::move(now);
    const auto stored = rows.find("host/" + agent->host());
    const std::size_t there = stored == rows.end() ? 0 : stored->second.size();
    if (there < settled_)
        found.report(Invariant::samples,
                     fmt::format("{} reports of host {} were acknowledged, and {} of its samples are stored",
                                 settled_, agent->host(), there));
}

}  // namespace hostler::simulation
