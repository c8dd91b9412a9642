// What alert::live_metrics() are at the moment.
#pragma once

#include <optional>
#include <set>

#include "domain/alert/evaluate.h"
#include "ports/series.h"
#include "roles/master/series/usage.h"

namespace hostler::master {

// What the estate does not say.
struct AlertFacts {
    std::map<std::string, double> authority_days_left;  // By the authority's name.
    double commits_waiting = 0;
    bool series_silent = false;  // They have not answered for a while.
    std::optional<SeriesStats> series{};
};

// Numbers are looked up for all at once, labels only for what may matter: a fleet has many GPUs, and few of
// them are worth an alert. It refers to the desk.
class AlertSamples {
public:
    AlertSamples(const Desk& desk, const AlertFacts& facts);

    // As alert::select() chooses, less those that step() would pass over.
    std::vector<alert::Sample> of(const alert::Rule& rule, const alert::RuleState& state);

private:
    struct Row {
        std::string device;
        const Host* host = nullptr;
        const GpuFacts* gpu = nullptr;
        const Volume* volume = nullptr;
        const Instance* instance = nullptr;  // Whose layer it is.
        std::vector<std::pair<std::string_view, double>> values;
        std::optional<alert::Labels> labels;
    };

    void add_host(const Desk& desk, const Host& host, std::int64_t fresh_since);
    void add_gpu(const Host& host, const GpuFacts& gpu, const GpuSample* sample);
    void add_disks(const Host& host, const DiskUses& disks);
    void add_series(const SeriesStats& stats, series::Millis now);
    void add(std::string device, alert::Labels labels, std::string_view metric, double value);
    const alert::Labels& labels_of(Row& row);
    std::vector<std::size_t> rows_for(const alert::Rule& rule);

    const Desk& desk_;
    std::vector<Row> rows_;
    std::map<std::string_view, std::vector<std::size_t>> of_metric_;
    std::optional<GpuHolders> holders_;
    std::optional<std::map<std::string, std::set<std::string>>> devices_;  // By tenant.
};

}  // namespace hostler::master
