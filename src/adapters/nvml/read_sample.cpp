#include <algorithm>
#include <span>

#include "adapters/nvml/read.h"

namespace hostler::nvml {

namespace {

constexpr unsigned processes_max = 1024;  // Of one kind on one GPU; those beyond are not listed.

struct MemoryRead {
    Metric total, used, reserved;
};

MemoryRead memory_of(Reader& reader) {
    MemoryV2 v2{.version = version_word<MemoryV2>(2)};
    Memory v1{};
    if (reader.ask(reader.call.memory_v2, &v2)) return {v2.total, v2.used, v2.reserved};
    if (reader.ask(reader.call.memory, &v1)) return {v1.total, v1.used, {}};
    return {};
}

void read_temperature(Reader& reader, GpuSample& sample) {
    sample.temperature_celsius = reader.number(reader.call.temperature, 0U);
    TemperatureV1 newer{.version = version_word<TemperatureV1>(1)};
    if (!sample.temperature_celsius && reader.ask(reader.call.temperature_v, &newer)) {
        sample.temperature_celsius = newer.temperature;
    }
}

Metric value_of(const FieldValue& field) {
    if (field.status != success) return std::nullopt;
    switch (field.value_type) {
        case type_double: return static_cast<std::int64_t>(field.value.real);
        case type_uint: return field.value.uint;
        case type_ulong: return static_cast<std::int64_t>(field.value.ulong);
        case type_ulonglong: return static_cast<std::int64_t>(field.value.ulonglong);
        case type_slonglong: return field.value.slonglong;
        case type_sint: return field.value.sint;
        case type_ushort: return field.value.ushort;
        default: return std::nullopt;  // A type of a newer NVML.
    }
}

struct WantedField {
    Field field;
    unsigned scope;
    Metric GpuSample::* into;
    std::int64_t divisor = 1;
};

// One call for all of them; it fails for each by itself. What several fields tell of one metric is added up.
void read_fields(Reader& reader, GpuSample& sample, std::span<const WantedField> wanted) {
    constexpr std::size_t fields_max = 16;
    FieldValue values[fields_max] = {};
    HOSTLER_ASSERT(wanted.size() <= fields_max);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        values[i].field = wanted[i].field;
        values[i].scope = wanted[i].scope;
        values[i].status = unknown_error;
    }
    if (!reader.ask(reader.call.fields, static_cast<int>(wanted.size()), static_cast<FieldValue*>(values)))
        return;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (const Metric value = value_of(values[i])) {
            Metric& into = sample.*wanted[i].into;
            into = into.value_or(0) + *value / wanted[i].divisor;
        }
}

constexpr WantedField fast_fields[] = {
    {field_memory_temperature, 0, &GpuSample::memory_temperature_celsius},
    {field_nvlink_sent, all_links, &GpuSample::nvlink_sent_kib},
    {field_nvlink_received, all_links, &GpuSample::nvlink_received_kib},
    {field_power_instant, 0, &GpuSample::power_instant_mw},
    {field_throttled_power, 0, &GpuSample::throttled_power_us, 1000},
    {field_throttled_thermal, 0, &GpuSample::throttled_thermal_us, 1000},
    {field_recovery_action, 0, &GpuSample::recovery_action},
};
constexpr WantedField slow_fields[] = {
    {field_nvlink_crc_flit, 0, &GpuSample::nvlink_errors},
    {field_nvlink_crc_data, 0, &GpuSample::nvlink_errors},
    {field_nvlink_replays, 0, &GpuSample::nvlink_errors},
    {field_nvlink_recoveries, 0, &GpuSample::nvlink_errors},
};

// nullopt: not told. NVML says how much room it wants when there is too little.
template <class P>
std::optional<std::vector<P>> list(Reader& reader, Status (*function)(Device, unsigned*, P*)) {
    thread_local std::vector<P> room(64);
    for (int tries = 0; tries < 4; ++tries) {
        auto count = static_cast<unsigned>(room.size());
        if (reader.ask(function, &count, room.data())) {
            return std::vector<P>(room.begin(), room.begin() + std::min<std::size_t>(count, room.size()));
        }
        if (reader.last() != insufficient_size || room.size() >= processes_max) return std::nullopt;
        room.resize(std::clamp<std::size_t>(count + 16, room.size() * 2, processes_max));
    }
    return std::nullopt;
}

template <class P>
void add_processes(std::optional<std::vector<GpuProcess>>& into, const std::optional<std::vector<P>>& from) {
    if (!from) return;
    if (!into) into.emplace();
    for (const P& process : *from) {
        GpuProcess seen{.pid = process.pid};
        if (process.used_memory != not_available) seen.memory_bytes = process.used_memory;
        // The same process can compute and draw; NVML then tells the same memory twice.
        if (std::ranges::find(*into, seen.pid, &GpuProcess::pid) == into->end()) into->push_back(seen);
    }
}

// The newest of what the driver measured of each process. NOT_FOUND: nothing lately.
void read_process_use(Reader& reader, std::vector<GpuProcess>& processes) {
    thread_local std::vector<ProcessUse> room(256);
    auto count = static_cast<unsigned>(room.size());
    if (!reader.ask(reader.call.process_use, room.data(), &count, 0ULL)) {
        if (reader.last() != insufficient_size || count > processes_max * 16) return;
        room.resize(count + 64);
        count = static_cast<unsigned>(room.size());
        if (!reader.ask(reader.call.process_use, room.data(), &count, 0ULL)) return;
    }
    const std::span uses{room.data(), std::min<std::size_t>(count, room.size())};
    std::ranges::sort(uses, {}, &ProcessUse::timestamp_us);
    for (const ProcessUse& use : uses) {
        const auto process = std::ranges::find(processes, use.pid, &GpuProcess::pid);
        constexpr unsigned percent_max = 100;
        if (process == processes.end() || use.gpu > percent_max || use.memory > percent_max) continue;
        process->utilisation_percent = use.gpu;
        process->memory_utilisation_percent = use.memory;
    }
}

void read_processes(Reader& reader, GpuSample& sample) {
    if (reader.call.compute_processes) {
        add_processes(sample.processes, list(reader, reader.call.compute_processes));
    } else {
        add_processes(sample.processes, list(reader, reader.call.compute_processes_v1));
    }
    add_processes(sample.processes, list(reader, reader.call.graphics_processes));
    if (!sample.processes) return;
    std::ranges::sort(*sample.processes, {}, &GpuProcess::pid);
    if (!sample.processes->empty()) read_process_use(reader, *sample.processes);
}

Metric ecc(Reader& reader, ErrorType type, CounterType counter) {
    unsigned long long count = 0;
    if (!reader.ask(reader.call.ecc_errors, type, counter, &count)) return std::nullopt;
    return static_cast<std::int64_t>(count);
}

// Both causes. With no room for addresses NVML only counts.
Metric retired_pages(Reader& reader) {
    Metric sum;
    for (const unsigned cause : {0U, 1U}) {
        unsigned count = 0;
        const bool told = reader.ask(reader.call.retired_pages, cause, &count, nullptr);
        if (told || (reader.call.retired_pages && reader.last() == insufficient_size)) {
            sum = sum.value_or(0) + count;
        }
    }
    return sum;
}

}  // namespace

void read_fast(Reader& reader, GpuSample& sample) {
    const auto& call = reader.call;
    Utilization utilization{};
    if (reader.ask(call.utilization, &utilization)) {
        sample.utilisation_percent = utilization.gpu;
        sample.memory_utilisation_percent = utilization.memory;
    }
    const MemoryRead memory = memory_of(reader);
    sample.memory_total_bytes = memory.total;
    sample.memory_used_bytes = memory.used;
    sample.memory_reserved_bytes = memory.reserved;
    read_temperature(reader, sample);
    sample.power_mw = reader.number(call.power);
    sample.clock_graphics_mhz = reader.number(call.clock, clock_graphics);
    sample.clock_sm_mhz = reader.number(call.clock, clock_sm);
    sample.clock_memory_mhz = reader.number(call.clock, clock_memory);
    sample.clock_video_mhz = reader.number(call.clock, clock_video);
    sample.fan_percent = reader.number(call.fan);
    sample.performance_state = reader.number(call.performance_state);
    if (sample.performance_state > 15) sample.performance_state.reset();  // 32: unknown.
    unsigned long long reasons = 0;
    if (reader.ask(call.clock_reasons, &reasons))
        sample.throttle_reasons = static_cast<std::int64_t>(reasons);
    read_fields(reader, sample, fast_fields);
    read_processes(reader, sample);
}

void read_memory(Reader& slice, SliceSample& sample) {
    const MemoryRead memory = memory_of(slice);
    sample.memory_total_bytes = memory.total;
    sample.memory_used_bytes = memory.used;
}

void read_slow(Reader& reader, GpuSample& sample) {
    const auto& call = reader.call;
    unsigned percent = 0;
    unsigned period_us = 0;
    if (reader.ask(call.encoder, &percent, &period_us)) sample.encoder_percent = percent;
    if (reader.ask(call.decoder, &percent, &period_us)) sample.decoder_percent = percent;
    Bar1Memory bar1{};
    if (reader.ask(call.bar1, &bar1)) sample.bar1_used_bytes = static_cast<std::int64_t>(bar1.used);
    sample.power_limit_mw = reader.number(call.power_limit);
    unsigned long long energy = 0;  // The costliest call of all: 3 to 5 ms on an H100.
    if (reader.ask(call.energy, &energy)) sample.energy_mj = static_cast<std::int64_t>(energy);
    sample.ecc_corrected = ecc(reader, error_corrected, counter_volatile);
    sample.ecc_uncorrected = ecc(reader, error_uncorrected, counter_volatile);
    sample.ecc_corrected_lifetime = ecc(reader, error_corrected, counter_aggregate);
    sample.ecc_uncorrected_lifetime = ecc(reader, error_uncorrected, counter_aggregate);
    sample.pages_retired = retired_pages(reader);
    sample.pages_pending = reader.number(call.retired_pages_pending);
    unsigned corrected = 0;
    unsigned uncorrected = 0;
    unsigned pending = 0;
    unsigned failed = 0;
    if (reader.ask(call.remapped_rows, &corrected, &uncorrected, &pending, &failed)) {
        sample.rows_remapped_corrected = corrected;
        sample.rows_remapped_uncorrected = uncorrected;
        sample.rows_pending = pending;
        sample.rows_failed = failed;
    }
    sample.pcie_generation = reader.number(call.pcie_generation);
    sample.pcie_width = reader.number(call.pcie_width);
    sample.pcie_replays = reader.number(call.pcie_replays);
    sample.pcie_sent_kb_s = reader.number(call.pcie_throughput, pcie_sent);
    sample.pcie_received_kb_s = reader.number(call.pcie_throughput, pcie_received);
    read_fields(reader, sample, slow_fields);
    for (unsigned link = 0; link < links_max; ++link) {
        const Metric active = reader.number(call.nvlink_state, link);
        if (!active) break;
        sample.nvlinks_active = sample.nvlinks_active.value_or(0) + (*active != 0);
    }
}

}  // namespace hostler::nvml
