// A SeriesStore whose rows go to the backlog, too.
#pragma once

#include <map>

#include "adapters/remote_write/backlog.h"
#include "domain/inventory/catalogue.h"
#include "ports/series.h"

namespace hostler::remote_write {

// Rows are acknowledged once they are durable in the store and in the backlog. When the backlog cannot be
// written they are acknowledged all the same, and counted as lost to it: the store has them. Of a device with
// columns other than those of hosts and GPUs nothing is sent.
class ForwardedStore final : public SeriesStore {
public:
    ForwardedStore(SeriesStore& store, Backlog& backlog, std::size_t samples_per_message = 5000)
        : store_(store), backlog_(backlog), samples_per_message_(samples_per_message) {}

    Task<DeviceNumber> describe(series::Device device, series::Millis from) override;
    Task<> append(SampleBatch batch) override;
    Task<std::vector<series::Line>> query(series::Query query) override {
        return store_.query(std::move(query));
    }
    Task<> keep(SeriesPolicy policy, WallTime now) override { return store_.keep(policy, now); }
    Task<> flush() override { return store_.flush(); }
    Task<SeriesStats> stats() override;

    struct Era {
        series::Millis from = 0;
        MessageWriter::Labels labels;
    };
    struct Device {
        std::optional<Measured> of;  // nullopt: not sent.
        std::size_t columns = 0;
        std::vector<Era> eras;  // The last ones, by time.
    };
    using DevicePtr = std::shared_ptr<const Device>;

private:
    SeriesStore& store_;
    Backlog& backlog_;
    const std::size_t samples_per_message_;
    std::map<DeviceNumber, DevicePtr> devices_;
};

// The labels of /metrics/gpus, as far as a device's labels say them.
MessageWriter::Labels exported_labels(const series::Labels& labels);

}  // namespace hostler::remote_write
