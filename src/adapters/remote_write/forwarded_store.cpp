#include "adapters/remote_write/forwarded_store.h"

#include <algorithm>
#include <limits>

#include "core/log.h"
#include "domain/inventory/exported.h"
#include "domain/inventory/metrics.h"

namespace hostler::remote_write {

namespace {

constexpr std::size_t eras_max = 4;

std::optional<Measured> measured(const std::vector<series::Column>& columns) {
    for (const Measured of : all_measured)
        if (columns == columns_of(of)) return of;
    return std::nullopt;
}

const MessageWriter::Labels& labels_at(const ForwardedStore::Device& device, series::Millis time) {
    const ForwardedStore::Era* holds = &device.eras.front();
    for (const auto& era : device.eras)
        if (era.from <= time) holds = &era;
    return holds->labels;
}

template <class Sample>
Sample sample_of(std::span<const series::Cell> cells) {
    Sample sample;
    std::size_t at = 0;
    detail::each_metric<Sample>([&](std::string_view, auto member) {
        const series::Cell cell = cells[at++];
        sample.*member = cell == series::absent ? Metric{} : Metric{cell};
    });
    return sample;
}

void write_row(MessageWriter& to, const ForwardedStore::Device& device, series::Millis time,
               std::span<const series::Cell> cells) {
    const auto& labels = labels_at(device, time);
    const auto each = [&](std::string_view name, double value) { to.add(name, labels, value, time); };
    const auto with_free = [&](const auto& table, const auto& sample) {
        each_exported(table, sample, each);
        if (const auto free = framebuffer_free_mib(sample)) each(framebuffer_free_name, *free);
    };
    switch (*device.of) {
        case Measured::gpu: return with_free(exported_gpu(), sample_of<GpuSample>(cells));
        case Measured::slice: return with_free(exported_slice(), sample_of<SliceSample>(cells));
        case Measured::host: return each_exported(exported_host(), sample_of<HostSample>(cells), each);
        case Measured::volume: return each_exported(exported_volume(), sample_of<DiskUse>(cells), each);
        case Measured::layer: return each_exported(exported_layer(), sample_of<DiskUse>(cells), each);
        case Measured::instance:
            return each_exported(exported_instance(), sample_of<InstanceSample>(cells), each);
    }
}

}  // namespace

MessageWriter::Labels exported_labels(const series::Labels& labels) {
    // By the names there, in their order: capitals come first.
    static constexpr std::pair<std::string_view, std::string_view> names[] = {{"GPU_I_ID", "gpu_instance"},
                                                                              {"GPU_I_PROFILE", "profile"},
                                                                              {"Hostname", "host_name"},
                                                                              {"UUID", "gpu"},
                                                                              {"cluster", "cluster"},
                                                                              {"container", "container"},
                                                                              {"gpu", "index"},
                                                                              {"instance", "host"},
                                                                              {"modelName", "model"},
                                                                              {"namespace", "namespace"},
                                                                              {"node", "node"},
                                                                              {"pod", "pod"},
                                                                              {"slice", "slice"},
                                                                              {"tenant", "tenant"},
                                                                              {"volume", "volume"},
                                                                              {"workload", "workload"},
                                                                              {"zone", "zone"}};
    MessageWriter::Labels exported;
    for (const auto& [name, from] : names)
        if (const auto at = labels.find(std::string{from}); at != labels.end() && !at->second.empty())
            exported.emplace_back(name, at->second);
    return exported;
}

Task<DeviceNumber> ForwardedStore::describe(series::Device device, series::Millis from) {
    const auto of = measured(device.columns);
    const std::size_t columns = device.columns.size();
    auto labels = exported_labels(device.labels);
    const DeviceNumber number = CO_TRY(co_await store_.describe(std::move(device), from));
    Device known{.of = of, .columns = columns, .eras = {}};
    if (const auto before = devices_.find(number); before != devices_.end())
        known.eras = before->second->eras;
    std::erase_if(known.eras, [&](const Era& era) { return era.from >= from; });
    known.eras.push_back({from, std::move(labels)});
    if (known.eras.size() > eras_max) known.eras.erase(known.eras.begin());
    devices_[number] = std::make_shared<const Device>(std::move(known));
    co_return number;
}

Task<> ForwardedStore::append(SampleBatch batch) {
    auto copy = std::make_shared<const SampleBatch>(batch);
    CO_TRY(co_await store_.append(std::move(batch)));  // It has checked the numbers.
    std::vector<DevicePtr> devices;
    for (const auto& row : copy->rows) devices.push_back(devices_.at(row.device));
    const auto kept =
        co_await backlog_.put([copy, devices = std::move(devices), most = samples_per_message_] {
            MessageWriter writer{most};
            std::size_t at = 0;
            for (std::size_t i = 0; i < devices.size(); ++i) {
                const std::span cells{copy->cells.data() + at, devices[i]->columns};
                if (devices[i]->of) write_row(writer, *devices[i], copy->rows[i].time, cells);
                at += devices[i]->columns;
            }
            return writer.take();
        });
    if (!kept && kept.error().code == Code::cancelled) co_return kept;
    co_return Result<>{};
}

Task<SeriesStats> ForwardedStore::stats() {
    auto stats = CO_TRY(co_await store_.stats());
    stats.forwarding = SeriesForwarding{.oldest = backlog_.oldest(),
                                        .bytes = backlog_.count().bytes,
                                        .bytes_max = backlog_.limits().bytes_max};
    co_return stats;
}

}  // namespace hostler::remote_write
