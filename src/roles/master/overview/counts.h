// How many instances, jobs, GPUs, hosts and alerts there are of each sort, kept beside the estate: an
// overview costs the same in a cloud of any size.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "domain/alert/rule.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Never stored: built from the estate when it is first asked for in a term; then it looks again only at rows
// that changed.
class Counts {
public:
    static constexpr bool follows_estate = true;

    struct Gpus {
        std::int64_t total = 0, free = 0, claimed = 0, stock = 0, foreign = 0, out_of_service = 0;
        bool operator==(const Gpus&) const = default;
    };
    struct GpuSort {
        std::string owner, zone, model;  // `owner`: the provider; empty: the operator.
        auto operator<=>(const GpuSort&) const = default;
    };
    // GPUs that instances of a project hold, as prices tell them apart.
    struct HeldSort {
        std::string tenant, project, zone, model, trust, isolation;
        auto operator<=>(const HeldSort&) const = default;
    };
    // Of instances and of jobs.
    struct InstanceSort {
        std::string tenant, project, state;
        auto operator<=>(const InstanceSort&) const = default;
    };
    struct HostSort {
        std::string owner, state;
        auto operator<=>(const HostSort&) const = default;
    };
    struct AlertSort {
        std::string tenant;
        alert::Severity severity = alert::Severity::info;
        auto operator<=>(const AlertSort&) const = default;
    };
    // The newest first.
    struct Waiting {
        std::string tenant, project;
        std::int64_t before = 0;  // Minus the time since when it waits.
        std::string id;
        auto operator<=>(const Waiting&) const = default;
    };

    // Sees all that was changed since it was called last. To be called before anything else here is.
    void follow(const Desk& desk);

    // No number in these is 0.
    const std::map<InstanceSort, std::int64_t>& instances() const { return instances_; }
    const std::map<std::string, std::int64_t>& instances_of_all() const { return instances_of_all_; }
    const std::map<GpuSort, Gpus>& gpus() const { return gpus_; }
    const std::map<HeldSort, std::int64_t>& held() const { return held_; }
    // Of all tenants together: no sort names one.
    const std::map<HeldSort, std::int64_t>& held_by_all() const { return held_by_all_; }
    const std::map<HostSort, std::int64_t>& hosts() const { return hosts_; }
    // Jobs that are not over.
    const std::map<InstanceSort, std::int64_t>& jobs() const { return jobs_; }
    const std::map<std::string, std::int64_t>& jobs_of_all() const { return jobs_of_all_; }
    const std::map<AlertSort, std::int64_t>& alerts() const { return alerts_; }
    const std::map<alert::Severity, std::int64_t>& alerts_of_all() const { return alerts_of_all_; }

    // Those of a project, of a tenant (project empty) or of all (both empty), the newest first.
    std::vector<Waiting> waiting(const std::string& tenant, const std::string& project,
                                 std::size_t most) const;

    bool operator==(const Counts& other) const;

private:
    struct OneInstance {
        InstanceSort sort;
        std::optional<Waiting> waiting;
    };
    struct OneHost {
        HostSort sort;
        std::map<std::string, Gpus> gpus;  // By model.
        std::map<HeldSort, std::int64_t> held;
        std::string zone;
    };
    void look_at_instance(const Desk& desk, const std::string& id);
    void look_at_host(const Desk& desk, const std::string& id);
    void look_at_job(const Desk& desk, const std::string& id);
    void look_at_alert(const Desk& desk, const std::string& id);
    void count(const OneInstance& one, std::int64_t times);
    void count(const OneHost& one, std::int64_t times);
    void count(const AlertSort& one, std::int64_t times);
    void count_job(const InstanceSort& one, std::int64_t times);
    std::set<std::string> changed_hosts(const Desk& desk);

    struct Followed {
        Follower<Instance> instances;
        Follower<Claim> claims;
        Follower<Host> hosts;
        Follower<Drain> drains;
        Follower<ConsolidationRecord> consolidations;
        Follower<Restore> restores;
        Follower<alert::Alert> alerts;
        Follower<Job> jobs;
    };

    Followed followed_;
    std::map<std::string, OneInstance> each_instance_;
    std::map<std::string, OneHost> each_host_;
    std::map<std::string, AlertSort> each_alert_;
    std::map<std::string, InstanceSort> each_job_;
    std::map<std::string, std::string> claim_at_;         // The host of each claim.
    std::map<std::string, std::set<std::string>> heard_;  // By restore: hosts that have spoken since.

    std::map<InstanceSort, std::int64_t> instances_;
    std::map<std::string, std::int64_t> instances_of_all_;  // By state.
    std::set<Waiting> waiting_, waiting_of_all_;            // The latter without tenant and project.
    std::map<GpuSort, Gpus> gpus_;
    std::map<HeldSort, std::int64_t> held_, held_by_all_;
    std::map<HostSort, std::int64_t> hosts_;
    std::map<InstanceSort, std::int64_t> jobs_;
    std::map<std::string, std::int64_t> jobs_of_all_;  // By state.
    std::map<AlertSort, std::int64_t> alerts_;
    std::map<alert::Severity, std::int64_t> alerts_of_all_;
};

// As it is now.
const Counts& counts(const Desk& desk);

// It does not run although it is wanted: it starts, has failed, is lost, or was stopped by the cloud.
bool waits(const Instance& instance);
std::int64_t waits_since(const Instance& instance);

}  // namespace hostler::master
