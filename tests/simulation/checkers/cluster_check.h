// Invariants of clusters and of the hosts that are their nodes. The checker reads rows, machines and the
// model of the simulated clusters. It calls none of the code that acts on clusters.
#pragma once

#include "adapters/sim/world.h"
#include "cluster_truth.h"
#include "domain/cluster/cluster.h"
#include "findings.h"
#include "roles/master/leader/term.h"

namespace hostler::simulation {

class ClusterCheck {
public:
    explicit ClusterCheck(const ClusterTruth& truth) : truth_(truth) {}

    // After each step. `hosts`: machines.
    void look_at(const std::vector<const sim::Machine*>& hosts, Findings& found) const;
    // After each step in which something was committed. Nothing is said of rows that are `spared`.
    void look(const master::Desk& desk, const std::vector<const sim::Machine*>& hosts, std::uint64_t epoch,
              const std::set<std::string>& spared, Findings& found);
    // Lines that the roles have logged.
    static void look_at_log(std::string_view line, Findings& found);
    static void look_at_commit(const Changes& changes, Findings& found);

    // So old may be what a master believes of a member when it lets another one go: silence, and questions
    // that hang.
    static constexpr Duration belief_max = std::chrono::seconds{90};
    std::size_t seen_max = 0;  // Nodes at one time.

private:
    void look_at_hosts(const master::Desk& desk, Findings& found) const;
    void look_at_clean(const master::Desk& desk, const std::vector<const sim::Machine*>& hosts,
                       const std::set<std::string>& spared, Findings& found) const;
    void look_at_members(const master::Desk& desk, bool same_epoch, Findings& found);

    const ClusterTruth& truth_;
    std::uint64_t epoch_ = 0;
    std::map<std::string, std::uint64_t> runs_;  // By node: the last that was looked at.
};

}  // namespace hostler::simulation
