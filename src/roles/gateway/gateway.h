// The public way in: one origin for each instance port, with sign-in, WebSocket and streaming.
#pragma once

#include "core/metrics.h"
#include "http/server.h"
#include "roles/gateway/cluster_door.h"
#include "roles/gateway/front.h"
#include "roles/gateway/gatekeeper.h"
#include "roles/gateway/master_link.h"
#include "roles/gateway/ports.h"
#include "roles/gateway/route.h"
#include "roles/gateway/settings.h"
#include "roles/gateway/upstreams.h"

namespace hostler::gateway {

class Gateway {
public:
    Gateway(Settings settings, Ports ports);

    // Serves until cancelled; then nothing of it is left. Errors: those of listening.
    Task<> run();
    // Takes nobody new and is not ready any more; sessions of the command line go on elsewhere, and it
    // returns when all else that runs has ended, or after `patience`. run() goes on: cancel it then. Errors:
    // cancelled.
    Task<> leave(Duration patience);
    Task<> ready();                                          // Returns when it listens. Errors: cancelled.
    const std::string& address() const { return address_; }  // Once ready: "127.0.0.1:41233", as picked.
    const std::string& url() const { return url_; }          // Once ready: where it is reached from outside.
    bool linked() const { return master_.linked(); }         // With a master, and its routes are known.
    const RouteTable& routes() const { return routes_; }
    // Of the master that told them last; 0: none has, since the start.
    std::uint64_t routes_epoch() const { return master_.routes_epoch(); }
    const FrontCounters& counters() const { return front_.counters(); }
    void write_metrics(MetricsPage& page) const;

private:
    Task<> serve();
    Task<> keep_own_ports(std::string host);
    Task<> own_port(std::string host, std::uint16_t port);
    http::Server::Connection served(std::uint16_t own_port);
    http::Arrival arrival() const;

    const Settings settings_;
    const Ports ports_;
    RouteTable routes_;
    Signal routes_changed_;
    MasterLink master_;
    Gatekeeper keeper_;
    Upstreams upstreams_;
    Entrance entrance_;
    ClusterDoor clusters_;
    Front front_;
    http::Server server_;
    std::map<std::uint16_t, std::unique_ptr<TaskGroup>> own_ports_;
    std::string address_;
    std::string url_;
    bool listening_ = false;
    Signal changed_;
};

}  // namespace hostler::gateway
