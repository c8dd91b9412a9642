// Samples as NVIDIA's DCGM exporter shows them: names, units, labels. What is not measured here has no row.
#include <cmath>

#include <fmt/format.h>

#include "domain/inventory/exported.h"
#include "roles/master/series/usage.h"

namespace hostler::master {

namespace {

using enum MetricsPage::Type;

template <class Sample>
struct Labelled {
    std::string labels;
    const Sample* sample;
};

// Labels, as MetricsPage::labels() made them, and more.
std::string with(std::string_view labels, MetricsPage::Labels more) {
    std::string added = MetricsPage::labels(more);
    added.front() = ',';
    return std::string{labels.substr(0, labels.size() - 1)} + added;
}

// And those of a node of a cluster.
std::string with_pod(const Desk& desk, const Claim& claim, const GpuSample& sample, std::string_view labels) {
    const ClusterNode* node = desk.estate.cluster_nodes.find(claim.holder);
    const Cluster* cluster = node ? desk.estate.clusters.find(node->cluster) : nullptr;
    const GpuPod pod = sample.pod.value_or(GpuPod{});
    return with(labels, {{"cluster", cluster ? cluster->name : ""},
                         {"node", node ? node->name : ""},
                         {"namespace", pod.pod_namespace},
                         {"pod", pod.name},
                         {"container", pod.container}});
}

// Whole numbers as such: a page of rates and temperatures reads as the exporter's.
void write_row(MetricsPage& page, const std::string& labels, double value) {
    constexpr double whole_max = 9e15;
    if (value == std::floor(value) && std::abs(value) < whole_max)
        page.row(labels, static_cast<std::int64_t>(value));
    else
        page.row(labels, value);
}

// Its head comes with the first row.
template <class Sample>
void write_metric(MetricsPage& page, const Exported<Sample>& metric, bool& begun,
                  const std::vector<Labelled<Sample>>& samples) {
    for (const auto& [labels, sample] : samples) {
        const Metric& value = sample->*metric.of;
        if (!value) continue;
        if (!std::exchange(begun, true))
            page.begin(metric.name, metric.help, metric.kind == series::Kind::counter ? counter : gauge);
        write_row(page, labels, static_cast<double>(*value) * metric.scale);
    }
}

void write_hosts(MetricsPage& page, const std::vector<Labelled<HostSample>>& hosts) {
    for (const auto& metric : exported_host()) {
        bool begun = false;
        write_metric(page, metric, begun, hosts);
    }
}

// A metric of slices stands with that of GPUs, whose name it has.
void write_gpus(MetricsPage& page, const std::vector<Labelled<GpuSample>>& gpus,
                const std::vector<Labelled<SliceSample>>& slices) {
    for (const auto& metric : exported_gpu()) {
        bool begun = false;
        write_metric(page, metric, begun, gpus);
        const auto too = std::ranges::find(exported_slice(), metric.name, &Exported<SliceSample>::name);
        if (too != exported_slice().end()) write_metric(page, *too, begun, slices);
    }
    if (gpus.empty()) return;
    page.begin(framebuffer_free_name, "Framebuffer memory free (in MiB).", gauge);
    const auto write_free = [&](const auto& samples) {
        for (const auto& [labels, sample] : samples)
            if (const auto free = framebuffer_free_mib(*sample)) write_row(page, labels, *free);
    };
    write_free(gpus), write_free(slices);
}

struct Use {
    std::string labels;
    const WorkloadUse* use;
};

void write_uses(MetricsPage& page, const std::vector<Use>& uses) {
    page.begin("hostler_instance_gpu_processes", "Processes of an instance that use a GPU.", gauge);
    for (const auto& [labels, use] : uses) page.row(labels, use->processes);
    page.begin("hostler_instance_gpu_memory_bytes", "Memory of a GPU that an instance's processes hold.",
               gauge);
    for (const auto& [labels, use] : uses)
        if (use->memory_bytes) page.row(labels, *use->memory_bytes);
    page.begin("hostler_instance_gpu_utilization_percent", "Their share of the GPU's time.", gauge);
    for (const auto& [labels, use] : uses)
        if (use->utilisation_percent) page.row(labels, *use->utilisation_percent);
}

struct Kills {
    std::string labels;
    std::int64_t count;
};

// Of instances that run in this zone, if one is given.
std::vector<Kills> memory_kills(const Desk& desk, const std::string& zone) {
    std::vector<Kills> all;
    for (const auto& [id, instance] : desk.estate.instances.all()) {
        const InstanceKills& kills = instance.memory_kills;
        if (kills.count == 0 || kills.generation != instance.run_generation || !has_place(instance.phase))
            continue;
        const Host* host = desk.estate.hosts.find(instance.host);
        if (!host || host->phase != HostPhase::ready || (!zone.empty() && host->zone != zone)) continue;
        all.push_back({MetricsPage::labels({{"Hostname", host->facts.hostname},
                                            {"instance", host->id},
                                            {"zone", host->zone},
                                            {"tenant", instance.tenant},
                                            {"workload", instance.caller_id}}),
                       kills.count});
    }
    return all;
}

void write_memory_kills(MetricsPage& page, const std::vector<Kills>& all) {
    page.begin("hostler_instance_memory_kills_total",
               "Processes of an instance's container that the kernel killed for want of memory.", counter);
    for (const auto& [labels, count] : all) page.row(labels, count);
}

struct Way {
    std::string labels;
    SpeedFigures figures;
};

void write_network(MetricsPage& page, const std::vector<Way>& ways) {
    constexpr double bytes_per_kbit = 125;
    constexpr struct {
        std::string_view name, help;
        Metric SpeedFigures::* of;
        double scale;
    } rows[] = {
        {"hostler_host_network_down_bytes_per_second", "From an access point to the host, as last measured.",
         &SpeedFigures::down_kbit_s, bytes_per_kbit},
        {"hostler_host_network_up_bytes_per_second", "From the host to an access point.",
         &SpeedFigures::up_kbit_s, bytes_per_kbit},
        {"hostler_host_network_round_trip_seconds", "Median round trip between them.",
         &SpeedFigures::round_trip_us, 1e-6},
    };
    for (const auto& row : rows) {
        page.begin(row.name, row.help, gauge);
        for (const auto& [labels, figures] : ways)
            if (const Metric& value = figures.*row.of)
                write_row(page, labels, static_cast<double>(*value) * row.scale);
    }
}

}  // namespace

Result<> write_gpu_metrics(MetricsPage& page, const Desk& desk, const std::string& zone) {
    std::vector<Labelled<GpuSample>> gpus;
    std::vector<Labelled<SliceSample>> slices;
    std::vector<Labelled<HostSample>> hosts;
    std::vector<Use> uses;
    std::vector<Way> ways;
    const GpuHolders holders{desk};
    for (const auto& [id, host] : desk.estate.hosts.all()) {
        const auto live = desk.live.hosts.find(id);
        // What a silent host said is not how it is.
        if (host.phase != HostPhase::ready || live == desk.live.hosts.end()) continue;
        if (!zone.empty() && host.zone != zone) continue;
        const std::string& name = host.facts.hostname;
        if (live->second.sample)
            hosts.push_back({MetricsPage::labels({{"instance", id}, {"Hostname", name}, {"zone", host.zone}}),
                             &*live->second.sample});
        for (const AccessSpeed& way : host.network)
            ways.push_back({MetricsPage::labels({{"instance", id},
                                                 {"Hostname", name},
                                                 {"zone", host.zone},
                                                 {"access_point", way.access}}),
                            way.figures});
        for (const GpuFacts& gpu : host.facts.gpus) {
            const auto sample = live->second.samples.find(gpu.uuid);
            if (sample == live->second.samples.end()) continue;
            const std::string index = fmt::format("{}", gpu.index);
            const Claim* claim = holders.of(id, gpu.uuid);
            const Instance* instance = claim ? desk.estate.instances.find(claim->holder) : nullptr;
            std::string labels = MetricsPage::labels(
                {{"gpu", index},
                 {"UUID", gpu.uuid},
                 {"pci_bus_id", gpu.pci_address},
                 {"device",
                  fmt::format("{}{}", gpu.vendor == GpuVendor::nvidia ? "nvidia" : "card", gpu.minor)},
                 {"modelName", gpu.model},
                 {"Hostname", name},
                 {"DCGM_FI_DRIVER_VERSION", host.facts.driver_version},
                 {"instance", id},
                 {"zone", host.zone},
                 {"tenant", claim ? claim->tenant : ""},
                 {"workload", instance ? instance->caller_id : ""}});
            if (claim && claim->use == ClaimUse::node)
                labels = with_pod(desk, *claim, sample->second, labels);
            gpus.push_back({labels, &sample->second});
            for (const SliceSample& part : sample->second.slices) {
                const auto slice = std::ranges::find(gpu.slices, part.uuid, &GpuSlice::uuid);
                if (slice == gpu.slices.end()) continue;
                slices.push_back({with(labels, {{"GPU_I_PROFILE", slice->profile},
                                                {"GPU_I_ID", fmt::format("{}", slice->gpu_instance)},
                                                {"slice", slice->uuid}}),
                                  &part});
            }
        }
        for (const WorkloadUse& use : live->second.uses) {
            const Instance* instance = desk.estate.instances.find(use.instance);
            uses.push_back({MetricsPage::labels({{"UUID", use.gpu},
                                                 {"Hostname", name},
                                                 {"instance", id},
                                                 {"zone", host.zone},
                                                 {"tenant", instance ? instance->tenant : ""},
                                                 {"workload", instance ? instance->caller_id : ""}}),
                            &use});
        }
        if (gpus.size() + slices.size() + uses.size() > page_gpus_max)
            return fail(
                Code::exhausted,
                fmt::format("there are more than {} GPUs, slices and instances that use them: ask zone by "
                            "zone, /metrics/gpus?zone=NAME",
                            page_gpus_max),
                "too_many_gpus");
    }
    write_gpus(page, gpus, slices);
    write_hosts(page, hosts);
    if (!uses.empty()) write_uses(page, uses);
    if (!ways.empty()) write_network(page, ways);
    if (const auto kills = memory_kills(desk, zone); !kills.empty()) write_memory_kills(page, kills);
    return {};
}

}  // namespace hostler::master
