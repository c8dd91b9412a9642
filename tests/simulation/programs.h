// The shipped roles as programs of simulated machines. Each is started again when it ends, as a service
// manager does.
#pragma once

#include "adapters/series/store.h"
#include "adapters/sim/exec.h"
#include "cloud.h"
#include "ports/testing/played_outgoing.h"
#include "roles/access/access.h"
#include "roles/agent/agent.h"
#include "roles/gateway/gateway.h"

namespace hostler::simulation {

template <class Program>
Task<> supervise(Program& program, Timers& timers) {
    while (true) {
        const auto ended = co_await program.once();
        if (!ended && ended.error().code == Code::cancelled) co_return ended;
        CO_TRY(co_await sleep(timers, 1s));
    }
}

struct MasterProgram {
    MasterProgram(Cloud& in, Life& on) : cloud(in), life(on) {}
    Task<> once();
    Cloud& cloud;
    Life& life;
    std::unique_ptr<Store> store, mistaken, watched;
    std::unique_ptr<series::FollowedStore> series;
    std::unique_ptr<SeriesStore> watched_series, mistaken_series;
    std::unique_ptr<SeriesMirror> mistaken_mirror;
    std::unique_ptr<Sealer> mistaken_sealer;
    std::unique_ptr<hostler::testing::PlayedOutgoing> outgoing;
    std::unique_ptr<Certified> own;
    std::unique_ptr<master::Master> role;
};

// What stands before a port, when something does, and else the port.
template <class Port>
struct Before {
    Before(const Mistakes::Before<Port>& make, Port& port) : there(make ? make(port) : nullptr), last(port) {}
    Port& operator*() const { return there ? *there : last; }
    std::unique_ptr<Port> there;
    Port& last;
};

struct AccessProgram {
    AccessProgram(Cloud& in, Life& on, std::string at)
        : cloud(in), life(on), zone(std::move(at)), journal(in.mistakes.edge_journal, on.journal) {}
    Task<> once();
    Cloud& cloud;
    Life& life;
    std::string zone;
    Before<Journal> journal;
    std::unique_ptr<Certified> own;
    std::unique_ptr<access::Access> role;
};

struct GatewayProgram {
    GatewayProgram(Cloud& in, Life& on)
        : cloud(in), life(on), journal(in.mistakes.edge_journal, on.journal) {}
    Task<> once();
    Cloud& cloud;
    Life& life;
    Before<Journal> journal;
    std::unique_ptr<Certified> own;
    std::unique_ptr<gateway::Gateway> role;
};

// One name with several answers.
class Directory final : public Names {
public:
    Task<std::vector<std::string>> addresses(std::string name, Duration) override {
        if (name == "cloud:7441") co_return std::vector<std::string>{"nj:7441", "lon:7441"};
        co_return std::vector<std::string>{name};
    }
};

struct AgentProgram {
    AgentProgram(Cloud& in, Life& on, std::string with, std::string at);
    Task<> once();
    Cloud& cloud;
    Life& life;
    std::string token;
    std::string zone;
    Before<Journal> mistaken_journal;
    Before<Engine> mistaken_engine;
    Before<HostVolumes> volumes;
    Before<HostNetwork> networks;
    Before<Net> net;
    Before<PodDevices> pod_devices;
    std::unique_ptr<NodeSteps> node_steps;  // Before the life's; null: nothing is.
    WatchedJournal journal;
    WatchedEngine engine;
    sim::SimExec exec;
    Directory names;
    std::unique_ptr<agent::Agent> role;
};

}  // namespace hostler::simulation
