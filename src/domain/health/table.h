// What faults mean: tables, and how to look things up in them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "domain/health/state.h"
#include "domain/inventory/sample.h"

namespace hostler::health {

enum class Severity {
    note,      // Nothing happened that matters.
    app,       // The application's mistake, or its loss; the GPU goes on.
    watch,     // Nothing to do unless it comes again and again.
    degraded,  // It works, and needs care when it is free.
    faulty,    // Nothing new goes to it.
};
BOOST_DESCRIBE_ENUM(Severity, note, app, watch, degraded, faulty)

struct Row {
    std::int64_t first = 0;  // Codes from here
    std::int64_t last = 0;   // to here.
    Severity severity = Severity::watch;
    Remedy remedy = Remedy::watch;
    std::string_view what;
};

// XIDs of NVIDIA's driver, by code. Source: NVIDIA's XID catalogue, its "immediate action"; where that says
// to look at what the driver recommends, what is done without such a recommendation.
std::span<const Row> xids();
// SXIDs of NVSwitches, by code. Source: NVIDIA's Fabric Manager User Guide, appendix D. `faulty` stands for
// those that are always fatal, `degraded` for those that are fatal if their line says so.
std::span<const Row> sxids();

// XIDs 144 to 150 of NVLink 5 say more in two numbers: which unit, and what went wrong there. Source:
// NVIDIA's NVLink 5 decoding table.
struct NvlinkRow {
    int xid = 0;
    std::string_view unit;
    unsigned sub = 0;     // Bits 20 to 25 of the first number.
    unsigned older = 0;   // Its bits 0 to 9, as older drivers write it;
    unsigned newer = 0;   // its bits 0 to 6, as newer ones do.
    unsigned status = 0;  // The second number.
    Severity severity = Severity::watch;
};
std::span<const NvlinkRow> nvlink_rows();
inline constexpr std::int64_t nvlink_xid_first = 144;
inline constexpr std::int64_t nvlink_xid_last = 150;

struct Meaning {
    Severity severity = Severity::watch;
    Remedy remedy = Remedy::watch;
    std::string sentence;  // What happened: "XID 79: the GPU has fallen off the bus".
    bool operator==(const Meaning&) const = default;
};

// What one fault means. One that no table knows is watched, and says its number.
Meaning meaning(const GpuFault& fault);
GpuHealth health_of(Severity severity);

// What samples can show that faults do not say.
enum class Condition {
    unresponsive,
    lost,
    gone,
    rows_failed,
    rows_exhausted,
    pages_exhausted,
    recovery_action,
    rows_pending,
    pages_pending,
    ecc_uncorrected,
    hot,
    overheated,
    thermal_slowdown,
    pcie_link,
    pcie_replays,
    nvlinks_down,
    nvlink_errors,
    unseen_by_driver,
};
BOOST_DESCRIBE_ENUM(Condition, unresponsive, lost, gone, rows_failed, rows_exhausted, pages_exhausted,
                    recovery_action, rows_pending, pages_pending, ecc_uncorrected, hot, overheated,
                    thermal_slowdown, pcie_link, pcie_replays, nvlinks_down, nvlink_errors, unseen_by_driver)

struct ConditionRow {
    Condition condition = Condition::lost;
    GpuHealth health = GpuHealth::degraded;
    Remedy remedy = Remedy::service;
    std::string_view what;
    std::string_view when;  // For people: from when on it counts.
};
std::span<const ConditionRow> conditions();
const ConditionRow& row_of(Condition condition);

// What the driver asks for (NVML field 230; events of the same name). 0: nothing.
Meaning recovery_meaning(std::int64_t action);

inline constexpr std::int64_t rows_remapped_max = 512;  // Uncorrectable ones: there are no spares for more.
inline constexpr std::int64_t pages_retired_max = 63;   // The same of boards that retire pages.
inline constexpr std::int64_t pcie_replays_per_minute = 60;     // Ours: a good link has none for days.
inline constexpr std::int64_t nvlink_errors_per_minute = 6000;  // 100 CRC errors a second.
inline constexpr std::int64_t busy_percent = 50;                // Below it a link may rest at a lower speed.

}  // namespace hostler::health
