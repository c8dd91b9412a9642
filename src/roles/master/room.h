// What room there is on the hosts, and where the next demand goes: the scheduler's index, kept beside the
// estate.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/inventory/claim.h"
#include "domain/inventory/host_record.h"
#include "domain/scheduler/fleet.h"
#include "domain/scheduler/place.h"

namespace hostler::master {

struct Desk;

// Never stored: each term builds it from the estate, and then looks again only at hosts of which something
// changed: their own rows, claims, volumes, what foreign workloads use there. It equals what is built anew.
class Room {
public:
    // Sees all that was changed since it was called last. To be called before anything else here is.
    void follow(const Desk& desk);
    // From the estate alone, with what is usually asked as the instances that live ask for it; or as told.
    void build(const Desk& desk, std::optional<Workload> learned = {});

    // Hosts that are not removed, by id.
    struct There {
        Candidate free;
        std::set<std::string> claims;
        std::optional<HostNumber> number;  // In the fleet, once it has said what it is.
        bool plain = true;                 // All its GPUs are of one model, and no more than a Machine has.
    };
    const std::map<std::string, There>& hosts() const { return hosts_; }

    // Why this demand, and no other, may not go to a host ("cannot …"); empty: it may.
    using Barred = std::function<std::string(const std::string& host)>;
    // The best host for it that is not barred (null: none is); of as good ones one that has the image. Why
    // nobody can, else.
    Decision place(const Desk& desk, const Demand& demand, const std::string& image = {},
                   const Barred& barred = nullptr);
    // The same in the zone with the fewest of this kind, by how many each has, in which it fits at all.
    Decision place_spread(const Desk& desk, const Demand& demand, const std::map<std::string, int>& per_zone);
    // As if it were held from here on; the next follow() knows better.
    void pretend(const Demand& demand, const Placement& placement);

    // An instance of this spec has come: what is usually asked follows.
    void learn(const Demand& demand);
    const Workload& learned() const { return fleet_.workload(); }
    // The hosts that the fleet has, in its order, with what it takes for free there.
    std::vector<std::pair<std::string, Machine>> order() const;

private:
    std::set<std::string> changed(const Desk& desk);
    Candidate survey(const Desk& desk, const Host& host, There& there);
    bool look_again(const Desk& desk, const std::string& id);
    bool insert(const Host& host, There& there);
    int model_of(const Host& host, bool& plain);
    static Machine machine_of(const There& there, int model);
    Shape shape_of(const Demand& demand);
    std::optional<Placement> choose(const Desk& desk, const Demand& demand, const std::string& image,
                                    const Barred& barred);
    std::vector<Refusal> refusals(const Demand& demand, const Barred& barred) const;

    bool built_ = false;
    Fleet fleet_;
    std::map<std::string, There> hosts_;
    std::vector<std::string> by_number_;
    std::map<std::string, std::string> claim_at_;           // The host of each claim,
    std::map<std::string, std::string> volume_at_;          // and of each volume.
    std::map<std::string, std::set<std::string>> volumes_;  // By host.
    std::map<std::string, std::set<std::string>> heard_;    // By restore: who has spoken since.
    std::set<std::string> foreign_;  // Hosts with foreign claims: what those use is only seen.
    std::set<std::string> stirred_;  // To be looked at again whatever the estate says.
    std::map<std::vector<std::string>, int> models_;  // The fleet's numbers of sets of models.
    std::map<std::string, std::uint64_t> matching_;   // Those with GPUs of this type, by how it is asked for.
    std::pair<std::int64_t, std::string> last_;       // Joined when, id: the order of numbers.
};

}  // namespace hostler::master
