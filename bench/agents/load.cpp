#include "bench/agents/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "domain/inventory/metrics.h"
#include "proto/uplink.pb.h"
#include "roles/agent/messages.h"

namespace hostler::bench {

namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;
constexpr double interval_s = 10;

// Where each column of the load stands among all metrics of a GPU.
const std::vector<int>& places() {
    static const std::vector<int> made = [] {
        const auto names = metric_names<GpuSample>();
        std::vector<int> at;
        for (const auto& column : gpu_columns()) {
            const auto found = std::ranges::find(names, std::string_view{column.name});
            HOSTLER_ASSERT(found != names.end());
            at.push_back(static_cast<int>(found - names.begin()));
        }
        return at;
    }();
    return made;
}

// `number`: counted over the fleet. A serial number that two hosts show keeps the later one out.
GpuFacts gpu_facts(std::string uuid, std::size_t number, int index) {
    GpuFacts gpu;
    gpu.uuid = std::move(uuid);
    gpu.vendor = GpuVendor::nvidia;
    gpu.model = "H100 SXM5 80GB";
    gpu.product = "NVIDIA H100 80GB HBM3";
    gpu.index = gpu.minor = index;
    gpu.pci_address = fmt::format("0000:{:02x}:00.0", 0x19 + 16 * index);
    gpu.memory_bytes = 81'559LL << 20;
    gpu.core_count = 16'896;
    gpu.serial = fmt::format("1653{:09}", number);
    gpu.vbios = "96.00.99.00.01";
    gpu.architecture = "hopper";
    gpu.compute_capability = "9.0";
    gpu.numa_node = index / 4;
    gpu.pcie_generation = gpu.pcie_generation_max = 5;
    gpu.pcie_width = gpu.pcie_width_max = 16;
    gpu.driver = "nvidia";
    gpu.cdi_name = "nvidia.com/gpu=" + gpu.uuid;
    return gpu;
}

}  // namespace

HostLoad::HostLoad(std::size_t index, std::size_t gpus, std::uint64_t seed)
    : index_(index), first_(index * gpus), dice_(static_cast<std::uint32_t>(seed + index)) {
    gpus_.reserve(gpus);
    for (std::size_t i = 0; i < gpus; ++i) gpus_.emplace_back(seed * 1'000'003 + first_ + i);
    uptime_ = 86'400 + static_cast<std::int64_t>(dice_() % 10'000'000);
}

HostFacts HostLoad::facts() const {
    HostFacts facts;
    facts.hostname = fmt::format("gpu-{:05}", index_);
    facts.os = "Debian GNU/Linux 12 (bookworm)";
    facts.kernel = "6.1.0-18-amd64";
    facts.architecture = "x86_64";
    facts.cpu_model = "Intel(R) Xeon(R) Platinum 8480C";
    facts.cpus = 224;
    facts.memory_bytes = 2048 * gib;
    facts.disk_bytes = 7168 * gib;
    facts.disk_free_bytes = 5120 * gib;
    facts.driver_version = "570.86.15";
    facts.cuda_version = "12.8";
    facts.simulated = true;
    for (std::size_t i = 0; i < gpus_.size(); ++i)
        facts.gpus.push_back(gpu_facts(uuid(i), first_ + i, static_cast<int>(i)));
    for (std::size_t a = 0; a < gpus_.size(); ++a)
        for (std::size_t b = a + 1; b < gpus_.size(); ++b)
            facts.topology.push_back(
                {std::min(uuid(a), uuid(b)), std::max(uuid(a), uuid(b)), GpuLinkKind::nvlink, 18});
    return facts;
}

void HostLoad::sample(uplink::Report& into, std::int64_t marker) {
    const auto all = static_cast<int>(metric_names<GpuSample>().size());
    std::vector<series::Cell> cells(gpu_columns().size());
    into.mutable_gpus()->Reserve(static_cast<int>(gpus_.size()));
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
        gpus_[i].next(cells);
        auto& sample = *into.add_gpus();
        sample.set_uuid(uuid(i));
        sample.mutable_values()->Resize(all, std::numeric_limits<double>::quiet_NaN());
        for (std::size_t c = 0; c < cells.size(); ++c)
            sample.set_values(places()[c], static_cast<double>(cells[c]));
    }
    *into.mutable_host() = agent::sample_message(host_sample(marker));
}

HostSample HostLoad::host_sample(std::int64_t marker) {
    const auto up_to = [this](std::int64_t bound) {
        return static_cast<std::int64_t>(dice_() % static_cast<std::uint64_t>(bound));
    };
    uptime_ += static_cast<std::int64_t>(interval_s);
    sent_ += up_to(40 * gib);
    received_ += up_to(80 * gib);
    HostSample sample;
    sample.cpu_busy_percent = 20 + up_to(10);
    sample.load_milli = 40'000 + up_to(8'000);
    sample.memory_total_bytes = 2048 * gib;
    sample.memory_available_bytes = 1500 * gib + up_to(gib);
    sample.swap_used_bytes = 0;
    sample.disk_total_bytes = 7168 * gib;
    sample.disk_free_bytes = 5120 * gib - up_to(gib);
    sample.network_sent_bytes = sent_;
    sample.network_received_bytes = received_;
    sample.uptime_seconds = uptime_;
    sample.network_errors = 0;
    sample.disk_read_bytes = received_ / 8;
    sample.disk_written_bytes = sent_ / 8;
    sample.disk_busy_ms = marker;
    return sample;
}

}  // namespace hostler::bench
