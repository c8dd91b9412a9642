// What simulated clusters really are, whatever masters believe: whom their stores count as members, on which
// machines these live, and so whether an API answers. It plays the commands of the driver of the simulation.
#pragma once

#include "adapters/sim/world.h"
#include "domain/cluster/driver.h"

namespace hostler::simulation {

class ClusterTruth {
public:
    explicit ClusterTruth(sim::World& world) : world_(world), dice_(world.dice.fork("clusters")) {}

    static Driver driver();
    // Clusters may have it: what its commands do is played here.
    void stand_on(sim::Machine& machine);
    // After each step of the world.
    void look();

    struct Member {
        std::string cluster, node, machine;
        auto operator<=>(const Member&) const = default;
    };
    std::vector<Member> members() const;
    // Its store has a member of this name.
    bool is_member(const std::string& cluster, const std::string& node) const;
    // Whether the others would have a majority that lives, or has lived a moment ago, if it went.
    bool may_lose(const std::string& cluster, const std::string& node, Duration moment) const;
    // Its host is the one of a member that lives.
    bool lives(const Member& member) const;
    bool answers(const std::string& cluster) const;
    // The node whose kubelet runs there; nullopt: none does.
    std::optional<Member> node_on(const std::string& machine) const;

    // All outputs have it in them.
    static constexpr std::string_view secret = "kept-from-all-";
    static constexpr const char* driver_name = "simulated";
    // The file of a save is in the folder that hosts share.
    bool has_save(const std::string& id) const {
        return saves_.contains(std::string{saves_folder} + "/" + id + ".save");
    }
    static constexpr std::string_view saves_folder = "/mnt/saves";
    int saved = 0;
    int joined = 0, forgotten = 0, asked_in_vain = 0;

private:
    // What one creation has made. A second one of the same cluster makes another.
    struct Store {
        std::string cluster;
        std::map<std::string, std::string> members;  // Machines, by name of the node.
        std::set<std::string> nodes, tokens;
    };
    struct Call {
        const std::string& machine;
        const std::vector<std::string>& words;
        const std::string& cluster() const { return words[1]; }
        const std::string& node() const { return words[2]; }
    };
    sim::SimCommand play(const Call& call);
    sim::SimCommand create(const Call& call);
    sim::SimCommand join(const Call& call);
    sim::SimCommand forget_member(const Call& call);
    sim::SimCommand with_api(const Call& call);
    std::string seen_by(const Store& store) const;
    void wipe(const std::string& machine);
    Store* store_at(const std::string& machine);
    bool answers_at(const std::string& machine) const;
    const Store* member_store(const std::string& machine) const;
    std::string some_secret();

    sim::World& world_;
    sim::Dice dice_;
    std::vector<Store> stores_;
    std::set<std::string> saves_;                                      // Files.
    std::map<std::string, std::string> addresses_;                     // Machines, by address.
    std::map<std::string, std::pair<std::string, std::string>> data_;  // Cluster and node, by machine.
    std::map<Member, Instant> dead_since_;
};

}  // namespace hostler::simulation
