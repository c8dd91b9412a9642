#include "domain/report/rules.h"

#include <algorithm>
#include <iterator>

#include "core/result.h"

namespace hostler::report {

namespace {

using enum Figure;
using enum Sign;

constexpr double at_work_percent = 50;

constexpr Condition idle_all[] = {{utilization, below, idle_below_percent}};
constexpr Figure idle_evidence[] = {utilization, memory_used_percent, power};

constexpr Condition thermal_all[] = {{utilization, at_least, at_work_percent},
                                     {thermal_throttled, at_least, 5}};
constexpr Figure thermal_evidence[] = {thermal_throttled, temperature, heat_margin, utilization};

constexpr Condition power_all[] = {{utilization, at_least, at_work_percent}};
constexpr Condition power_any[] = {{power_throttled, at_least, 10}, {power_percent, at_least, 97}};
constexpr Figure power_evidence[] = {power_percent, power_throttled, power, utilization};

constexpr Condition pcie_all[] = {{pcie_percent, at_least, 70}};
constexpr Condition pcie_any[] = {{sm_active, below, 60}, {utilization, below, 80}};
constexpr Figure pcie_evidence[] = {pcie_percent, pcie_sent, pcie_received, sm_active, utilization};

constexpr Condition memory_all[] = {{memory_active, at_least, 60}};
constexpr Condition memory_any[] = {{tensor_active, below, 50}, {sm_active, below, 80}};
constexpr Figure memory_evidence[] = {memory_active, tensor_active, sm_active};

constexpr Condition compute_any[] = {{sm_active, at_least, 80}, {tensor_active, at_least, 50}};
constexpr Figure compute_evidence[] = {sm_active, tensor_active, memory_active, utilization};

constexpr Condition input_all[] = {{utilization, at_least, idle_below_percent},
                                   {utilization, below, at_work_percent}};
constexpr Condition input_any[] = {{host_cpu, at_least, 80}, {host_disk, at_least, 80}};
constexpr Figure input_evidence[] = {utilization, host_cpu, host_disk, host_received};

constexpr std::string_view dcgm = "NVIDIA DCGM user guide, \"Profiling metrics\"";
constexpr std::string_view nvml = "NVML API reference, \"Clocks event reasons\"";

constexpr Rule table[] = {
    {Verdict::idle,
     idle_all,
     {},
     idle_evidence,
     "Hardly any work ran.",
     "Nothing to speak of runs there: stop the instance, or let it be stopped for inactivity.",
     nvml},
    {Verdict::thermal_bound,
     thermal_all,
     {},
     thermal_evidence,
     "Its clock is lowered for heat.",
     "It is too hot to run at full speed: look at the host's fans, filters and inlet air.",
     nvml},
    {Verdict::power_bound, power_all, power_any, power_evidence, "Its clock is lowered by its power limit.",
     "It runs at its power limit: raise the limit where cooling and supply allow it, or take it as this "
     "GPU's full speed.",
     nvml},
    {Verdict::pcie_bound, pcie_all, pcie_any, pcie_evidence, "It waits for the link to its host.",
     "Data moves between host and GPU faster than it is worked on: keep it on the GPU, move it in larger "
     "pieces while kernels run, and see that the link has all its lanes.",
     "PCI Express Base Specification 6.0; headers leave about 70 % of a link for copies"},
    {Verdict::memory_bound, memory_all, memory_any, memory_evidence, "It waits for its own memory.",
     "Kernels wait for GPU memory: use larger batches, fused kernels or narrower number formats; a GPU "
     "with faster memory helps, one with more multiprocessors does not.",
     dcgm},
    {Verdict::compute_bound,
     {},
     compute_any,
     compute_evidence,
     "Its multiprocessors are busy.",
     "The GPU itself is the limit: that is what it is for. More or faster GPUs make this faster.",
     dcgm},
    {Verdict::input_bound, input_all, input_any, input_evidence, "It waits for data that its host prepares.",
     "The GPU waits for its host: give the instance more CPUs, more loader processes, prepared data, or "
     "faster storage.",
     "NVIDIA DALI documentation, \"Why NVIDIA DALI\""},
};

struct WasteRow {
    double from_percent;
    bool now;  // One is idle still.
    std::string_view advice;
};
constexpr WasteRow waste_table[] = {
    {90, true, "Stop it: it has done hardly anything, and still does not."},
    {90, false, "It did hardly anything: next time, start it when it is needed."},
    {50, true, "Idle more than half of its time, and now: have it stopped for inactivity."},
    {50, false, "Idle more than half of its time: a smaller or shared GPU would do."},
    {20, true, "Idle now and then: have it stopped for inactivity."},
    {20, false, "Idle now and then: have it stopped for inactivity."},
    {0, true, ""},
    {0, false, ""},
};

}  // namespace

std::span<const Rule> rules() { return table; }

const Rule& rule_of(Verdict verdict) {
    const Rule* rule = std::ranges::find(table, verdict, &Rule::verdict);
    HOSTLER_ASSERT(rule != std::end(table));
    return *rule;
}

std::string_view words(Verdict verdict) {
    switch (verdict) {
        case Verdict::idle: return "idle";
        case Verdict::thermal_bound: return "thermal-bound";
        case Verdict::power_bound: return "power-bound";
        case Verdict::pcie_bound: return "PCIe-bound";
        case Verdict::memory_bound: return "memory-bound";
        case Verdict::compute_bound: return "compute-bound";
        case Verdict::input_bound: return "input-bound";
    }
    broken("a verdict outside its enum", __FILE__, __LINE__);
}

bool holds(const Condition& condition, const Figures& figures) {
    if (!figures.has(condition.figure)) return false;
    const double value = static_cast<double>(figures[condition.figure]);
    return condition.sign == Sign::at_least ? value >= condition.threshold : value < condition.threshold;
}

const Rule* judge(const Figures& figures) {
    const auto here = [&](const Condition& condition) { return holds(condition, figures); };
    for (const Rule& rule : table)
        if (std::ranges::all_of(rule.all, here) && (rule.any.empty() || std::ranges::any_of(rule.any, here)))
            return &rule;
    return nullptr;
}

std::string_view waste_advice(double idle_percent, bool idle_at_the_end) {
    for (const WasteRow& row : waste_table)
        if (idle_percent >= row.from_percent && row.now == idle_at_the_end) return row.advice;
    return {};
}

}  // namespace hostler::report
