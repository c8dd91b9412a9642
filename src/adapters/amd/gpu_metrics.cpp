#include "adapters/amd/gpu_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace hostler::amd {

namespace {

// Where a layout has what we take, in bytes from its beginning; 0: it has not.
struct Layout {
    int revision;
    std::size_t size;
    std::size_t hotspot, memory_temperature, power, gfx, memory, energy, width, speed, replays, gfx_clock,
        memory_clock;
};

constexpr Layout layouts[] = {
    {1, 96, 6, 8, 22, 16, 18, 24, 74, 76, 0, 54, 58},
    {2, 104, 6, 8, 22, 16, 18, 24, 74, 76, 0, 54, 58},
    {3, 120, 6, 8, 22, 16, 18, 24, 74, 76, 0, 54, 58},
    {4, 288, 4, 6, 10, 12, 14, 24, 48, 50, 88, 240, 280},
    {5, 360, 4, 6, 10, 12, 14, 88, 112, 114, 152, 312, 352},
    {6, 1664, 4, 6, 10, 12, 14, 16, 60, 62, 104, 264, 304},
    {7, 2208, 4, 6, 10, 12, 14, 24, 68, 70, 112, 296, 336},
    {8, 3872, 4, 6, 10, 12, 14, 24, 68, 70, 112, 296, 336},
};

template <class T>
std::optional<T> at(std::string_view bytes, std::size_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
    T value{};
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

// nullopt also for all bits set, the driver's "not available".
template <class T>
Metric metric(std::string_view bytes, std::size_t offset) {
    const auto value = offset == 0 ? std::nullopt : at<T>(bytes, offset);
    if (!value || *value == static_cast<T>(~T{0})) return std::nullopt;
    return static_cast<std::int64_t>(*value);
}

// One step of the accumulator is 2^-16 J. nullopt: more than microjoules can be counted in, which nothing has
// used.
Metric energy_uj(Metric steps) {
    if (!steps || *steps < 0 || *steps > std::numeric_limits<std::int64_t>::max() / 16) return std::nullopt;
    return static_cast<std::int64_t>(static_cast<double>(*steps) * 15.259);
}

// In tenths of GT/s; some firmware tells the generation itself.
Metric generation(Metric speed) {
    static constexpr std::int64_t speeds[] = {25, 50, 80, 160, 320, 640};
    if (!speed || *speed <= 0) return std::nullopt;
    if (*speed <= std::ssize(speeds)) return speed;
    const auto* found = std::ranges::find(speeds, *speed);
    return found == std::end(speeds) ? Metric{} : Metric{found - speeds + 1};
}

GpuMetrics read_struct(const Layout& layout, std::string_view bytes) {
    using u16 = std::uint16_t;
    using u64 = std::uint64_t;
    GpuMetrics metrics;
    metrics.hotspot_celsius = metric<u16>(bytes, layout.hotspot);
    metrics.memory_celsius = metric<u16>(bytes, layout.memory_temperature);
    metrics.power_w = metric<u16>(bytes, layout.power);
    metrics.gfx_percent = metric<u16>(bytes, layout.gfx);
    metrics.memory_percent = metric<u16>(bytes, layout.memory);
    metrics.energy_uj = energy_uj(metric<u64>(bytes, layout.energy));
    metrics.pcie_width = metric<u16>(bytes, layout.width);
    metrics.pcie_generation = generation(metric<u16>(bytes, layout.speed));
    metrics.pcie_replays = metric<u64>(bytes, layout.replays);
    metrics.gfx_mhz = metric<u16>(bytes, layout.gfx_clock);
    metrics.memory_mhz = metric<u16>(bytes, layout.memory_clock);
    return metrics;
}

// The first value of an attribute of version 1.9; types: u8 s8 u16 s16 u32 s32 u64 s64.
Metric attribute(std::string_view bytes, std::size_t offset, unsigned type) {
    switch (type) {
        case 0:
        case 1: return metric<std::uint8_t>(bytes, offset);
        case 2:
        case 3: return metric<std::uint16_t>(bytes, offset);
        case 4:
        case 5: return metric<std::uint32_t>(bytes, offset);
        default: return metric<std::uint64_t>(bytes, offset);
    }
}

void take(GpuMetrics& metrics, unsigned id, Metric value) {
    switch (id) {
        case 0: metrics.hotspot_celsius = value; break;
        case 1: metrics.memory_celsius = value; break;
        case 3: metrics.power_w = value; break;
        case 4: metrics.gfx_percent = value; break;
        case 5: metrics.memory_percent = value; break;
        case 7: metrics.energy_uj = energy_uj(value); break;
        case 16: metrics.pcie_width = value; break;
        case 17: metrics.pcie_generation = generation(value); break;
        case 25: metrics.pcie_replays = value; break;
        case 33: metrics.gfx_mhz = value; break;
        case 37: metrics.memory_mhz = value; break;
        default: break;  // Not taken, or of a newer kernel.
    }
}

// After the head: how many attributes; for each an encoding word (unit, type, id, number of values) and its
// values.
Result<GpuMetrics> read_stream(std::string_view bytes) {
    GpuMetrics metrics;
    const auto attributes = at<std::int32_t>(bytes, 4).value_or(-1);
    if (attributes < 0 || attributes > 1024)
        return fail(Code::invalid, "gpu_metrics 1.9 has an impossible length");
    std::size_t offset = 8;
    for (std::int32_t i = 0; i < attributes; ++i) {
        const auto word = at<std::uint64_t>(bytes, offset);
        if (!word) return fail(Code::invalid, "gpu_metrics 1.9 ends within an attribute");
        const auto type = static_cast<unsigned>(*word >> 20 & 0xf);
        const auto id = static_cast<unsigned>(*word >> 10 & 0x3ff);
        const auto count = static_cast<std::size_t>(*word & 0x3ff);
        if (type > 7) return fail(Code::invalid, "gpu_metrics 1.9 has an unknown type");
        offset += sizeof *word;
        const std::size_t size = count * (std::size_t{1} << type / 2);
        if (bytes.size() - offset < size) return fail(Code::invalid, "gpu_metrics 1.9 ends within a value");
        if (count > 0) take(metrics, id, attribute(bytes, offset, type));
        offset += size;
    }
    return metrics;
}

}  // namespace

Result<GpuMetrics> parse_gpu_metrics(std::string_view bytes) {
    const auto size = at<std::uint16_t>(bytes, 0);
    const auto format = at<std::uint8_t>(bytes, 2);
    const auto revision = at<std::uint8_t>(bytes, 3);
    if (!size || !format || !revision) return fail(Code::invalid, "gpu_metrics is shorter than its head");
    if (*size > bytes.size()) return fail(Code::invalid, "gpu_metrics is shorter than it says");
    if (*format == 1 && *revision == 9) return read_stream(bytes);
    for (const Layout& layout : layouts) {
        if (*format != 1 || *revision != layout.revision) continue;
        if (*size < layout.size) {
            return fail(Code::invalid,
                        fmt::format("gpu_metrics 1.{} has {} bytes, not {}", *revision, *size, layout.size));
        }
        return read_struct(layout, bytes);
    }
    return fail(Code::invalid, fmt::format("gpu_metrics of an unknown layout {}.{}", *format, *revision));
}

}  // namespace hostler::amd
