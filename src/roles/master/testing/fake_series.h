// For tests: a series store in memory that can be told to wait or to fail.
#pragma once

#include <deque>
#include <map>

#include "core/suspend.h"
#include "ports/series.h"

namespace hostler::master::testing {

class FakeSeries final : public SeriesStore {
public:
    struct Kept {
        series::Device device;
        std::vector<series::Era> eras;
        std::map<series::Millis, std::vector<series::Cell>> rows;
    };

    // (A device is durable with its first row: a disk that fails is met by append().)
    Task<DeviceNumber> describe(series::Device device, series::Millis from) override {
        auto found = std::ranges::find(devices, device.id, [](const Kept& kept) { return kept.device.id; });
        if (found == devices.end()) found = devices.insert(found, {.device = device, .eras = {}, .rows = {}});
        std::erase_if(found->eras, [&](const series::Era& era) { return era.from >= from; });
        found->eras.push_back({from, std::move(device.labels)});
        co_return static_cast<DeviceNumber>(found - devices.begin());
    }
    Task<> append(SampleBatch batch) override {
        ++appends;
        if (hang)
            CO_TRY(co_await suspend<void>(
                [this](WakerPtr<void> waker) { waiting.push_back(std::move(waker)); }));
        if (failure) co_return std::unexpected(*failure);
        auto next = batch.cells.begin();
        for (const auto& row : batch.rows) {
            Kept& device = devices.at(row.device);
            const auto end = next + static_cast<std::ptrdiff_t>(device.device.columns.size());
            device.rows.try_emplace(row.time, next, end);
            next = end;
        }
        co_return Result<>{};
    }
    Task<std::vector<series::Line>> query(series::Query query) override {
        CO_TRY(series::check(query));
        asked.push_back(std::move(query));
        if (hang)
            CO_TRY(co_await suspend<void>(
                [this](WakerPtr<void> waker) { waiting.push_back(std::move(waker)); }));
        if (failure) co_return std::unexpected(*failure);
        co_return answer;
    }
    Task<> keep(SeriesPolicy policy, WallTime) override {
        kept.push_back(policy);
        if (failure) co_return std::unexpected(*failure);
        co_return Result<>{};
    }
    Task<> flush() override { co_return Result<>{}; }
    Task<SeriesStats> stats() override {
        told.devices = devices.size();
        co_return told;
    }

    const Kept* find(const std::string& id) const {
        const auto found = std::ranges::find(devices, id, [](const Kept& one) { return one.device.id; });
        return found == devices.end() ? nullptr : &*found;
    }
    // The labels that hold at this moment.
    static series::Labels labels_at(const Kept& device, series::Millis time) {
        series::Labels labels;
        for (const series::Era& era : series::in_order(device.eras))
            if (era.from <= time || labels.empty()) labels = era.labels;
        return labels;
    }
    void let_go() {
        hang = false;
        for (auto& waker : std::exchange(waiting, {})) waker->wake({});
    }

    bool hang = false;
    std::optional<Error> failure;
    int appends = 0;
    std::vector<Kept> devices;
    std::vector<series::Query> asked;
    std::vector<series::Line> answer;
    std::vector<SeriesPolicy> kept;
    SeriesStats told;
    std::deque<WakerPtr<void>> waiting;
};

}  // namespace hostler::master::testing
