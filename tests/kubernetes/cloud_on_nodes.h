// A cloud on this machine whose hosts are nodes: `hostler up` as it is shipped, and an agent on each node
// that allows clusters. The one simulated host of `up` does not.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "domain/cluster/driver.h"
#include "nodes.h"

namespace hostler::kube {

// A text in an object; "": there is none.
std::string text_at(const boost::json::value& from, std::string_view name);

struct HostsWanted {
    std::set<std::string> with_gpus;  // Nodes whose agents see two simulated GPUs.
    std::string drivers;              // A folder with more drivers; empty: none.
};

class CloudOnNodes {
public:
    // All hosts have joined and report. Errors: unavailable, with the end of the log.
    static Result<std::unique_ptr<CloudOnNodes>> start(Nodes& nodes, HostsWanted wanted = {});
    ~CloudOnNodes();
    CloudOnNodes(const CloudOnNodes&) = delete;
    CloudOnNodes& operator=(const CloudOnNodes&) = delete;

    // The command line, as the operator.
    Ran cli(Words words, Seconds within = Seconds{60});
    // What it prints with -o json; null when it fails.
    boost::json::value told(Words words);
    // Creates a cluster of the shipped driver, with what it has to know of such nodes. The tenant is acme.
    Ran create_cluster(const std::string& name, Words words);
    // Starts an instance with one GPU on the host of a node, as other tenants do. "": it runs there; else
    // what is wrong.
    std::string run_plain_instance(Node& node);
    // With which programs reach it as the operator.
    Environment environment() const;
    std::string in(const std::string& below) const;  // A path in its folder.
    std::string saves() const;                       // The folder of saves, which all agents have.
    // With SIGKILL; what supervises them starts them again.
    void kill_master();
    void kill_agent(Node& node);
    void kill_access(const std::string& zone);
    std::string logs() const;  // The ends of all, for messages.

private:
    CloudOnNodes(Nodes& nodes, HostsWanted wanted) : nodes_(nodes), wanted_(std::move(wanted)) {}
    Result<> begin_up();
    Result<> join(Node& node);
    Result<Words> simulated_gpus(const std::string& folder);

    Nodes& nodes_;
    const HostsWanted wanted_;
    std::string api_, key_, ca_;
    std::string problem_;  // What the command line said last.
    Child up_;
    std::vector<Child> engines_, agents_;
};

// Tests with nodes and a cloud on them, which has the tenant acme. Nothing of them is left on this machine.
class OnNodes : public ::testing::Test {
protected:
    explicit OnNodes(std::vector<std::string> names, std::set<std::string> with_gpus = {})
        : names_(std::move(names)), with_gpus_(std::move(with_gpus)) {}
    void SetUp() override;  // Skips the test where there can be no nodes.
    void TearDown() override;
    // Asked when the nodes are there: a folder with more drivers; "": none.
    virtual std::string more_drivers() { return {}; }
    void succeeds(const Ran& ran) { ASSERT_EQ(ran.code, 0) << ran.out << ran.err; }
    // As root of a host of the control plane.
    static Ran kubectl(Node& at, Words words, const std::string& input = {}, Seconds within = Seconds{130});

    std::unique_ptr<Nodes> nodes_;
    std::unique_ptr<CloudOnNodes> cloud_;
    Driver driver_;  // As it is shipped.

private:
    const std::vector<std::string> names_;
    const std::set<std::string> with_gpus_;
};

}  // namespace hostler::kube
