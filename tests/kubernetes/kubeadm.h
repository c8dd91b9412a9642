// A cluster by the commands of kubeadm's own documentation.
#pragma once

#include "nodes.h"

namespace hostler::kube {

class Kubeadm {
public:
    // The first node is the control plane.
    explicit Kubeadm(Nodes& nodes) : nodes_(nodes) {}

    // Each returns "" or what went wrong. A node that joins is ready afterwards.
    std::string init();
    std::string join(Node& node);
    std::string drain(const Node& node);
    std::string forget(const Node& node);
    std::string reset(Node& node);
    Ran kubectl(Words words, const std::string& input = {}, Seconds within = Seconds{120});

private:
    std::string ready(const Node& node);

    Nodes& nodes_;
};

}  // namespace hostler::kube
