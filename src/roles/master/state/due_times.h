// Moments at which the sweep looks at something, so that it need not look at everything each second.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

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

}  // namespace hostler::master
