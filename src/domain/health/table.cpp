#include "domain/health/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler::health {

namespace {

using enum Severity;

constexpr auto no_remedy = Remedy::none;
constexpr auto restart = Remedy::restart_app;
constexpr auto reset = Remedy::drain_and_reset;

constexpr Row xid_rows[] = {
    {8, 8, app, restart, "its work on the GPU stopped"},
    {11, 11, app, restart, "it sent the GPU commands that make no sense"},
    {13, 13, app, restart, "an illegal instruction or address in one of its kernels"},
    {25, 25, app, restart, "it sent the GPU commands that are not allowed"},
    {31, 31, app, restart, "it used memory of the GPU that is not its own"},
    {32, 32, app, restart, "the commands that it sent were damaged"},
    {37, 38, watch, Remedy::watch, "the driver's firmware reported an error"},
    {39, 41, app, restart, "a copy failed"},
    {43, 43, app, restart, "the driver stopped one of its processes"},
    {44, 44, watch, Remedy::watch, "a switch between processes met an error"},
    {45, 45, app, restart, "its channels were closed after another error"},
    {46, 46, faulty, reset, "an engine of the GPU stopped"},
    {48, 48, faulty, reset, "an uncorrectable memory error"},
    {54, 54, faulty, Remedy::service, "auxiliary power is missing"},
    {60, 60, app, restart, "the video engine met an error in its work"},
    {62, 62, faulty, reset, "the GPU's power controller halted"},
    {63, 63, degraded, reset, "a bad piece of memory is set aside at the next reset"},
    {64, 64, faulty, reset, "a bad piece of memory could not be set aside"},
    {66, 67, watch, Remedy::watch, "the driver accessed what it may not"},
    {68, 68, app, restart, "a video decoder met an error in its work"},
    {69, 69, app, restart, "it used an engine of the GPU wrongly"},
    {70, 72, app, restart, "a copy failed"},
    {74, 74, faulty, reset, "an NVLink failed"},
    {75, 77, app, restart, "a copy failed"},
    {78, 78, watch, Remedy::service, "a virtual GPU could not start: driver or firmware is to be updated"},
    {79, 79, faulty, Remedy::reboot, "the GPU has fallen off the bus"},
    {80, 80, app, restart, "the data that it sent to the GPU was damaged"},
    {82, 84, app, restart, "an image or video decoder met an error in its work"},
    {85, 85, app, restart, "a copy failed"},
    {86, 86, app, restart, "the optical flow engine met an error in its work"},
    {88, 89, app, restart, "a video decoder met an error in its work"},
    {92, 92, watch, Remedy::watch, "many memory errors were corrected"},
    {93, 93, watch, Remedy::watch, "the board's information store is written more often than planned"},
    {94, 94, degraded, reset, "an uncorrectable memory error that hit one application only"},
    {95, 95, faulty, reset, "an uncorrectable memory error that may have hit all applications"},
    {96, 105, app, restart, "an image or video decoder met an error in its work"},
    {106, 107, note, no_remedy, "a test message"},
    {109, 109, faulty, reset, "a switch between processes did not end"},
    {110, 110, faulty, reset, "a security fault"},
    {119, 120, faulty, reset, "the GPU's system processor does not answer"},
    {121, 121, watch, Remedy::watch, "an error on the link to the CPU was corrected"},
    {126, 135, app, restart, "a copy failed"},
    {136, 136, faulty, reset, "an NVLink could not be trained"},
    {137, 137, watch, Remedy::watch, "an access over NVLink that is not allowed"},
    {139, 139, app, restart, "the optical flow engine met an error in its work"},
    {140, 140, faulty, reset, "a memory error that nothing recovered"},
    {141, 141, watch, Remedy::watch, "a fast path of CUDA met an error"},
    {142, 142, watch, Remedy::watch, "a video encoder met an error"},
    {143, 143, faulty, reset, "the GPU could not be initialised"},
    {144, 149, degraded, reset, "an NVLink error that its numbers do not explain"},
    {150, 150, faulty, reset, "the NVLinks' watchdog (MSE) went off"},
    {151, 151, app, restart, "the keys of a confidential machine could not be changed"},
    {152, 153, watch, Remedy::watch, "the deep-learning accelerator met an error"},
    {154, 154, note, no_remedy, "the driver's recommendation has changed"},
    {155, 155, faulty, reset, "the driver gave up an NVLink"},
    {156, 156, faulty, reset, "a part of the GPU is set aside at the next reset"},
    {157, 157, watch, Remedy::watch, "a part of the GPU could not be set aside"},
    {158, 158, faulty, reset, "something in the GPU did not end in time"},
    {159, 159, watch, Remedy::watch, "an error on the coherent link to the CPU"},
    {160, 161, watch, Remedy::watch, "a memory channel is set aside"},
    {162, 165, watch, Remedy::watch, "a change in how the board smooths its power"},
    {166, 166, watch, Remedy::watch, "confidential traffic came before its link was ready"},
    {167, 167, faulty, Remedy::reboot, "a PCIe transfer never ended"},
    {168, 168, watch, Remedy::watch, "memory that the firmware keeps for itself has errors"},
    {169, 169, degraded, reset, "the GPU's security processor halted"},
    {170, 170, watch, Remedy::watch, "an interrupt that confidential mode does not expect"},
    {171, 172, note, no_remedy, "more about an uncorrectable memory error"},
    {173, 173, degraded, reset, "the link to the CPU failed"},
    {174, 174, note, no_remedy, "a process was ended at its own wish"},
    {175, 175, degraded, reset, "the memory system met an error"},
    {176, 176, watch, Remedy::watch, "PCIe errors were corrected"},
};

constexpr ConditionRow condition_rows[] = {
    {Condition::unresponsive, GpuHealth::unresponsive, reset, "a call to its driver does not come back",
     "5 s without an answer, until it answers"},
    {Condition::lost, GpuHealth::faulty, Remedy::reboot, "the GPU has fallen off the bus", "at once"},
    {Condition::gone, GpuHealth::gone, Remedy::service, "the GPU is gone", "at once"},
    {Condition::rows_failed, GpuHealth::faulty, Remedy::replace,
     "a memory row could not be remapped; the board is to be replaced", "at once"},
    {Condition::rows_exhausted, GpuHealth::faulty, Remedy::replace,
     "memory rows were remapped until no spares are left", "512 uncorrectable rows"},
    {Condition::pages_exhausted, GpuHealth::faulty, Remedy::replace,
     "memory pages were retired until no room is left", "63 pages of a board of NVIDIA's"},
    {Condition::recovery_action, GpuHealth::faulty, reset, "the driver asks for a recovery", "at once"},
    {Condition::rows_pending, GpuHealth::degraded, reset, "a memory row remap waits for a reset", "at once"},
    {Condition::pages_pending, GpuHealth::degraded, reset, "a memory page retirement waits for a reset",
     "at once"},
    {Condition::ecc_uncorrected, GpuHealth::degraded, reset, "an uncorrectable memory error was counted",
     "at once, until a reset"},
    {Condition::hot, GpuHealth::degraded, Remedy::service,
     "it is so hot that it slows down: look at its cooling", "a minute at its slowdown limit"},
    {Condition::overheated, GpuHealth::faulty, Remedy::service,
     "it is so hot that it is about to switch off: look at its cooling", "at once at its shutdown limit"},
    {Condition::thermal_slowdown, GpuHealth::degraded, Remedy::service,
     "its hardware slows it down for heat: look at its cooling", "a minute"},
    {Condition::pcie_link, GpuHealth::degraded, Remedy::service,
     "its PCIe link is narrower or slower than it can be, under load",
     "a minute at 50 % utilisation or more"},
    {Condition::pcie_replays, GpuHealth::degraded, Remedy::service,
     "its PCIe link repeats transfers all the time", "60 replays in a minute"},
    {Condition::nvlinks_down, GpuHealth::degraded, reset, "some of its NVLinks are down", "a minute"},
    {Condition::nvlink_errors, GpuHealth::degraded, reset, "its NVLinks repeat transfers all the time",
     "6000 errors in a minute"},
    {Condition::unseen_by_driver, GpuHealth::faulty, Remedy::service,
     "the PCI bus has the GPU and its driver counts it not", "at once"},
};

const Row* find(std::span<const Row> rows, std::int64_t code) {
    const auto row =
        std::ranges::find_if(rows, [&](const Row& r) { return r.first <= code && code <= r.last; });
    return row == rows.end() ? nullptr : &*row;
}

bool is_of(const NvlinkRow& row, const GpuFault& fault) {
    const auto info = static_cast<std::uint64_t>(fault.info);
    return row.xid == fault.code && row.sub == ((info >> 20) & 0x3f) &&
           (row.older == (info & 0x3ff) || row.newer == (info & 0x7f));
}

// The row of just this status; else, as a status may have several bits, the worst of those that it has.
const NvlinkRow* find_nvlink(const GpuFault& fault) {
    if (fault.info == 0 && fault.status == 0) return nullptr;  // It came without them.
    const NvlinkRow* worst = nullptr;
    for (const NvlinkRow& row : nvlink_rows()) {
        if (!is_of(row, fault)) continue;
        if (row.status == fault.status) return &row;
        if (row.status != 0 && (row.status & static_cast<std::uint64_t>(fault.status)) == 0) continue;
        if (!worst || row.severity > worst->severity) worst = &row;
    }
    return worst;
}

Meaning of_xid(const GpuFault& fault) {
    if (const NvlinkRow* row = find_nvlink(fault))
        return {row->severity, row->severity == faulty ? reset : Remedy::watch,
                fmt::format("XID {}: an NVLink error in {} ({:#x} {:#x})", fault.code, row->unit, fault.info,
                            fault.status)};
    const Row* row = find(xid_rows, fault.code);
    if (!row) return {watch, Remedy::watch, fmt::format("XID {}, which no table explains", fault.code)};
    return {row->severity, row->remedy, fmt::format("XID {}: {}", fault.code, row->what)};
}

Meaning of_sxid(const GpuFault& fault) {
    const Row* row = find(sxids(), fault.code);
    if (!row) return {watch, Remedy::watch, fmt::format("SXID {}, which no table explains", fault.code)};
    const bool fatal = row->severity == faulty || (row->severity == degraded && fault.status != 0);
    if (!fatal && row->severity == note)
        return {note, no_remedy, fmt::format("SXID {}: {}", fault.code, row->what)};
    return {fatal ? faulty : watch, fatal ? Remedy::reboot : Remedy::watch,
            fmt::format("SXID {} of an NVSwitch: {}", fault.code, row->what)};
}

}  // namespace

std::span<const Row> xids() { return xid_rows; }
std::span<const ConditionRow> conditions() { return condition_rows; }

const ConditionRow& row_of(Condition condition) {
    return *std::ranges::find(condition_rows, condition, &ConditionRow::condition);
}

GpuHealth health_of(Severity severity) {
    switch (severity) {
        case note:
        case app:
        case watch: return GpuHealth::healthy;
        case degraded: return GpuHealth::degraded;
        case faulty: return GpuHealth::faulty;
    }
    return GpuHealth::faulty;
}

Meaning recovery_meaning(std::int64_t action) {
    switch (action) {
        case 0: return {note, no_remedy, "the driver asks for nothing"};
        case 1: return {faulty, reset, "the driver asks to reset the GPU"};
        case 2: return {faulty, Remedy::reboot, "the driver asks to reboot the host"};
        // Peer-to-peer trouble hurts a gang, not the GPU alone.
        case 3: return {degraded, reset, "the driver asks to drain peer-to-peer traffic"};
        case 4: return {faulty, reset, "the driver asks to drain the GPU and reset it"};
        case 5: return {faulty, Remedy::reboot, "the driver asks to recover the NVLink fabric"};
        default: return {faulty, reset, fmt::format("the driver asks for an unknown recovery ({})", action)};
    }
}

Meaning meaning(const GpuFault& fault) {
    if (fault.kind == "xid") return of_xid(fault);
    if (fault.kind == "sxid") return of_sxid(fault);
    if (fault.kind == "recovery_action") return recovery_meaning(fault.code);
    if (fault.kind == "lost") return {faulty, Remedy::reboot, std::string{row_of(Condition::lost).what}};
    if (fault.kind == "ecc_uncorrected")
        return {degraded, reset, "an uncorrectable memory error was counted"};
    if (fault.kind == "ecc_corrected") return {note, no_remedy, "a memory error was corrected"};
    if (fault.kind == "unavailable") return {faulty, reset, "the driver cannot use the GPU"};
    return {watch, Remedy::watch, fmt::format("{} {}, which no table explains", fault.kind, fault.code)};
}

}  // namespace hostler::health
