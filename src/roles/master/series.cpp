#include "roles/master/series.h"

#include "domain/inventory/metrics.h"
#include "domain/inventory/model.h"
#include "roles/master/kinds.h"

namespace hostler::master {

namespace {

void put(series::Labels& labels, const char* name, const std::string& value) {
    if (!value.empty()) labels[name] = value;
}

template <class Sample>
void add_all(const Sample& sample, std::vector<series::Cell>& to) {
    detail::each_metric<Sample>(
        [&](std::string_view, auto member) { to.push_back((sample.*member).value_or(series::absent)); });
}

}  // namespace

std::string series_gpu(const std::string& host, const std::string& uuid) {
    return "gpu/" + host + "/" + uuid;
}

std::string series_host(const std::string& host) { return "host/" + host; }

SeriesLabels series_labels(const Host& host) {
    SeriesLabels made;
    put(made.labels, "host", host.id);
    put(made.labels, "host_name", host.facts.hostname);
    put(made.labels, "zone", host.zone);
    return made;
}

SeriesLabels series_labels(const Desk& desk, const Host& host, const GpuFacts& gpu, const Claim* claim) {
    SeriesLabels made = series_labels(host);
    put(made.labels, "gpu", gpu.uuid);
    put(made.labels, "index", std::to_string(gpu.index));
    put(made.labels, "model", gpu.model);
    if (const GpuModel* model = find_gpu_model(gpu.model))
        put(made.labels, "class", std::string{model->family});
    put(made.labels, "vendor", text_of(gpu.vendor));
    if (!claim) return made;
    // Its owner's until the host has confirmed that nothing of it runs.
    const bool owned = claim->use == ClaimUse::instance || claim->use == ClaimUse::leaving;
    put(made.labels, "use", text_of(owned ? ClaimUse::instance : claim->use));
    made.from = claim->since / 1000;
    if (!owned) return made;
    put(made.labels, "tenant", claim->tenant);
    if (const Instance* instance = desk.estate.instances.find(claim->holder))
        put(made.labels, "workload", instance->caller_id);
    return made;
}

void add_cells(const GpuSample& sample, std::vector<series::Cell>& to) { add_all(sample, to); }
void add_cells(const HostSample& sample, std::vector<series::Cell>& to) { add_all(sample, to); }

}  // namespace hostler::master
