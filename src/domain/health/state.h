// How a GPU is, why, and what has to happen for it to be well again.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace hostler {

enum class GpuHealth {
    healthy,
    degraded,  // It works, and needs care when it is free.
    faulty,    // Nothing new goes to it.
    unresponsive,
    gone,
};
BOOST_DESCRIBE_ENUM(GpuHealth, healthy, degraded, faulty, unresponsive, gone)

// Whether work may be put on such a GPU.
constexpr bool is_fit(GpuHealth health) { return health <= GpuHealth::degraded; }

// What somebody has to do, the least first.
enum class Remedy {
    none,
    restart_app,      // The application's; the GPU is well.
    watch,            // Nothing now.
    drain_and_reset,  // Stop what runs on it, reset it.
    service,          // See to the machine: cooling, power, cables, the slot.
    reboot,           // Of the whole host.
    replace,          // The board.
};
BOOST_DESCRIBE_ENUM(Remedy, none, restart_app, watch, drain_and_reset, service, reboot, replace)

// What to do, in words; empty: nothing. `gpu`: its UUID.
std::string sentence(Remedy remedy, const std::string& gpu);

// Something that speaks against a GPU.
struct GpuEvidence {
    std::string kind;  // As GpuFault::kind, or what samples show: "temperature", "pcie_link", …
    std::int64_t code = 0;
    std::int64_t count = 1;     // How often; a burst within seconds counts once.
    std::int64_t first_at = 0;  // µs, UTC.
    std::int64_t last_at = 0;
    GpuHealth health = GpuHealth::healthy;  // What it means by itself.
    Remedy remedy = Remedy::none;
    std::string sentence;
    bool operator==(const GpuEvidence&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuEvidence, (), (kind, code, count, first_at, last_at, health, remedy, sentence))

struct GpuState {
    GpuHealth health = GpuHealth::healthy;
    std::string reason;  // A sentence.
    Remedy remedy = Remedy::none;
    std::int64_t since = 0;          // µs, UTC; 0: not known.
    std::int64_t testing_until = 0;  // It was reset; well by then, it returns. 0: it is not being tested.
    std::vector<GpuEvidence> evidence;
    bool operator==(const GpuState&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuState, (), (health, reason, remedy, since, testing_until, evidence))

}  // namespace hostler
