// A store of series that passes everything on to another.
#pragma once

#include "ports/series.h"

namespace hostler::simulation {

// Who wraps a store says what differs, and nothing else.
class SeriesBehind : public SeriesStore {
public:
    explicit SeriesBehind(SeriesStore& store) : store_(store) {}
    Task<DeviceNumber> describe(series::Device device, series::Millis from) override {
        return store_.describe(std::move(device), from);
    }
    Task<> append(SampleBatch batch) override { return store_.append(std::move(batch)); }
    Task<std::vector<series::Line>> query(series::Query query) override {
        return store_.query(std::move(query));
    }
    Task<> keep(SeriesPolicy policy, WallTime now) override { return store_.keep(policy, now); }
    Task<> flush() override { return store_.flush(); }
    Task<SeriesStats> stats() override { return store_.stats(); }

protected:
    SeriesStore& store_;
};

}  // namespace hostler::simulation
