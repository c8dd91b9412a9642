// What room there is on the hosts, and where the next demand goes: the scheduler's index, kept beside the
// estate.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "domain/inventory/claim.h"
#include "domain/inventory/host_record.h"
#include "domain/scheduler/denial.h"
#include "domain/scheduler/fleet.h"
#include "domain/scheduler/place.h"
#include "domain/scheduler/reclaim.h"
#include "domain/scheduler/reclaim_gang.h"
#include "roles/master/state/table.h"

namespace hostler::master {

struct Desk;

// Where a demand goes, or why nowhere.
struct Decision {
    std::optional<Placement> placement;
    std::optional<Denial> denial;
    std::vector<std::string> reclaimed;  // Claims of idle stock that are to go first.
};

// Idle slots, by their claims, that an instance could have the room of.
struct IdleStock {
    std::map<std::string, std::vector<Spare>> by_host;
    std::map<std::string, int> may_go;  // By spec: so many of its slots, as its policy says.
};

// Where one of the tasks of a gang would go.
struct Place {
    std::string host;
    std::string zone;
    std::vector<std::string> gpus;
    int slice = -1;  // Where on its GPU a slice would begin; -1: none was asked for.
};
struct Plan {
    std::vector<Place> places;  // One for each task; empty: they do not all fit.
    std::optional<Denial> denial;
    std::vector<std::string> reclaimed;  // Claims of idle stock that would have to go first.
};

// Never stored: each term builds it from the estate, and then looks again only at hosts of which something
// changed: their own rows, their zone, claims, volumes, what foreign workloads use there. It equals what is
// built anew.
class Room {
public:
    static constexpr bool follows_estate = true;

    // Sees all that was changed since it was called last. To be called before anything else here is.
    void follow(const Desk& desk);
    // From the estate alone, with what is usually asked as the instances that live ask for it; or as told.
    void build(const Desk& desk, std::optional<Workload> learned = {});

    // GPUs of one model on a host.
    struct Part {
        HostNumber number = 0;  // In the fleet.
        std::string model;
        std::vector<std::string> gpus;  // By their number in the fleet.
        bool plain = true;              // No more than a Machine has, of a model with a number of its own.
    };
    // Hosts that are not removed, by id.
    struct There {
        Candidate free;
        std::set<std::string> claims;
        std::vector<Part> parts;  // By model, once it has said what it is; without GPUs one that has none.
        bool plain = true;        // It is one part, and a plain one.
        std::map<std::string, int> groups;  // How many of each group run there.

        HostNumber number() const { return parts.front().number; }
    };
    const std::map<std::string, There>& hosts() const { return hosts_; }
    // Of a host that says now what it is: after all who did.
    std::uint64_t next_order() const { return std::get<0>(last_) + 1; }
    // How often it was built.
    std::uint64_t built() const { return built_; }

    // Whether this demand may go to a host, beside all that it asks.
    using May = std::function<bool(const std::string& host)>;
    // The best host for it that it may go to (null: to each); of as good ones one that has the image. Where
    // there is none, those where the fewest slots of the idle `stock` (null: that is not asked) have to go,
    // and of these the best. Why nobody can, else.
    using Stock = std::function<IdleStock()>;
    Decision place(const Desk& desk, const Demand& demand, const std::string& image = {},
                   const May& may = nullptr, const Stock& stock = nullptr);
    // The same in the zone with the fewest of this kind, by how many each has, in which it fits at all.
    Decision place_spread(const Desk& desk, const Demand& demand, const std::map<std::string, int>& per_zone,
                          const May& may = nullptr);
    // Whether what is held there, these GPUs, meets what the demand wishes.
    bool suits(const Demand& demand, const std::string& host, const std::vector<std::string>& gpus);
    // How many of its group are there, the fewer the better to spread, the more to pack; the less the better.
    int crowd(const Demand& demand, const std::string& host);
    // Where these tasks would go, each what `tasks` says of the same place in it; where there is no room, in
    // that of the idle `stock` (null: that is not asked). Not on hosts that are `kept` for others. Changes
    // nothing.
    Plan plan(const std::vector<Demand>& demands, Gang tasks, const Stock& stock = nullptr,
              const std::vector<std::string>& kept = {});
    // As if it were held from here on; the next follow() knows better.
    void pretend(const Demand& demand, const Placement& placement);

    // As the fleet takes it.
    Shape shape_of(const Demand& demand);
    // An instance of this spec has come: what is usually asked follows.
    void learn(const Demand& demand);
    const Workload& learned() const { return fleet_.workload(); }
    // The hosts that the fleet has, in its order, with what it takes for free there.
    struct Known {
        std::string host;
        Machine machine, whole;
        Traits traits;
        std::optional<Topology> topology;
        std::optional<Obstacle> closed;
        bool operator==(const Known&) const = default;
    };
    std::vector<Known> order() const;

private:
    enum class Look { at_what_is_free, at_all };
    std::map<std::string, Look> changed(const Desk& desk);
    // But for the claims in `except`.
    Candidate survey(const Desk& desk, const Host& host, There& there,
                     const std::vector<std::string>& except = {});
    bool look_again(const Desk& desk, const std::string& id, Look look);
    bool insert(const Desk& desk, const Host& host, There& there);
    void describe(const Desk& desk, const Host& host, There& there);
    void note_free(const Desk& desk, const Host& host, There& there);
    void count_groups(const Desk& desk, There& there);
    void count_group(HostNumber host, const std::string& group, int number);
    int number_of(const std::string& model);
    static Machine machine_of(const Candidate& free, const Part& part, int model);
    static Machine whole_of(const Host& host, const Part& part, int model);
    const Part& part_at(HostNumber number) const;
    Need need_of(const Demand& demand);
    std::optional<Placement> choose(const Desk& desk, const Demand& demand, const std::string& image,
                                    const May& may);
    std::vector<std::string> gpus_for(const Demand& demand, const There& there, const Part& part) const;
    using Going = std::map<std::string, std::vector<std::string>>;  // Claims by host.
    Going in_the_way(const Demand& demand, const May& may, const IdleStock& stock,
                     const std::map<std::string, int>& may_go);
    std::vector<Lent> lent(const IdleStock& stock) const;
    std::optional<Decision> choose_over(const Desk& desk, const Demand& demand, const std::string& image,
                                        const May& may, const IdleStock& stock);
    // What a part would have to be besides, of a host with so much left; null: nothing.
    std::function<bool(const Candidate&)> also(const There& there, const Part& part, const Demand& demand,
                                               const Need& need) const;
    Denial deny(const Demand& demand, const May& may, const IdleStock* stock = nullptr);
    bool linked(const Part& part, const Need& need, const std::vector<std::string>& gpus) const;
    class Left;
    class Without;
    class Closed;

    // The number of all models that have none of their own.
    static constexpr int others = gpu_models_max - 1;
    // A name that the host alone holds: what lies there and nowhere else.
    static std::string held_by(const std::string& host);

    struct Followed {
        Follower<Host> hosts;
        Follower<Zone> zones;
        Follower<Price> prices;
        Follower<Restore> restores;
        Follower<Claim> claims;
        Follower<Volume> volumes;
        Follower<ConsolidationRecord> consolidations;
        Follower<Drain> drains;
    };

    std::uint64_t built_ = 0;
    Followed followed_;
    Fleet fleet_;
    std::map<std::string, There> hosts_;
    std::vector<std::string> by_number_;
    std::map<std::string, std::string> claim_at_;           // The host of each claim,
    std::map<std::string, std::string> volume_at_;          // and of each volume.
    std::map<std::string, std::set<std::string>> volumes_;  // By host.
    std::map<std::string, std::set<std::string>> heard_;    // By restore: who has spoken since.
    std::set<std::string> foreign_;      // Hosts with foreign claims: what those use is only seen.
    std::set<std::string> stirred_;      // To be looked at again whatever the estate says.
    std::map<std::string, int> models_;  // The fleet's numbers of models.
    std::map<std::string, std::uint64_t> matching_;  // Those of this type, by how it is asked for.
    struct Group {
        hostler::Kind kind = 0;  // The fleet's number of it,
        int hosts = 0;           // and on how many hosts some of it are.
    };
    std::map<std::string, Group> groups_;
    hostler::Kind last_kind_ = 0;
    std::tuple<std::uint64_t, std::int64_t, std::string> last_;  // Of the last number (rank).
};

}  // namespace hostler::master
