// What hosts were told is durable has to be in the series of some master.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "findings.h"
#include "roles/agent/agent.h"
#include "roles/agent/reports.h"
#include "series_behind.h"

namespace hostler::simulation {

// Moments of each device that stores have acknowledged, of all masters.
using StoredRows = std::map<std::string, std::set<series::Millis>>;

class WatchedSeries final : public SeriesBehind {
public:
    // A row has been stored with the labels that its device was given last.
    using Taken = std::function<void(const series::Labels&, const std::vector<series::Cell>&)>;
    WatchedSeries(SeriesStore& store, StoredRows& rows, Taken taken)
        : SeriesBehind(store), rows_(rows), taken_(std::move(taken)) {}
    Task<DeviceNumber> describe(series::Device device, series::Millis from) override;
    Task<> append(SampleBatch batch) override;

private:
    StoredRows& rows_;
    Taken taken_;
    struct Device {
        std::string id;
        std::size_t columns = 0;
        series::Millis from = 0;
        series::Labels labels;  // From then on.
    };
    std::map<DeviceNumber, Device> devices_;
};

// The reports of one host that wait for an answer, from one look to the next.
class SamplesCheck {
public:
    void begin();  // Another life of its agent: what waited is gone.
    // After each step. As many moments of it are stored as reports with samples were settled.
    void look(const agent::Agent* agent, const StoredRows& rows, Findings& found);
    std::uint64_t settled() const { return settled_; }

private:
    std::uint64_t answers_ = 0;
    std::uint64_t last_ = 0;
    std::map<std::uint64_t, bool> waiting_;  // By number: whether it has a sample of the host.
    std::uint64_t settled_ = 0;
};

}  // namespace hostler::simulation
