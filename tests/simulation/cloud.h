// A whole cloud of the shipped roles in a simulated world: a master, two zones, a gateway, hosts; with the
// checkers that stand around it, and the mistakes that a test builds in.
#pragma once

#include "adapters/series/testing/fake_folder.h"
#include "adapters/sim/sealer.h"
#include "adapters/sim/world.h"
#include "checkers/agent_watch.h"
#include "checkers/alerts.h"
#include "checkers/cluster_check.h"
#include "checkers/estate_check.h"
#include "checkers/findings.h"
#include "checkers/job_check.h"
#include "checkers/lease_watch.h"
#include "checkers/pods_check.h"
#include "checkers/queue_check.h"
#include "checkers/quota_check.h"
#include "checkers/samples_check.h"
#include "checkers/store_watch.h"
#include "database.h"
#include "http/message.h"
#include "ports/network.h"
#include "ports/pod_devices.h"
#include "ports/volumes.h"
#include "roles/agent/settings.h"
#include "roles/master/server/master.h"

namespace hostler::simulation {

using namespace std::chrono_literals;
using sim::Death;
using sim::Life;
using sim::Machine;
using sim::World;

class Cloud;

// Deliberate ones: a checker that nothing ever alarms may be blind. And ports whose calls fail.
struct Mistakes {
    template <class Port>
    using Before = std::function<std::unique_ptr<Port>(Port&)>;
    Before<Store> store{};
    Before<SeriesStore> series{};
    Before<Sealer> sealer{};
    Before<SeriesMirror> mirror{};
    Before<Journal> agent_journal{};
    Before<Journal> edge_journal{};  // Of access points and gateways.
    Before<Engine> agent_engine{};
    Before<HostVolumes> agent_volumes{};
    Before<HostNetwork> agent_networks{};
    Before<Net> agent_net{};
    std::function<std::unique_ptr<NodeSteps>(NodeSteps&, Life&)> agent_node_steps{};
    Before<PodDevices> agent_pod_devices{};
    std::function<void(agent::Settings&)> agent_settings{};
    std::function<void(master::Settings&)> master_settings{};
    std::optional<Invariant> only{};  // The one to be found, where the mistake breaks others sooner.
    std::shared_ptr<Digest> digest{};
    std::function<void(Database&)> database{};
    std::function<void(Cloud&, master::Term&)> each_second{};
};

// Who decides: one master with SQLite, or several that share a database.
struct Control {
    int masters = 1;
    Database::Standby standby = Database::Standby::synchronous;
};

class Cloud {
public:
    explicit Cloud(std::uint64_t seed, Mistakes mistakes = {}, int hosts = 2, int gpus = 4,
                   Control control = {});
    ~Cloud();
    void end();  // Nothing of it runs on. Whoever started clients calls it before what they refer to goes.

    // Boots everything, joins the hosts, makes a key for each tenant. false: it did not get there.
    bool begin(const std::vector<std::string>& tenants);
    master::TermPtr term();  // Null while nobody leads.
    Machine& master() { return world.machine(masters.front()); }
    Machine* leader();  // Whose term() is.

    // A call of the API with `key`, as one client makes it.
    Task<http::Response> call(std::string key, std::string method, std::string target, std::string body = {},
                              std::string idempotency = {});
    // What is not as it should be in the calm; empty: nothing.
    std::string unsettled();
    std::string hash(const std::string& text) const;  // As masters do it.
    bool gateway_follows(std::uint64_t epoch);        // It is linked with who leads in that epoch.
    bool all_are_judged();  // Somebody leads, and knows of each host whether it may sell.
    void join(const std::string& machine, const std::string& zone);  // Boots it with a new token.
    void forget_faults();  // All that is broken is mended, all that is down boots.
    void checks();         // After each step.
    // What was asked for at that time, and answered now: the first may be lost since, the second told by who
    // led before the database's clock was put forward.
    bool rewound_since(Instant asked) const { return rewound_at_ >= asked; }
    bool may_be_old(Instant asked) const { return leases.may_be_old(asked, world.timers.now()); }
    // Since how long nothing is broken, and whoever leads hears of each host.
    Duration quiet_for() const { return quiet_since_ ? world.timers.now() - *quiet_since_ : Duration{}; }
    // Ids of what lost transactions told of, where nothing is promised of these; else none.
    void check_layers();
    const std::set<std::string>& spared(Invariant invariant) const;

    static constexpr std::string_view operator_key = "hk_operator-of-the-simulated-cloud";
    static constexpr std::string_view secret = "tell-nobody";  // In what tenants' programs are told.
    Findings found;
    AlertInbox inbox;  // Of all receivers of alerts.
    StoreLedger store_ledger{found};
    LeaseWatch leases{found};
    std::map<std::string, Obedience> obedience;  // By machine.
    StoredRows stored_rows;
    std::map<std::string, SamplesCheck> samples;                    // By machine.
    std::map<std::string, series::testing::FakeDisk> series_disks;  // Of the masters.
    std::vector<std::string> hosts, masters;                        // Machines.
    std::map<std::string, std::string> keys;                        // By tenant.
    std::map<std::string, std::string> callers;    // Names of people and programs, by their secrets.
    std::map<std::string, Credentials> installed;  // Of the roles, on disks that forget nothing: "access/nj".
    std::function<void(master::Term&)> on_recovery;
    std::vector<std::function<void(const Rewind&)>> on_rewind;
    std::vector<std::function<void()>> on_each_step;
    QueueCheck queues;
    std::set<std::string> liars;      // Machines whose GPUs are not what they say, from the beginning.
    std::set<Invariant> not_of_lost;  // Hold of nothing that lost transactions told of.
    double supervisors_die = 0;       // Chance of each, in a second.
    bool late_messages = false;       // Now and then an old command comes again.
    const Mistakes mistakes;
    World world;
    ClusterTruth clusters{world};
    ClusterCheck cluster_check{clusters};
    ClusterPods pods{world, clusters};
    PodsCheck pods_check{world, pods, found};
    std::unique_ptr<Database> database;  // Of several masters.
    sim::Dice dice;
    sim::SimSealer sealer;  // In a file that all masters share.
    TaskGroup clients;

private:
    Machine::Program master_program();
    Machine::Program access_program(std::string zone);
    Machine::Program gateway_program();
    Machine::Program agent_program(std::string token, std::string zone);
    std::string token(const std::string& zone);
    // What the operator asks for until it is answered as it should be; empty: it never was.
    std::string insist(const std::string& target, const std::string& body, const char* wanted);
    void each_second();
    void check_leaders();
    void check_edges();
    void rewound(const Rewind& by);
    void check_places();
    void check_jobs(const master::Desk& desk);
    bool is_quiet();
    void supervise(Machine& machine, const std::string& boot);
    master::TermPtr term_of(Machine& machine);
    void disturb(master::Term& term);
    std::string_view who(std::string_view key) const;

    std::uint64_t checked_calls_ = 0;
    std::uint64_t recovered_epoch_ = 0;
    Instant rewound_at_ = Instant::min();
    std::set<std::string> lost_;                   // Ids.
    std::map<std::string, std::uint64_t> obeyed_;  // The highest epoch, by access point and gateway.
    FitCheck fit_;
    TermsCheck terms_;
    StockCheck stock_;
    QuotaCheck quotas_;
    JobCheck jobs_;
    std::optional<Instant> quiet_since_;
    std::uint64_t quiet_epoch_ = 0;
    UseCheck use_;
    bool engines_changed_ = false;
    bool begun_ = false;
    std::map<std::string, std::pair<std::string, std::string>>
        heard_;  // Commands as they were first sent: host and bytes.
    TimerId timer_ = 0;
};

}  // namespace hostler::simulation
