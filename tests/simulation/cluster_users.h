// People who create, scale and delete clusters, remember what they were told, and now and then ask for what
// is wrong.
#pragma once

#include "cloud.h"
#include "tenants.h"

namespace hostler::simulation {

// How many nodes a cluster is to have.
struct ClusterSize {
    std::int64_t control = 1, workers = 0;
    auto operator<=>(const ClusterSize&) const = default;
};

struct WantedCluster {
    std::string body;
    std::string id;  // As it was answered; empty: it was not, or not surely.
    Wish create = Wish::asked;
    Instant told{};
    std::set<ClusterSize> sizes;  // That it may have: as acknowledged last, and as asked since.
    bool delete_asked = false;
    bool delete_acknowledged = false;
    Instant delete_told{};
};

struct ClusterUser {
    std::string tenant, name, secret;
    sim::Dice dice{0};
    int made = 0;
    std::vector<std::string> saves;                 // Ids.
    std::map<std::string, WantedCluster> clusters;  // By name, which is the idempotency key, too.
};

class ClusterUsers {
public:
    explicit ClusterUsers(Cloud& cloud);
    void start();
    // Nothing new from here on: some clusters go, and for the others hosts are tried again.
    void stop() { calm_ = true; }
    bool done() const { return busy_ == 0; }
    // Compares what was acknowledged with what is.
    void check(const master::Term& term) const;
    std::string unsettled(const master::Term& term) const;  // Only in the calm.

    int created = 0, scaled = 0, deleted = 0, refused = 0;
    mutable int made = 0;  // Clusters that were ready when the calm came to its end.
    int clusters_max = 3;  // Of each user.

private:
    struct Answer {
        int status = 0;
        std::string body;
        bool unsure = false;  // An earlier try may have been done.
    };
    Task<> watch_over(Task<> task);
    Task<Answer> ask(ClusterUser& user, std::string method, std::string target, std::string body = {},
                     std::string idempotency = {});
    Task<> live(ClusterUser& user);
    Task<> act(ClusterUser& user);
    Task<> create(ClusterUser& user, std::string save = {});
    Task<> send(ClusterUser& user, std::string name);
    Task<> scale(ClusterUser& user, std::string name, ClusterSize size);
    Task<> remove(ClusterUser& user, std::string name);
    // Saves the cluster, or deletes a save of the user's, or makes a cluster of one.
    Task<> save(ClusterUser& user, std::string name);
    std::string unsettled_save(const master::Desk& desk) const;
    Task<> look(ClusterUser& user, std::string name);
    Task<> ask_wrongly(ClusterUser& user);
    Task<> settle(ClusterUser& user);
    void forget(const Rewind& lost);
    std::string some_of(ClusterUser& user, bool that_stay) const;
    std::string waits(const master::Desk& desk, const Cluster& cluster) const;

    Cloud& cloud_;
    sim::Dice dice_;
    std::vector<ClusterUser> users_;
    bool calm_ = false;
    int busy_ = 0;
};

}  // namespace hostler::simulation
