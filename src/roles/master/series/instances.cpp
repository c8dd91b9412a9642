#include "roles/master/series/instances.h"

#include <fmt/format.h>

#include <set>

#include "domain/inventory/metrics.h"
#include "roles/master/host/lifecycle.h"

namespace hostler::master {

namespace {

const Instance* on_host(const Desk& desk, const std::string& id, const std::string& host) {
    const Instance* instance = desk.estate.instances.find(id);
    return instance && instance->host == host && has_place(instance->phase) ? instance : nullptr;
}

// Its row; null: there is none left, or it was another's then.
InstanceRow* row_of(std::map<std::string, InstanceRow>& rows, const std::string& instance,
                    series::Millis time, ReportIs which) {
    if (const auto found = rows.find(instance); found != rows.end())
        return time >= found->second.row.from ? &found->second : nullptr;
    if (which != ReportIs::next) return nullptr;
    std::set<int> taken;
    for (const auto& [other, one] : rows) taken.insert(one.row.number);
    int number = 0;
    while (taken.contains(number)) ++number;
    if (number >= instance_series_host_max) return nullptr;
    return &(rows[instance] = {.row = {.number = number, .from = time}});
}

// `told` with its counters as of the row's beginning. One that is lower than before began again with its
// container, after the row did.
InstanceSample counted(const InstanceSample& told, ReportIs which, InstanceRow& row) {
    static const auto members = detail::metric_members<InstanceSample>();
    const auto& columns = columns_of(Measured::instance);
    InstanceSample made = told;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const Metric& value = told.*members[i];
        if (columns[i].kind != series::Kind::counter || !value) continue;
        Metric& base = row.base.*members[i];
        Metric& last = row.last.*members[i];
        if (which == ReportIs::next) {
            if (!base)
                base = value;
            else if (*value < last.value_or(0))
                base = 0;
            last = value;
        }
        const bool known = base && *value >= *base;
        made.*members[i] = known ? Metric{*value - *base} : std::nullopt;
    }
    return made;
}

}  // namespace

void add_instances(const Desk& desk, const std::string& id, const std::map<std::string, InstanceSample>& told,
                   ReportIs which, std::map<std::string, InstanceRow>& rows, Measurement& into) {
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired) return;
    std::erase_if(rows, [&](const auto& one) { return !on_host(desk, one.first, id); });
    for (const auto& [name, sample] : told) {
        const Instance* instance = on_host(desk, name, id);
        if (!instance) continue;
        InstanceRow* row = row_of(rows, name, into.time, which);
        if (!row) continue;
        SeriesDevicePtr& device = row->row.device;
        SeriesLabels labels = series_labels(*host, *instance);
        if (!device || device->labels.labels != labels.labels) {
            // Who has it now did not have it before this report.
            labels.from = device ? into.time : row->row.from;
            device = std::make_shared<const SeriesDevice>(SeriesDevice{
                Measured::instance, fmt::format("instance/{}/{}", id, row->row.number), std::move(labels)});
        }
        into.devices.push_back(device);
        add_cells(counted(sample, which, *row), into.cells);
    }
}

}  // namespace hostler::master
