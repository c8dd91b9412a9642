// People who use the cloud and remember what they were told: the oracle of the simulation.
#pragma once

#include "people.h"
#include "watchers.h"

namespace hostler::simulation {

enum class Wish { asked, acknowledged, refused };  // asked: nobody knows whether it was done.

struct WantedInstance {
    std::string image;
    std::string body;
    std::string project = "default";
    Wish start = Wish::asked;
    Instant told{};  // When that was answered.
    bool stop_asked = false;
    bool stop_acknowledged = false;
    Instant stop_told{};
    int unused_s = 0;  // It is stopped when nobody has used it for so long; 0: never.
    Instant used{};    // When it was last opened, and answered.
    std::string id;    // As it was first shown: names and URLs come from it.
    Instant shown{};
};

struct WantedVolume {
    Wish create = Wish::asked;
    Instant told{};
    std::int64_t asked_gib = 1;
    std::string project = "default";
    std::map<Instant, std::int64_t> sizes;  // In bytes, as it was told to have: never less afterwards.
    std::int64_t size_bytes() const { return sizes.empty() ? 0 : sizes.rbegin()->second; }
    bool delete_asked = false;
};

// One tenant, who starts and stops, looks, opens, and tries what is not theirs.
struct Tenant {
    std::string name;
    sim::Dice dice{0};
    int made = 0;
    std::map<std::string, WantedInstance> instances;
    std::map<std::string, WantedVolume> volumes;
    bool has_lab = false;  // Its second project was created.
    int opened = 0;        // Times that one of its instances answered through the gateway.
};

class Tenants {
public:
    Tenants(Cloud& cloud, std::vector<std::string> names);
    void start();    // All of them, and the operator who keeps stock.
    void trouble();  // Takes things away from their people, and gives them back.
    // Nothing new from here on; what was asked is asked until it is answered.
    void stop() { calm_ = true, people.calm(), watchers.calm(); }
    bool done() const { return busy_ == 0; }
    // Compares what was acknowledged with what is.
    void check(const master::Term& term) const;
    std::string unsettled(const master::Term& term) const;  // Only in the calm.
    void check_idle(const master::Term& term) const;        // Nothing in use is stopped for being unused.

    Cloud& cloud;
    std::map<std::string, Tenant> all;
    People people;
    Watchers watchers;
    int stock_acknowledged = 0;  // Slots.
    int stock_asked_min = 0;     // As many may be gone, or there, of calls that are not answered yet.
    int stock_asked_max = 0;
    std::map<Instant, int> stock_told;  // Slots more or less.
    int calls = 0;
    int acknowledged = 0;
    int over_quota = 0;                                 // Calls refused for a quota.
    int actions_max = std::numeric_limits<int>::max();  // Of each tenant.

    static constexpr const char* spec = "h100-1";
    static constexpr int instances_max = 6;  // Of a tenant, in all.

private:
    Task<> live(Tenant& tenant);
    Task<> act(Tenant& tenant);
    Task<> keep_stock();
    Task<> describe_hosts();
    Task<> keep_quotas(std::string tenant);
    Task<> watch_over(Task<> task);
    // "default" or "lab", which is created if need be.
    Task<std::string> some_project(Tenant& tenant);
    Task<> start_one(Tenant& tenant);
    Task<> stop_one(Tenant& tenant, std::string name);
    Task<> rest_one(Tenant& tenant, std::string name);
    Task<> make_volume(Tenant& tenant);
    Task<> grow_volume(Tenant& tenant, std::string name);
    Task<> delete_volume(Tenant& tenant, std::string name);
    Task<> look(Tenant& tenant);
    Task<> open(Tenant& tenant, std::string name);
    Task<> pry(Tenant& tenant);
    Task<> pry_by_project(Tenant& tenant);
    Task<> pry_in_lists(Tenant& tenant);
    void forget(const Rewind& lost);  // What was told since then may be, or may not be.
    bool doubtful(Instant asked, const std::string& method, int status) const;
    // Asks until it is answered for good; `unsure`: an earlier try may have been done.
    Task<http::Response> insist(std::string key, std::string method, std::string target, std::string body,
                                std::string idempotency, bool& unsure);
    // As one of the tenant's people and programs.
    struct Asked {
        http::Response answer;
        bool unsure = false;  // An earlier try may have been done.
        bool good = false;    // They surely could ask, from the first try to the answer.
        bool denied() const { return answer.status == 401 || answer.status == 403; }
    };
    Task<Asked> ask_as(CredentialPtr by, std::string method, std::string target, std::string body = {},
                       std::string idempotency = {}, SwitchPtr place = nullptr);
    Task<http::Response> once_as(const Look& then, std::string method, std::string target,
                                 std::string body = {}, std::string idempotency = {});
    void hear(const Look& then, const std::string& asked, const std::string& told);
    CredentialPtr some(Tenant& tenant, const std::string& project) {
        return people.some(tenant.name, project, tenant.dice);
    }
    Task<> think(Tenant& tenant, Duration max);

    sim::Dice dice_;
    bool calm_ = false;
    int busy_ = 0;
};

}  // namespace hostler::simulation
