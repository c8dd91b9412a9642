#include "domain/scheduler/reclaim_gang.h"

#include <algorithm>

namespace hostler {

namespace {

using LentSet = std::vector<std::size_t>;  // Numbers of what is lent.

class RoomMaker {
public:
    RoomMaker(Fleet& fleet, const std::vector<Lent>& lent, const std::map<std::string, int>& at_most)
        : fleet_(fleet), lent_(lent), at_most_(at_most) {
        for (std::size_t i = 0; i < lent.size(); ++i) {
            const Machine& left = fleet.at(lent[i].held.host);
            // Where more is taken than there is nothing can be taken back.
            if (left.cpu_milli >= 0 && left.memory_bytes >= 0 && left.disk_bytes >= 0)
                by_host_[fleet.first_part(lent[i].held.host)].push_back(i);
        }
    }

    MadeRoom run(const Gang& gang) {
        for (const Area level : levels_of(gang))
            for (const std::string& name : names(level)) {
                const auto tasks = tasks_within(gang, level, name);
                if (!tasks || tries_ <= 0) continue;
                if (MadeRoom made = attempt(*tasks); !made.choices.empty()) return made;
            }
        return {};
    }

private:
    std::set<std::string> names(Area level) const {
        if (level == Area::none) return {""};
        std::set<std::string> found;
        for (const HostNumber host : fleet_.hosts()) {
            const Traits& traits = fleet_.traits(host);
            found.insert(level == Area::host ? traits.name : level == Area::rack ? traits.rack : traits.zone);
        }
        found.erase("");
        return found;
    }

    MadeRoom attempt(const std::vector<Need>& tasks) {
        may_go_ = at_most_;
        gone_.assign(lent_.size(), false);
        std::vector<std::optional<Choice>> chosen(tasks.size());
        for (const std::size_t i : largest_first(tasks)) {
            chosen[i] = fleet_.choose(tasks[i]);
            if (!chosen[i]) chosen[i] = over(tasks[i]);
            if (!chosen[i]) break;
            HOSTLER_ASSERT(fleet_.claim(*chosen[i]));
        }
        MadeRoom made;
        for (const auto& choice : chosen)
            if (choice) fleet_.release(*choice), made.choices.push_back(*choice);
        for (std::size_t i = 0; i < lent_.size(); ++i)
            if (gone_[i]) HOSTLER_ASSERT(fleet_.claim(lent_[i].held)), made.gone.push_back(lent_[i].id);
        return made.choices.size() == tasks.size() ? made : MadeRoom{};
    }

    // A place for it that somebody gives up; who does is gone afterwards.
    std::optional<Choice> over(const Need& need) {
        std::map<HostNumber, LentSet> open;  // Hosts that would do if all went that may.
        std::size_t most = 0;
        for (const auto& [host, all] : by_host_) {
            Need there = need;
            LentSet going;
            for (const std::size_t i : all)
                if (!gone_[i] && left(i) > 0) going.push_back(i);
            if (going.empty() || !narrow(there.terms.hosts, name_of(host)) || !fits_without(there, going))
                continue;
            most = std::max(most, going.size());
            open.emplace(host, std::move(going));
        }
        for (std::size_t size = 1; size <= most && tries_ > 0; ++size) {
            std::map<HostNumber, LentSet> least;
            for (const auto& [host, going] : open) {
                Need there = need;
                there.terms.hosts = {name_of(host)};
                best_.reset();
                extend(there, going, size, 0);
                if (best_) least.emplace(host, *best_);
            }
            if (!least.empty()) return take(need, least);
        }
        return std::nullopt;
    }

    // The best of these hosts, as they would be.
    std::optional<Choice> take(Need need, const std::map<HostNumber, LentSet>& least) {
        need.terms.hosts.clear();
        for (const auto& [host, set] : least) {
            need.terms.hosts.push_back(name_of(host));
            release(set);
        }
        const auto choice = fleet_.choose(need);
        HOSTLER_ASSERT(choice);
        for (const auto& [host, set] : least) {
            if (host != fleet_.first_part(choice->host)) {
                take_back(set);
                continue;
            }
            for (const std::size_t i : set) {
                gone_[i] = true;
                --may_go_[lent_[i].kind];
            }
        }
        return choice;
    }

    void extend(const Need& need, const LentSet& from, std::size_t more, std::size_t next) {
        if (more == 0) {
            if ((!best_ || gpus(chosen_) < gpus(*best_)) && fits_without(need, chosen_)) best_ = chosen_;
            return;
        }
        for (std::size_t at = next; at + more <= from.size() && tries_ > 0; ++at) {
            int& may_go = may_go_[lent_[from[at]].kind];
            if (may_go < 1) continue;
            --may_go, chosen_.push_back(from[at]);
            extend(need, from, more - 1, at + 1);
            ++may_go, chosen_.pop_back();
        }
    }

    bool fits_without(const Need& need, const LentSet& set) {
        --tries_;
        release(set);
        const bool fits = fleet_.choose(need).has_value();
        take_back(set);
        return fits;
    }
    void release(const LentSet& set) {
        for (const std::size_t i : set) fleet_.release(lent_[i].held);
    }
    void take_back(const LentSet& set) {
        for (const std::size_t i : set) HOSTLER_ASSERT(fleet_.claim(lent_[i].held));
    }
    std::size_t gpus(const LentSet& set) const {
        std::size_t sum = 0;
        for (const std::size_t i : set) sum += lent_[i].held.gpus.size();
        return sum;
    }
    int left(std::size_t i) const {
        const auto found = may_go_.find(lent_[i].kind);
        return found == may_go_.end() ? 0 : found->second;
    }
    const std::string& name_of(HostNumber host) const { return fleet_.traits(host).name; }

    Fleet& fleet_;
    const std::vector<Lent>& lent_;
    const std::map<std::string, int>& at_most_;
    std::map<HostNumber, LentSet> by_host_;
    std::map<std::string, int> may_go_;
    std::vector<bool> gone_;
    LentSet chosen_;
    std::optional<LentSet> best_;
    int tries_ = gang_tries_max;
};

}  // namespace

MadeRoom make_room(Fleet& fleet, const Gang& gang, const std::vector<Lent>& lent,
                   const std::map<std::string, int>& at_most) {
    return RoomMaker{fleet, lent, at_most}.run(gang);
}

}  // namespace hostler
