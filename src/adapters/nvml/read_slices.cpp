#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "adapters/nvml/read.h"

namespace hostler::nvml {

namespace {

constexpr unsigned slices_max = 64;  // Of one GPU; today's have seven.

// A profile's name is made of what the slice has: its compute slices (where it has not all of them), GPU
// slices and memory, of which the whole GPU's is counted in eighths. Source: NVIDIA MIG user guide, "MIG
// device names". Each but the largest has media units only where it says so.
std::string profile_name(const Attributes& has, std::int64_t gpu_memory_bytes) {
    constexpr double gib = 1024.0 * 1024 * 1024, mib = 1024.0 * 1024, parts = 8;
    const double whole = static_cast<double>(gpu_memory_bytes);
    const double part =
        whole > 0 ? std::ceil(static_cast<double>(has.memory_mib) * mib / whole * parts) / parts : 0;
    const auto gigabytes = std::llround(part * std::ceil(whole / gib));
    return fmt::format(
        "{}{}g.{}gb{}",
        has.compute_slices != has.gpu_slices ? fmt::format("{}c.", has.compute_slices) : std::string{},
        has.gpu_slices, gigabytes, has.flow_units > 0 && part < 1 ? "+me" : "");
}

}  // namespace

void read_slices(Reader& gpu, const Session& session, Found& found) {
    const auto& call = session.call;
    if (found.facts.mig != MigMode::enabled) return;
    const Metric count = gpu.number(call.mig_count_max);
    for (unsigned index = 0; index < std::min<std::int64_t>(count.value_or(0), slices_max); ++index) {
        Device handle = nullptr;
        if (!gpu.ask(call.mig_device, index, &handle)) continue;  // Indices have gaps.
        Reader slice{session, handle};
        GpuSlice facts;
        char uuid[uuid_size + 1] = {};
        if (!slice.ask(call.uuid, static_cast<char*>(uuid), uuid_size)) continue;
        facts.uuid = uuid;
        facts.gpu_instance = static_cast<int>(slice.number(call.gpu_instance_id).value_or(0));
        facts.compute_instance = static_cast<int>(slice.number(call.compute_instance_id).value_or(0));
        Attributes has{};
        if (slice.ask(call.attributes, &has)) {
            facts.multiprocessors = static_cast<int>(has.multiprocessors);
            facts.memory_bytes = static_cast<std::int64_t>(has.memory_mib) << 20;
            facts.profile = profile_name(has, found.facts.memory_bytes);
        }
        GpuInstance instance = nullptr;
        GpuInstanceInfo info{};
        if (call.gpu_instance_info &&
            gpu.ask(call.gpu_instance, static_cast<unsigned>(facts.gpu_instance), &instance) &&
            call.gpu_instance_info(instance, &info) == success) {
            facts.start = static_cast<int>(info.placement.start);
            facts.size = static_cast<int>(info.placement.size);
        }
        found.facts.slices.push_back(std::move(facts));
        found.slices.push_back(handle);
    }
}

}  // namespace hostler::nvml
