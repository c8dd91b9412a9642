// The API servers of tenants' Kubernetes clusters, for kubectl and other clients: /clusters/CLUSTER/... A
// client shows the token of `hostler cluster credential`; the API server is told who asks, and in which
// groups they are.
#pragma once

#include "http/proxy.h"
#include "http/server.h"
#include "roles/gateway/gatekeeper.h"
#include "roles/gateway/ports.h"
#include "roles/gateway/route.h"
#include "roles/gateway/settings.h"

namespace hostler::gateway {

struct ClusterCounters {
    std::uint64_t requests = 0;
    std::uint64_t passed = 0;   // An API server answered.
    std::uint64_t refused = 0;  // By us.
    std::uint64_t failed = 0;   // An API server should have answered, and did not.
};

class ClusterDoor {
public:
    // A stream of raw bytes to the API server on the host of a route.
    using Dial = std::function<Task<StreamPtr>(RoutePtr)>;
    ClusterDoor(const Ports& ports, const Settings& settings, RouteTable& routes, Gatekeeper& keeper,
                Dial dial);

    static bool is_here(std::string_view target);
    // One request to its end. What is refused is answered as an API server would, so that clients show the
    // reason.
    Task<> serve(http::Inlet& inlet, std::string client);
    void routes_changed();  // Connections to nodes that have left are closed.
    const ClusterCounters& counters() const { return counters_; }
    std::size_t requests() const { return requests_; }  // Under way.

private:
    struct Asked;
    Task<Question> admit(const Asked& asked, std::string client);
    Task<> refuse(http::Inlet& inlet, const Error& error);
    Task<> pass(http::Inlet& inlet, const Asked& asked, Question by);
    Task<StreamPtr> dial(const std::vector<RoutePtr>& nodes);

    const Ports& ports_;
    const Settings& settings_;
    RouteTable& routes_;
    Gatekeeper& keeper_;
    const Dial dial_;
    http::Proxy proxy_;
    std::size_t requests_ = 0;
    std::map<std::string, std::size_t> under_way_;  // By cluster.
    ClusterCounters counters_;
};

}  // namespace hostler::gateway
