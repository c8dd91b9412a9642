// Whole hosts for nodes of clusters: which are free for one, and why others are not.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domain/cluster/cluster.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Hosts whose agents allow clusters, by what is on them. Not stored; it follows the estate.
class WholeHosts {
public:
    static constexpr bool follows_estate = true;
    using Ranked = std::set<std::pair<std::int64_t, std::string>>;  // By number of GPUs, then by id.

    // Sees all that was changed since it was called last. To be called before anything else here is.
    void follow(const Desk& desk);
    const std::set<std::string>& allowed() const { return allowed_; }
    std::size_t with_folder() const { return with_folder_.size(); }  // Of saves, whether they answer or not.
    // The next one after this host that has the folder of saves and answers; empty: none.
    std::string keeper_after(const std::string& host) const;
    bool is_keeper(const std::string& host) const { return keepers_.contains(host); }
    const Ranked& empty() const { return empty_; }      // Without claims,
    const Ranked& stocked() const { return stocked_; }  // and those with claims of stock alone.

private:
    void look_at(const Desk& desk, const std::string& id);

    Follower<Host> hosts_;
    Follower<Claim> claims_;
    std::map<std::string, std::string> host_of_;  // By claim.
    std::map<std::string, std::int64_t> gpus_;    // By host, as it is ranked.
    std::set<std::string> allowed_, with_folder_, keepers_;
    Ranked empty_, stocked_;
};

// As it is now.
const WholeHosts& whole_hosts(const Desk& desk);

struct HostFound {
    std::string host;
    std::vector<std::string> reclaimed;  // Claims of idle stock that are removed for it.
};

// A host for one more node of this pool, or of the control plane: without GPUs first, then with the fewest;
// idle stock is removed if there is no other. nullopt: no host is free.
std::optional<HostFound> find_host(const Desk& desk, const Cluster& cluster, const ClusterPool& pool);

// Why none is free, for people: "of 5 hosts that allow clusters 2 are in use, 1 is cordoned".
std::string why_no_host(const Desk& desk, const Cluster& cluster, const ClusterPool& pool);

// Refuses a cluster that the hosts could not take even if all were free, with the nearest that they could.
// Errors: conflict (cluster_impossible).
Result<> check_possible(const Desk& desk, const Cluster& cluster);

}  // namespace hostler::master
