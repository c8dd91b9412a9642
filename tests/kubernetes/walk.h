// Makes and unmakes a cluster on nodes by the plan of the domain, as a master and its agents do.
#pragma once

#include <future>
#include <map>
#include <string>
#include <vector>

#include "domain/cluster/plan.h"
#include "nodes.h"

namespace hostler::kube {

// What can be asked of a cluster that is there. One of no Kubernetes is always well.
struct Sight {
    bool api_answers = true;
    std::map<std::string, bool> ready;    // Nodes by their names.
    std::map<std::string, bool> members;  // Of etcd, by the names of their nodes.
};

class Walk {
public:
    // The driver's own values, on top of its file's.
    Walk(Nodes& nodes, const Driver& driver, const StepValues& values);
    virtual ~Walk() = default;

    ClusterView view;
    StepValues outputs;
    std::string save_file;  // For the next cluster: it is made of it.

    // Goes on until the plan has no more to do and nothing runs. "": it came to rest, with nothing failed.
    std::string go(Seconds within);
    // A step of a phase that no plan asks for, on a node.
    std::string step(const DriverStep& step, Node& node);
    Node* host_of(const std::string& id);  // nullptr: it has none.
    Node* control();  // The host of a ready control-plane node that stays, nullptr: none.
    std::string log;  // Steps in their order, with what they took.

protected:
    virtual Sight look() = 0;
    Driver driver_;

private:
    struct Place {
        Node* host = nullptr;
        std::string name, folder;
        std::string told;  // The addresses that it knows.
        std::map<std::string, Child> programs;
        std::int64_t failures = 0;
    };
    struct Running {
        std::string node;
        const DriverStep* step;
        std::string addresses;  // That it was filled with.
        std::chrono::steady_clock::time_point since;
        std::future<Result<StepValues>> end;
    };
    void note(const std::string& line);
    void see();
    void apply(const ClusterAction& action);
    void move(const std::string& id, NodeEvent event);
    void claim(const ClusterAction& action);
    void begin(const ClusterAction& action);
    bool finish();
    void passed(const Running& running, const StepValues& outputs);
    void failed(const Running& running, const Error& error);
    std::string addresses();
    StepValues values_of(const std::string& id, const std::string& folder);
    Result<> start(Place& place, const DriverStep& step, const StepValues& values);
    NodeView& node(const std::string& id);

    Nodes& nodes_;
    StepValues own_;
    std::map<std::string, Place> places_;
    std::vector<Running> running_;
    Sight sight_;
    bool changed_ = true;  // Since it was looked.
    std::string problem_;
    std::uint64_t number_ = 0;
};

// Files, `undo` when it is done again, the command, and `done`: as ports/node_steps.h says, without the
// program that keeps running. Gives the outputs.
Result<StepValues> perform(Node& node, const DriverStep& step, const StepValues& values, bool again);

// What of `what` is on the node, "kind name" each, by plain commands; and each set of addresses, which the
// driver's clean-up looks for itself.
std::vector<std::string> left_on(Node& node, const Leftovers& what);

// Leaves one of each kind of what kubeadm's driver looks for on a node, with the images of an archive.
Ran plant_leftovers(Node& node, const std::string& archive);

}  // namespace hostler::kube
