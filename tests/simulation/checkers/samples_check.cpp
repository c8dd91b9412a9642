#include "samples_check.h"

#include <fmt/format.h>

#include "proto/uplink.pb.h"

namespace hostler::simulation {

Task<DeviceNumber> WatchedSeries::describe(series::Device device, series::Millis from) {
    Device told{device.id, device.columns.size(), from, device.labels};
    const DeviceNumber number = CO_TRY(co_await store_.describe(std::move(device), from));
    devices_[number] = std::move(told);
    co_return number;
}

Task<> WatchedSeries::append(SampleBatch batch) {
    const SampleBatch stored = batch;
    CO_TRY(co_await store_.append(std::move(batch)));
    auto cell = stored.cells.begin();
    for (const auto& row : stored.rows) {
        const Device& device = devices_.at(row.device);
        rows_[device.id].insert(row.time);
        const auto begin = std::exchange(cell, cell + static_cast<std::ptrdiff_t>(device.columns));
        if (row.time >= device.from) taken_(device.labels, {begin, cell});
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
