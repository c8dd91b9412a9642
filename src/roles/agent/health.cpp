#include "roles/agent/health.h"

#include <algorithm>

#include <fmt/format.h>

namespace hostler::agent {

namespace {

struct XidRow {
    std::int64_t first;
    std::int64_t last;
    Health health;
    std::string_view meaning;
};

// What an XID means for the GPU as a whole. Source: NVIDIA's XID catalogue, by its "immediate action":
// restart of the application or nothing → healthy; a reset that can wait → degraded; reset, power cycle or
// repair → faulty.
constexpr XidRow xid_rows[] = {
    {8, 8, Health::healthy, "an application fault"},
    {13, 13, Health::healthy, "an application fault (graphics engine exception)"},
    {31, 32, Health::healthy, "an application fault (memory page fault or bad push buffer)"},
    {43, 43, Health::healthy, "one process was stopped"},
    {45, 45, Health::healthy, "a process was cleaned up"},
    {46, 46, Health::faulty, "an engine stopped"},
    {48, 48, Health::faulty, "an uncorrectable memory error"},
    {54, 54, Health::faulty, "auxiliary power is missing"},
    {62, 62, Health::faulty, "the internal microcontroller halted"},
    {63, 63, Health::degraded, "a memory row was remapped and waits for a reset"},
    {64, 64, Health::faulty, "a memory row could not be remapped"},
    {69, 69, Health::healthy, "an application fault (graphics engine class error)"},
    {74, 74, Health::faulty, "an NVLink error"},
    {79, 79, Health::faulty, "the GPU has fallen off the bus"},
    {92, 92, Health::degraded, "a high rate of corrected memory errors"},
    {94, 94, Health::degraded, "a contained memory error"},
    {95, 95, Health::faulty, "an uncontained memory error"},
    {109, 110, Health::faulty, "a context switch time-out or security fault"},
    {119, 120, Health::faulty, "the GPU's system processor does not answer"},
    {121, 121, Health::healthy, "a corrected chip-to-chip error"},
    {137, 137, Health::healthy, "an NVLink access without privilege"},
    {140, 140, Health::faulty, "an unrecovered memory error"},
    {143, 143, Health::faulty, "the GPU could not be initialised"},
    {144, 150, Health::degraded, "an NVLink error"},
    {155, 156, Health::faulty, "a resource retirement or link error"},
    {158, 158, Health::faulty, "a fatal time-out inside the GPU"},
    {160, 161, Health::degraded, "a memory channel was retired"},
    {167, 167, Health::faulty, "a fatal PCIe time-out"},
};

const XidRow* row_of(std::int64_t xid) {
    const auto* row =
        std::ranges::find_if(xid_rows, [&](const XidRow& r) { return r.first <= xid && xid <= r.last; });
    return row == std::end(xid_rows) ? nullptr : row;
}

std::string_view recovery_action(std::int64_t action) {
    switch (action) {
        case 1: return "reset the GPU";
        case 2: return "reboot the host";
        case 3: return "drain peer-to-peer traffic";
        case 4: return "drain the GPU and reset it";
        case 5: return "recover the NVLink fabric";
        default: return "an action that this agent does not know";
    }
}

Verdict of_recovery_action(std::int64_t action) {
    if (action <= 0) return {};
    // Peer-to-peer trouble hurts a gang, not the GPU alone; everything else needs the GPU empty.
    const Health health = action == 3 ? Health::degraded : Health::faulty;
    return {health, fmt::format("the driver asks to {}", recovery_action(action))};
}

}  // namespace

std::string_view name(Health health) {
    switch (health) {
        case Health::healthy: return "healthy";
        case Health::degraded: return "degraded";
        case Health::faulty: return "faulty";
        case Health::unresponsive: return "unresponsive";
        case Health::gone: return "gone";
    }
    return "";
}

Verdict meaning(const GpuFault& fault) {
    if (fault.kind == "xid") {
        const XidRow* row = row_of(fault.code);
        if (row && row->health == Health::healthy) return {};
        return {row ? row->health : Health::degraded, describe(fault)};
    }
    if (fault.kind == "recovery_action") return of_recovery_action(fault.code);
    if (fault.kind == "lost") return {Health::faulty, describe(fault)};
    if (fault.kind == "ecc_uncorrected") return {Health::degraded, describe(fault)};
    return {};
}

std::string describe(const GpuFault& fault) {
    if (fault.kind == "xid") {
        const XidRow* row = row_of(fault.code);
        return fmt::format("XID {}: {}", fault.code, row ? row->meaning : "see NVIDIA's catalogue");
    }
    if (fault.kind == "recovery_action")
        return fmt::format("the driver asks to {}", recovery_action(fault.code));
    if (fault.kind == "lost") return "the GPU has fallen off the bus";
    if (fault.kind == "ecc_uncorrected") return "an uncorrectable memory error was counted";
    if (fault.kind == "ecc_corrected") return "a memory error was corrected";
    if (fault.kind == "unavailable") return "the driver cannot use the GPU";
    return fmt::format("{} ({})", fault.kind, fault.code);
}

Verdict meaning(const GpuSample& sample) {
    const auto said = [&](std::string_view otherwise) {
        return sample.reason.empty() ? std::string{otherwise} : sample.reason;
    };
    switch (sample.condition) {
        case GpuCondition::ok: break;
        case GpuCondition::unresponsive:
            return {Health::unresponsive, said("a call to its driver does not come back")};
        case GpuCondition::lost: return {Health::faulty, said("the GPU has fallen off the bus")};
        case GpuCondition::gone: return {Health::gone, said("the GPU is not there any more")};
    }
    const auto set = [](const Metric& metric) { return metric.value_or(0) > 0; };
    if (set(sample.rows_failed))
        return {Health::faulty, "a memory row could not be remapped; the board is to be replaced"};
    if (set(sample.recovery_action)) return of_recovery_action(*sample.recovery_action);
    if (set(sample.rows_pending)) return {Health::degraded, "a memory row remap waits for a reset"};
    if (set(sample.pages_pending)) return {Health::degraded, "a memory page retirement waits for a reset"};
    return {};
}

void HealthBook::note(const GpuFault& fault) {
    if (fault.uuid.empty()) return;
    const Verdict verdict = meaning(fault);
    Entry& entry = gpus_[fault.uuid];
    if (verdict.health > Health::healthy) entry.fault_is_new = true;
    if (fault.kind == "recovery_action" || verdict.health > entry.fault.health) entry.fault = verdict;
}

void HealthBook::note(const GpuSample& sample) {
    Entry& entry = gpus_[sample.uuid];
    entry.sample = meaning(sample);
    if (sample.condition != GpuCondition::ok) entry.fault_is_new = false;
    if (!sample.energy_mj || sample.energy_mj == entry.energy_mj) return;
    if (sample.energy_mj < entry.energy_mj && !entry.fault_is_new) entry.fault = {};
    entry.energy_mj = sample.energy_mj;
    entry.fault_is_new = false;
}

Verdict HealthBook::of(const std::string& uuid) const {
    const auto found = gpus_.find(uuid);
    if (found == gpus_.end()) return {};
    const auto& [fault, sample, energy, fault_is_new] = found->second;
    return sample.health >= fault.health ? sample : fault;
}

}  // namespace hostler::agent
