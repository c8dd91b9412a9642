// What every container engine promises (ports/engine.h). An adapter's test instantiates the suite with its
// rigs, and that of the networks beside it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "ports/engine.h"
#include "ports/engine_events.h"
#include "ports/images.h"
#include "ports/network.h"
#include "ports/processes.h"
#include "rig.h"

namespace hostler::contract {

// An engine with its networks, on a host of its own. Tests take care of names being unique in it.
class EngineRig : public Rig {
public:
    virtual Engine& engine() = 0;
    virtual Images& images() = 0;
    virtual EngineEvents& events() = 0;
    virtual Processes& processes() = 0;
    virtual HostNetwork& network() = 0;
    virtual ContainerSpec server(std::string name) = 0;  // Runs until it is stopped; logs "SIGTERM" then.
    virtual ContainerSpec finisher(std::string name,
                                   int code) = 0;          // Writes "leaving", then ends with `code`.
    virtual ContainerSpec stubborn(std::string name) = 0;  // Runs and does not end when it is asked to.
    virtual std::string subnet(int number) = 0;            // "10.77.<n>.0/24": free on this host.
    virtual void crash() = 0;                              // The engine dies at once and comes back.
    virtual void enter() {}  // To where its containers are reached, until leave().
    virtual void leave() {}
};

struct EngineKind {
    std::string name;
    std::function<std::shared_ptr<EngineRig>()>
        make;  // May give the same one again. nullptr: it cannot be had here.
};

inline void PrintTo(const EngineKind& kind, std::ostream* to) { *to << kind.name; }

inline constexpr const char* label = "hostler.instance";

class EngineContract : public ::testing::TestWithParam<EngineKind> {
protected:
    void SetUp() override;
    void TearDown() override;  // Takes away what the test launched and made.

    template <class T>
    Result<T> run(Task<T> task) {
        return rig_->run(std::move(task));
    }
    std::string name(std::string_view suffix = "a") const;  // Of a container, unique to this test.
    Result<Container> launch(ContainerSpec spec);
    std::vector<Container> list(std::string_view suffix = "a");
    // What list() shows once its state is `state`; fails after 20 s.
    Container wait_until(ContainerState state, std::string_view suffix = "a");
    NetworkSpec make_network(int number);
    std::string log_text(LogsWanted wanted);  // Of container "a".

    std::shared_ptr<EngineRig> rig_;
    std::vector<std::string> launched_;
    std::vector<std::string> networks_;
};

}  // namespace hostler::contract
