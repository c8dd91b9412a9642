// What browsers and programs meet: each request is matched to a route, checked, and passed on or answered
// here.
#pragma once

#include "http/proxy.h"
#include "http/server.h"
#include "roles/gateway/cluster_door.h"
#include "roles/gateway/entrance.h"
#include "roles/gateway/gatekeeper.h"
#include "roles/gateway/origin.h"
#include "roles/gateway/pages.h"
#include "roles/gateway/ports.h"
#include "roles/gateway/route.h"
#include "roles/gateway/settings.h"

namespace hostler::gateway {

struct FrontCounters {
    std::uint64_t requests = 0;
    std::uint64_t passed = 0;  // An instance answered.
    std::uint64_t upgraded = 0;
    std::uint64_t failed = 0;  // An instance should have answered, and did not.
};

// A stream of raw bytes to the port of a route. Its error is in words for people.
using Dial = std::function<Task<StreamPtr>(RoutePtr)>;

class Front {
public:
    Front(const Ports& ports, const Settings& settings, RouteTable& routes, MasterLink& master,
          Gatekeeper& keeper, Dial dial);

    // One connection to its end. `own_port`: of the route that has this port for itself; 0: the common one.
    Task<> connection(StreamPtr stream, std::uint16_t own_port, http::Drain& drain, http::Place& place);
    void set_scheme(std::string scheme) { scheme_ = std::move(scheme); }
    // Has requests at the gateway's own address that are sessions with instances.
    void set_entrance(Entrance& entrance) { entrance_ = &entrance; }
    // Has requests at the gateway's own address that are for API servers of clusters.
    void set_clusters(ClusterDoor& clusters) { clusters_ = &clusters; }
    void leave() { leaving_ = true; }  // Says that it is not ready.
    void routes_changed();             // Kept tunnels of generations that are over are closed.
    const FrontCounters& counters() const { return counters_; }
    std::size_t clients() const { return clients_.size(); }
    std::size_t requests() const;  // Under way at instances.

private:
    struct Asked;  // One request, and what was found out about it.
    struct Peer;   // One connection, and what its requests have in common.
    struct Client {
        std::size_t connections = 0;
        std::size_t requests = 0;
    };
    using Clients = std::map<std::string, Client>;
    class Counted;

    void note_client(Peer& peer, const http::Inlet& inlet);
    Task<> request(http::Inlet& inlet, Peer& peer);
    void note_host(Peer& peer, std::string_view host) const;
    Task<> on_route(Asked& asked);
    Task<> own_path(Asked& asked);
    Task<> redeem(Asked& asked);
    Task<> sign_out(Asked& asked);
    Task<Admission> who(Asked& asked);
    bool sent_from_elsewhere(const Asked& asked) const;
    bool acts_from_elsewhere(const Asked& asked) const;
    Task<> turn_away(Asked& asked, Admission admission);
    Task<> show_state(Asked& asked, Admission admission);
    Task<MasterLink::Entered> ask_master(const Asked& asked, std::string_view kind) const;
    Task<> tell_more(Asked& asked, Page& page);
    Task<> start(Asked& asked);
    Task<> front_door(http::Inlet& inlet);
    Task<> pass(Asked& asked);
    Task<http::Outcome> forward(Asked& asked);
    std::optional<http::Rewrite> without_credentials(const Asked& asked) const;
    Task<> say(http::Inlet& inlet, Page page);
    Task<> health(http::Inlet& inlet);
    RoutePtr find(const HostPort& host, std::uint16_t own_port) const;
    std::string sign_in_url(const Asked& asked) const;
    static std::string cookie_name(const Asked& asked);
    static std::string_view secure(const Asked& asked);  // An attribute of cookies, where TLS is.
    const http::Rewrite& response_rewrite(const Asked& asked) const;

    const Ports& ports_;
    const Settings& settings_;
    RouteTable& routes_;
    MasterLink& master_;
    Gatekeeper& keeper_;
    const Dial dial_;
    const http::ServerLimits limits_;
    const std::string transport_security_;
    const http::Rewrite response_rewrite_;
    const http::Rewrite secure_response_rewrite_;  // With Strict-Transport-Security.
    http::Proxy proxy_;
    std::string scheme_ = "http";
    Entrance* entrance_ = nullptr;
    ClusterDoor* clusters_ = nullptr;
    bool leaving_ = false;
    Clients clients_;  // With connections, by address.
    std::map<std::string, std::size_t, std::less<>> instance_requests_;
    FrontCounters counters_;
};

}  // namespace hostler::gateway
