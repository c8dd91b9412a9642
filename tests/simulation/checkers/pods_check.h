// Invariants of the names of pods in samples of GPUs: where an agent reports them, and where a master stores
// them.
#pragma once

#include "adapters/sim/world.h"
#include "cluster_pods.h"
#include "findings.h"
#include "ports/series.h"
#include "roles/agent/agent.h"
#include "roles/agent/pod_gpus.h"

namespace hostler::simulation {

class PodsCheck {
public:
    PodsCheck(const sim::World& world, const ClusterPods& pods, Findings& found)
        : world_(world), pods_(pods), found_(found) {}

    // After each step: the reports that the agent has made since. `agent`: null while it is not up.
    void look(const sim::Machine& machine, const agent::Agent* agent);
    // A row that a master has stored with these labels.
    void look_at_row(const series::Labels& labels, const std::vector<series::Cell>& cells);

    // From a sample to the report that has it: the wait for samples, and the time between two reports.
    static constexpr Duration report_max = std::chrono::milliseconds{10'500};
    // From the kubelet's answer to the report that names what it told.
    static constexpr Duration lag_max = agent::PodGpus::answer_lasts + report_max;
    std::size_t stored = 0;  // Samples that name pods.

private:
    struct Host {
        std::uint64_t last = 0;          // Report that was looked at.
        Instant slept = Instant::min();  // Its process, at last.
        std::optional<Instant> cleaned;  // At last.
        bool clean = false;
    };
    void look_at_sample(const sim::Machine& machine, const Host& host, const std::string& gpu,
                        const std::string& pod);

    const sim::World& world_;
    const ClusterPods& pods_;
    Findings& found_;
    std::map<std::string, Host> hosts_;  // By machine.
    struct Sample {
        std::string gpu, pod;
        std::vector<series::Cell> cells;
        auto operator<=>(const Sample&) const = default;
    };
    std::set<Sample> samples_;  // That reports had.
};

}  // namespace hostler::simulation
