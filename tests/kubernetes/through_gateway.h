// kubectl and Helm on this machine, unmodified, to a cluster through the cloud's gateway.
#pragma once

#include "cloud_on_nodes.h"

namespace hostler::kube {

class ThroughGateway {
public:
    // As whoever has this key of the cloud; the operator without one.
    ThroughGateway(CloudOnNodes& cloud, std::string folder, std::string key = {})
        : cloud_(cloud), folder_(std::move(folder)), key_(std::move(key)) {}

    Ran make_kubeconfig(const std::string& cluster);
    Ran kubectl(Words words, Seconds within = Seconds{60});
    Ran helm(Words words);
    Result<Child> start(Words words, const std::string& log);  // kubectl that runs on.

private:
    std::string file() const { return folder_ + "/kubeconfig"; }
    Environment environment() const;
    Words command(const char* program, Words words) const;

    CloudOnNodes& cloud_;
    const std::string folder_, key_;
};

}  // namespace hostler::kube
