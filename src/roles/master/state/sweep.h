// What the sweep remembers of the estate, so that it looks at what was changed since and at what waits, and
// not each second at everything. Never stored; at first everything is new to it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/timers.h"
#include "roles/master/state/table.h"

namespace hostler::master {

// Who is to be looked at when: each at one moment.
template <class Moment>
class DueTimes {
public:
    void set(const std::string& id, Moment at) {
        erase(id);
        order_.emplace(at, id);
        times_.emplace(id, at);
    }
    void erase(const std::string& id) {
        const auto known = times_.find(id);
        if (known == times_.end()) return;
        order_.erase({known->second, id});
        times_.erase(known);
    }
    bool has(const std::string& id) const { return times_.contains(id); }
    // Those whose moment has come; they are due until they are set anew or erased.
    std::set<std::string> due(Moment now) const {
        std::set<std::string> ids;
        for (auto at = order_.begin(); at != order_.end() && at->first <= now; ++at) ids.insert(at->second);
        return ids;
    }

private:
    std::set<std::pair<Moment, std::string>> order_;
    std::map<std::string, Moment> times_;
};

struct Sweep {
    static constexpr bool follows_estate = true;

    // watch_silence()
    Follower<Host> heard;
    DueTimes<Instant> silent_at;
    // judge_some()
    Follower<Host> described;
    std::set<std::string> unjudged;
    // instances_to_reconcile()
    Follower<Instance> instances;
    std::set<std::string> unsettled;  // What their hosts say of them is not what is written down.
    // reconcile_subnets()
    Follower<Subnet> subnets;
    std::set<std::string> kept_subnets;  // For one that was stopped a moment ago, or may be soon.
    // fill_stock()
    Follower<Slot> slots;
    Follower<Host> hosts_with_slots;
    // forget_what_is_over()
    Follower<Share> shares;
    Follower<Instance> shared;
};

}  // namespace hostler::master
