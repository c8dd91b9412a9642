// Steps that make a host a node of a cluster and take it out again, and what is left of one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/stream.h"
#include "core/task.h"
#include "core/timers.h"
#include "domain/cluster/driver.h"

namespace hostler {

// All is filled: no text has a {{value}} any more.
struct NodeStep {
    std::string node;  // Id; what belongs to it is kept together.
    std::string name;
    std::vector<StepFile> files;
    std::vector<std::string> stop;                    // Steps of the node whose programs end before it.
    std::vector<std::string> run, start, done, undo;  // As of DriverStep.
    std::vector<std::string> outputs;
    Duration deadline{};
    bool again = false;  // It was tried before: `undo` comes first.
};

struct NodeStepDone {
    std::map<std::string, std::string> outputs;
    bool was_done = false;  // Nothing had to be run.
    bool operator==(const NodeStepDone&) const = default;
};

// Something of a cluster that is still there.
struct Leftover {
    std::string kind;  // "process", "mount", "interface", "table", "file", "cgroup", "image", "gpu"
    std::string name;  // For people: "kubelet (pid 812)", "/var/lib/kubelet".
    auto operator<=>(const Leftover&) const = default;
};

// How a node of the control plane reaches the API server of its cluster, and as whom.
struct NodeApi {
    std::string address;      // "127.0.0.1:6443"
    std::string server_name;  // For which the server's certificate must be.
    Credentials credentials;  // Of a user that may impersonate others.
};

class NodeSteps {
public:
    virtual ~NodeSteps() = default;
    // First ends what an agent that died has left of any step of the node but the programs that keep running.
    // Writes the files, whole or not at all, runs the command, and begins the program that keeps running:
    // that outlives the agent, and is begun again when it ends and when the machine starts. May be repeated,
    // after a crash in the middle as well. What a command leaves running ends with it; what is cancelled or
    // late is killed with all that it began. A program that runs with the same arguments and files is left
    // alone. A step that is done but whose outputs `done` does not print is run again for them. Errors:
    // conflict (step_failed: it ended with another code than 0, is not done afterwards, or did not print an
    // output; the message has its last lines), timeout (step_late), not_found (program_missing), exhausted
    // (the disk is full), unavailable, cancelled. No message has an output.
    virtual Task<NodeStepDone> perform(NodeStep step) = 0;
    // Ends the programs that were begun for the node, and removes what this port keeps of it.
    virtual Task<> forget(std::string node) = 0;
    // All of what must not be there that is there, and processes that have a GPU open; sorted. Images and
    // interfaces that a step has listed in {{agent.folder}}/before/leftovers, as "image NAME", were there
    // before and do not count. Errors: unavailable, timeout (some of it could not be looked for: that is no
    // clean host).
    virtual Task<std::vector<Leftover>> look(Leftovers what) = 0;
    // What steps of this cluster have left in {{agent.folder}}/api: `cluster` (its id), `address`,
    // `server-name`, `ca.crt`, `client.crt`, `client.key`. Errors: not_found (no_cluster_api: nothing, or it
    // is another cluster's), unavailable, cancelled.
    virtual Task<NodeApi> api(std::string cluster) = 0;
};

}  // namespace hostler
