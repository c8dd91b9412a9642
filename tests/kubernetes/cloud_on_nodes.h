// A cloud on this machine whose hosts are nodes: `hostler up` as it is shipped, and an agent on each node
// that allows clusters. The one simulated host of `up` does not.
#pragma once

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <vector>

#include "nodes.h"

namespace hostler::kube {

class CloudOnNodes {
public:
    // All hosts have joined and report; the agent of the node `with_gpus` sees two simulated GPUs. Errors:
    // unavailable, with the end of the log.
    static Result<std::unique_ptr<CloudOnNodes>> start(Nodes& nodes, const std::string& with_gpus = {});
    ~CloudOnNodes();
    CloudOnNodes(const CloudOnNodes&) = delete;
    CloudOnNodes& operator=(const CloudOnNodes&) = delete;

    // The command line, as the operator.
    Ran cli(Words words, Seconds within = Seconds{60});
    // What it prints with -o json; null when it fails.
    boost::json::value told(Words words);
    // Creates a cluster of the shipped driver, with what it has to know of such nodes. The tenant is acme.
    Ran create_cluster(const std::string& name, Words words);
    // With which programs reach it as the operator.
    Environment environment() const;
    std::string in(const std::string& below) const;  // A path in its folder.
    // With SIGKILL; what supervises them starts them again.
    void kill_master();
    void kill_agent(Node& node);
    void kill_access(const std::string& zone);
    std::string logs() const;  // The ends of all, for messages.

private:
    explicit CloudOnNodes(Nodes& nodes) : nodes_(nodes) {}
    Result<> begin_up();
    Result<> join(Node& node, bool with_gpus);
    Result<Words> simulated_gpus(const std::string& folder);

    Nodes& nodes_;
    std::string api_, key_, ca_;
    std::string problem_;  // What the command line said last.
    Child up_;
    std::vector<Child> engines_, agents_;
};

}  // namespace hostler::kube
