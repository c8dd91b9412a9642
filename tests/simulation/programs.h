// The shipped roles as programs of simulated machines. Each is started again when it ends, as a service
// manager does.
#pragma once

#include "adapters/sim/exec.h"
#include "cloud.h"
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
    std::unique_ptr<Certified> own;
    std::unique_ptr<master::Master> role;
};

struct AccessProgram {
    AccessProgram(Cloud& in, Life& on, std::string at) : cloud(in), life(on), zone(std::move(at)) {}
    Task<> once();
    Cloud& cloud;
    Life& life;
    std::string zone;
    std::unique_ptr<Certified> own;
    std::unique_ptr<access::Access> role;
};

struct GatewayProgram {
    GatewayProgram(Cloud& in, Life& on) : cloud(in), life(on) {}
    Task<> once();
    Cloud& cloud;
    Life& life;
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
    std::unique_ptr<Journal> mistaken;
    WatchedJournal journal;
    WatchedEngine engine;
    std::unique_ptr<Net> lossy;
    sim::SimExec exec;
    Directory names;
    std::unique_ptr<agent::Agent> role;
};

}  // namespace hostler::simulation
