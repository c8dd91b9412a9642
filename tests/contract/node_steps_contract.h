// What an agent may count on when it does steps of clusters (ports/node_steps.h).
#pragma once

#include "ports/node_steps.h"
#include "rig.h"

namespace hostler::contract {

// A command of a test.
struct Play {
    int exit_code = 0;
    std::string says{};       // On standard output,
    std::string complains{};  // and on standard error.
    bool hangs = false;       // It does not end by itself, and neither does its child in another session.
    bool marks = false;       // Once it was run to its end, `asks` says so.
};

class NodeStepsRig : public Rig {
public:
    virtual NodeSteps& steps() = 0;
    // Commands have names of one letter or more.
    virtual std::vector<std::string> command(std::string name, Play play) = 0;
    // Ends with 0 once `name` has marked; counted, too.
    virtual std::vector<std::string> asks(std::string own_name, std::string name) = 0;
    // Keeps running.
    virtual std::vector<std::string> program(std::string name) = 0;
    virtual std::size_t runs(const std::string& name) = 0;   // How often it was begun.
    virtual std::size_t alive(const std::string& name) = 0;  // Processes of it.
    virtual std::string path(std::string name) = 0;          // Of a file, where steps may write.
    virtual std::optional<std::string> text(const std::string& path) = 0;
    // The agent dies while the step runs, once `name` is alive, and comes again.
    virtual void die_during(NodeStep step, std::string name) = 0;
    // Something of the kind, and patterns that fit it; "": this machine cannot have one.
    virtual std::string plant(const std::string& kind, Leftovers& patterns) = 0;
    virtual void uproot(const std::string& kind) = 0;
    virtual std::string missing() = 0;  // No program.
};

using NodeStepsContract = Contract<NodeStepsRig>;

}  // namespace hostler::contract
