// What a GPU does: loads, heat, power, errors, processes.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "simulated_nvml/call.h"

using namespace hostler::simulated;

namespace {

constexpr long long mib = 1 << 20;

// Counters rise with time, however the rates swing.
struct Counter {
    double at_s = 0;
    double value = 0;
};

long long count(const Call& call, const char* what, double start, double per_second) {
    static std::mutex& mutex = *new std::mutex;
    static auto& counters = *new std::map<std::string, Counter>;
    const std::scoped_lock lock{mutex};
    auto [place, fresh] = counters.try_emplace(call.gpu->text("uuid") + what, Counter{call.seconds, start});
    Counter& counter = place->second;
    if (call.seconds > counter.at_s) {
        counter.value += per_second * (call.seconds - counter.at_s);
        counter.at_s = call.seconds;
    }
    return std::llround(counter.value);
}

struct Bytes {
    long long total, reserved, used;
};

Bytes memory_of(const Call& call) {
    if (call.slice)
        return {static_cast<long long>(call.slice->memory_mib) * mib, 0,
                static_cast<long long>(std::min(call.slice->used_mib, call.slice->memory_mib)) * mib};
    long long used = call.value("memory_used_mib") * mib;
    for (const auto& row : call.gpu->rows("process")) {
        if (row.size() >= 2) used += std::atoll(row[1].c_str()) * mib;
    }
    const long long total = call.value("memory_mib") * mib;
    const long long reserved = call.value("memory_reserved_mib") * mib;
    return {total, reserved, std::min(used, total - reserved)};
}

template <class P>
Status processes(const Call& call, unsigned* room, P* into) {
    if (!room) return invalid_argument;
    const auto rows = call.gpu->rows("process");
    const bool fits = rows.size() <= *room;
    *room = static_cast<unsigned>(rows.size());
    if (!fits) return insufficient_size;
    for (const auto& row : rows) {
        *into = {};
        if (row.size() >= 2) {
            into->pid = static_cast<unsigned>(std::atoi(row[0].c_str()));
            into->used_memory = static_cast<unsigned long long>(std::atoll(row[1].c_str()) * mib);
        }
        if constexpr (requires { into->gpu_instance; }) into->gpu_instance = into->compute_instance = ~0U;
        ++into;
    }
    return success;
}

}  // namespace

#define NUMBER(function, key)                                    \
    SIMULATED Status function(Device device, unsigned* number) { \
        BEGIN(#function, device);                                \
        NEEDS(key);                                              \
        return put(number, call.value(key));                     \
    }

NUMBER(nvmlDeviceGetPowerUsage, "power_mw")
NUMBER(nvmlDeviceGetFanSpeed, "fan")
NUMBER(nvmlDeviceGetPerformanceState, "performance_state")
NUMBER(nvmlDeviceGetPcieReplayCounter, "pcie_replays")

SIMULATED Status nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
    BEGIN_EITHER("nvmlDeviceGetMemoryInfo", device);
    if (!memory) return invalid_argument;
    const auto [total, reserved, used] = memory_of(call);
    memory->total = static_cast<unsigned long long>(total);
    memory->used = static_cast<unsigned long long>(used + reserved);
    memory->free = memory->total - memory->used;
    return success;
}

SIMULATED Status nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory) {
    BEGIN_EITHER("nvmlDeviceGetMemoryInfo_v2", device);
    if (!memory) return invalid_argument;
    if (memory->version != version_word<MemoryV2>(2)) return argument_version_mismatch;
    const auto [total, reserved, used] = memory_of(call);
    memory->total = static_cast<unsigned long long>(total);
    memory->reserved = static_cast<unsigned long long>(reserved);
    memory->used = static_cast<unsigned long long>(used);
    memory->free = memory->total - memory->used - memory->reserved;
    return success;
}

SIMULATED Status nvmlDeviceGetBAR1MemoryInfo(Device device, Bar1Memory* bar1) {
    BEGIN("nvmlDeviceGetBAR1MemoryInfo", device);
    if (!bar1) return invalid_argument;
    bar1->total = static_cast<unsigned long long>(call.value("memory_mib") * mib);
    bar1->used = 4 * mib;
    bar1->free = bar1->total - bar1->used;
    return success;
}

SIMULATED Status nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization) {
    BEGIN("nvmlDeviceGetUtilizationRates", device);
    if (call.gpu->text("mig") == "enabled") return not_supported;
    if (!utilization) return invalid_argument;
    utilization->gpu = static_cast<unsigned>(call.value("utilisation"));
    utilization->memory = static_cast<unsigned>(call.value("memory_utilisation"));
    return success;
}

static Status engine(Device device, const char* function, const char* key, unsigned* percent,
                     unsigned* period_us) {
    BEGIN(function, device);
    if (!percent || !period_us) return invalid_argument;
    *period_us = 1'000'000;
    return put(percent, call.value(key));
}
SIMULATED Status nvmlDeviceGetEncoderUtilization(Device device, unsigned* percent, unsigned* period_us) {
    return engine(device, "nvmlDeviceGetEncoderUtilization", "encoder", percent, period_us);
}
SIMULATED Status nvmlDeviceGetDecoderUtilization(Device device, unsigned* percent, unsigned* period_us) {
    return engine(device, "nvmlDeviceGetDecoderUtilization", "decoder", percent, period_us);
}

SIMULATED Status nvmlDeviceGetPcieThroughput(Device device, PcieCounter counter, unsigned* kb_s) {
    BEGIN("nvmlDeviceGetPcieThroughput", device);
    if (counter > pcie_received) return invalid_argument;
    return put(kb_s, call.value("utilisation") * (counter == pcie_sent ? 10'000 : 20'000));
}

SIMULATED Status nvmlDeviceGetTemperature(Device device, unsigned sensor, unsigned* celsius) {
    BEGIN("nvmlDeviceGetTemperature", device);
    if (sensor != 0) return invalid_argument;
    NEEDS("temperature");
    return put(celsius, call.value("temperature"));
}

SIMULATED Status nvmlDeviceGetTemperatureV(Device device, TemperatureV1* temperature) {
    BEGIN("nvmlDeviceGetTemperatureV", device);
    if (!temperature) return invalid_argument;
    if (temperature->version != version_word<TemperatureV1>(1)) return argument_version_mismatch;
    NEEDS("temperature");
    return put(&temperature->temperature, call.value("temperature"));
}

SIMULATED Status nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* mj) {
    BEGIN("nvmlDeviceGetTotalEnergyConsumption", device);
    return put(mj, count(call, "energy", static_cast<double>(call.value("energy_mj")),
                         static_cast<double>(call.value("power_mw"))));
}

SIMULATED Status nvmlDeviceGetClockInfo(Device device, ClockType type, unsigned* mhz) {
    BEGIN("nvmlDeviceGetClockInfo", device);
    switch (type) {
        case clock_graphics:
        case clock_sm: return put(mhz, call.value("clock_graphics_mhz"));
        case clock_memory: return put(mhz, call.value("clock_memory_mhz"));
        case clock_video: return put(mhz, call.value("clock_video_mhz"));
    }
    return invalid_argument;
}

SIMULATED Status nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long* reasons) {
    BEGIN("nvmlDeviceGetCurrentClocksEventReasons", device);
    return put(reasons, call.gpu->integer("throttle"));
}
SIMULATED Status nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* reasons) {
    return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}

SIMULATED Status nvmlDeviceGetEccMode(Device device, unsigned* mode, unsigned* pending) {
    BEGIN("nvmlDeviceGetEccMode", device);
    NEEDS("ecc_corrected");
    if (!mode || !pending) return invalid_argument;
    *pending = 1;
    return put(mode, 1);
}

SIMULATED Status nvmlDeviceGetTotalEccErrors(Device device, ErrorType type, CounterType counter,
                                             unsigned long long* errors) {
    BEGIN("nvmlDeviceGetTotalEccErrors", device);
    if (type > error_uncorrected || counter > counter_aggregate) return invalid_argument;
    const std::string key = type == error_corrected ? "ecc_corrected" : "ecc_uncorrected";
    NEEDS(key);
    long long value = call.gpu->integer(key);
    if (counter == counter_aggregate) value = call.gpu->integer(key + "_lifetime", value);
    return put(errors, value);
}

SIMULATED Status nvmlDeviceGetRetiredPages(Device device, unsigned cause, unsigned* pages,
                                           unsigned long long* at) {
    BEGIN("nvmlDeviceGetRetiredPages", device);
    NEEDS("pages_retired");
    if (!pages || cause > 1) return invalid_argument;
    const auto there = static_cast<unsigned>(cause == 1 ? call.gpu->integer("pages_retired") : 0);
    const unsigned room = *pages;
    *pages = there;
    if (!at) return success;
    if (room < there) return insufficient_size;
    for (unsigned i = 0; i < there; ++i) at[i] = 0x10000ULL * (i + 1);
    return success;
}

SIMULATED Status nvmlDeviceGetRetiredPagesPendingStatus(Device device, unsigned* pending) {
    BEGIN("nvmlDeviceGetRetiredPagesPendingStatus", device);
    NEEDS("pages_retired");
    return put(pending, call.gpu->integer("pages_pending"));
}

SIMULATED Status nvmlDeviceGetRemappedRows(Device device, unsigned* corrected, unsigned* uncorrected,
                                           unsigned* pending, unsigned* failed) {
    BEGIN("nvmlDeviceGetRemappedRows", device);
    NEEDS("rows_corrected");
    if (!corrected || !uncorrected || !pending) return invalid_argument;
    *corrected = static_cast<unsigned>(call.gpu->integer("rows_corrected"));
    *uncorrected = static_cast<unsigned>(call.gpu->integer("rows_uncorrected"));
    *pending = static_cast<unsigned>(call.gpu->integer("rows_pending"));
    return put(failed, call.gpu->integer("rows_failed"));
}

SIMULATED Status nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* room, ProcessV1* into) {
    BEGIN("nvmlDeviceGetComputeRunningProcesses", device);
    return processes(call, room, into);
}
SIMULATED Status nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* room, Process* into) {
    BEGIN("nvmlDeviceGetComputeRunningProcesses_v3", device);
    return processes(call, room, into);
}
SIMULATED Status nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned* room, Process*) {
    BEGIN("nvmlDeviceGetGraphicsRunningProcesses_v3", device);
    return put(room, 0);
}

// Of each process the share that its line tells, once in the past and once now.
SIMULATED Status nvmlDeviceGetProcessUtilization(Device device, ProcessUse* into, unsigned* room,
                                                 unsigned long long since_us) {
    BEGIN("nvmlDeviceGetProcessUtilization", device);
    if (!room) return invalid_argument;
    std::vector<ProcessUse> uses;
    for (const auto& row : call.gpu->rows("process")) {
        if (row.size() < 4) continue;
        const auto number = [&row](std::size_t i) {
            return static_cast<unsigned>(std::atoi(row[i].c_str()));
        };
        uses.push_back({number(0), since_us + 2, number(2), number(3), 0, 0});
        uses.push_back({number(0), since_us + 1, 1, 1, 0, 0});
    }
    const bool fits = uses.size() <= *room;
    *room = static_cast<unsigned>(uses.size());
    if (!fits) return insufficient_size;
    std::ranges::copy(uses, into);
    return uses.empty() ? not_found : success;
}

static void fill(const Call& call, FieldValue& field) {
    const double busy = static_cast<double>(call.value("utilisation")) / 100;
    const auto answer = [&field](long long value) {
        field.value_type = type_ulonglong;
        field.value.ulonglong = static_cast<unsigned long long>(value);
        field.status = success;
    };
    field.timestamp_us = std::llround(call.seconds * 1e6);
    field.latency_us = 0;
    field.status = not_supported;
    switch (field.field) {
        case field_memory_temperature:
            if (call.gpu->has("memory_temperature")) answer(call.value("memory_temperature"));
            break;
        case field_nvlink_sent:
        case field_nvlink_received:
            if (call.gpu->integer("nvlinks") > 0) answer(count(call, "nvlink", 0, busy * 40e6));
            break;
        case field_nvlink_crc_data:
            if (call.gpu->integer("nvlinks") > 0) answer(call.gpu->integer("nvlink_crc_errors"));
            break;
        case field_nvlink_replays:
            if (call.gpu->integer("nvlinks") > 0) answer(call.gpu->integer("nvlink_replays"));
            break;
        case field_nvlink_recoveries:
            if (call.gpu->integer("nvlinks") > 0) answer(call.gpu->integer("nvlink_recoveries"));
            break;
        case field_power_instant:
            if (call.gpu->has("power_instant_mw")) answer(call.value("power_instant_mw"));
            break;
        case field_throttled_power: answer(call.gpu->integer("throttled_power_us") * 1000); break;
        case field_throttled_thermal: answer(call.gpu->integer("throttled_thermal_us") * 1000); break;
        case field_recovery_action: answer(call.gpu->integer("recovery_action")); break;
        default: break;
    }
}

SIMULATED Status nvmlDeviceGetFieldValues(Device device, int fields, FieldValue* values) {
    BEGIN("nvmlDeviceGetFieldValues", device);
    if (fields < 0 || !values) return invalid_argument;
    for (int i = 0; i < fields; ++i) fill(call, values[i]);
    return success;
}
