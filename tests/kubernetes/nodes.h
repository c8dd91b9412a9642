// Machines of namespaces: each has its own mounts, network, processes, control groups and name, and Debian's
// containerd with the images of Kubernetes. Nothing of Kubernetes runs on them until a test starts it. Needs
// root.
//
// When the test ends or is killed, the kernel ends the processes, and with them go the mounts and interfaces.
// Folders and control groups that a killed test leaves are removed by the next one.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "folder.h"
#include "process.h"

namespace hostler::kube {

class Nodes;

class Node {
public:
    const std::string& name() const { return name_; }
    const std::string& address() const { return address_; }  // "10.213.7.11"

    // Runs a program on the node to its end.
    Ran run(Words words, Seconds within = Seconds{60}, const std::string& input = {},
            const Environment& environment = {});
    // One that runs until it is stopped. Its output goes to a file of the node's folder, which `log` names.
    // `stop` of the child sends its signal to the program itself.
    Result<Child> start(Words words, const std::string& log, const Environment& environment = {});
    // The service of the kubelet, as systemd has it on other hosts: it waits for kubeadm, and starts the
    // kubelet again when it ends.
    Result<> start_kubelet();
    void stop_kubelet();

    std::string folder() const;  // What it writes, and its logs. The same path is seen inside.
    void write(const std::string& path, const std::string& text);  // A file of the node.

private:
    friend class Nodes;
    Node(Nodes& all, std::string name, std::string address)
        : all_(all), name_(std::move(name)), address_(std::move(address)) {}
    Result<> boot(const std::string& pause, const std::string& images);
    Result<> wire_up();
    Result<> ready(Seconds within);
    Words inside(Words words) const;

    Nodes& all_;
    std::string name_, address_;
    std::vector<std::string> groups_;
    Child machine_;
    pid_t first_ = 0;  // Its first process, by its number out here.
    Child kubelet_;
};

enum class NodeImages { imported, archive };

class Nodes {
public:
    // Nodes with these names in one private network. Images are imported, or `archive()` is kept for
    // that. Errors: unavailable, with the end of the log.
    static Result<std::unique_ptr<Nodes>> start(const std::vector<std::string>& names,
                                                Seconds ready_within = Seconds{180},
                                                NodeImages images = NodeImages::imported);
    ~Nodes();
    Nodes(const Nodes&) = delete;
    Nodes& operator=(const Nodes&) = delete;

    Node& operator[](std::size_t number) { return nodes_[number]; }
    std::size_t size() const { return nodes_.size(); }
    std::string outside() const { return network_ + ".1"; }  // This machine's address in their network.
    const Folder& folder() const { return folder_; }
    std::string archive() const { return folder_.in("images.tar"); }  // The same path is seen inside.

    // A network for pods, by CNI's bridge plugin and routes between the nodes: `range` is "10.244", of which
    // each node has a /24. What a cluster's network add-on would do.
    Result<> lay_pod_network(const std::string& range);

private:
    friend class Node;
    Nodes() = default;
    Result<> lay_network();
    Result<> switch_run(Words words);

    Folder folder_;
    std::string network_;  // "10.213.7"
    Child switch_;         // Holds the network namespace of the bridge that joins the nodes and this machine.
    std::deque<Node> nodes_;
};

}  // namespace hostler::kube
