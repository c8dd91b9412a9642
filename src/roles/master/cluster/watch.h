// The clusters that are due for a look: those that have changed, and those with a time that has come.
#pragma once

#include "roles/master/state/desk.h"
#include "roles/master/state/due_times.h"

namespace hostler::master {

// Not stored: each term looks at all clusters once and then at changes alone.
class ClusterWatch {
public:
    static constexpr bool follows_estate = true;

    // Those that are due now, each once.
    std::set<std::string> due(const Desk& desk);
    // It is to be looked at then; 0: not before something changes.
    void look_again(const std::string& cluster, std::int64_t at);

private:
    Follower<Cluster> clusters_;
    Follower<ClusterNode> nodes_;
    Follower<Host> hosts_;
    Follower<Drain> drains_;
    std::map<std::string, std::string> cluster_of_;  // By node.
    DueTimes<std::int64_t> times_;
};

// Looks at all that are due, and changes the estate.
void look_at_clusters(Desk& desk);

}  // namespace hostler::master
