// Ways to instances: a ticket from an access point, both ends joined there, TLS to the host, and the port
// asked for.
#pragma once

#include <map>
#include <memory>

#include "core/signal.h"
#include "core/task_group.h"
#include "roles/gateway/ports.h"
#include "roles/gateway/route.h"
#include "roles/gateway/settings.h"

namespace hostler::uplink {
class TunnelOpen;
}

namespace hostler::wire {
class Link;
}

namespace hostler::gateway {

class Upstreams {
public:
    Upstreams(const Ports& ports, const Settings& settings);
    Task<> close();
    std::size_t links() const { return links_.size(); }  // With access points.

    // A stream of raw bytes to that port of the instance. The error names the hop that broke, in words for
    // people. Errors: unavailable, timeout, not_found, exhausted, cancelled.
    Task<StreamPtr> dial(RoutePtr route) { return dial(std::move(route), nullptr); }
    // The same into a session of the instance; what the host says against it is told in its own words.
    Task<StreamPtr> dial(RoutePtr route, std::shared_ptr<const uplink::TunnelOpen> session);

private:
    using LinkPtr = std::shared_ptr<wire::Link>;
    struct Ticket {
        std::string secret;
        std::string tunnel_address;
    };
    struct Entry {
        LinkPtr link;
        bool dialling = false;
        Instant used{};
        Instant doubtful_until{};  // The last try through it failed: others are tried first.
        Instant refused_until{};   // It did not answer just now: not everybody has to find that out.
        std::shared_ptr<Signal> changed = std::make_shared<Signal>();
    };
    Task<LinkPtr> link_to(std::string address);
    Task<LinkPtr> connect(std::string address);
    void make_room();
    void doubt(const std::string& address);
    Task<Ticket> ticket(std::string address, std::string host);
    Task<StreamPtr> within(Duration time, Task<StreamPtr> task);
    Task<StreamPtr> through(std::string address, RoutePtr route,
                            std::shared_ptr<const uplink::TunnelOpen> session);
    Task<StreamPtr> meet(Ticket ticket);
    Task<> open_port(Stream& stream, const Route& route, const uplink::TunnelOpen* session);

    const Ports& ports_;
    const Settings& settings_;
    std::map<std::string, Entry> links_;  // By control address.
    TaskGroup tasks_;
};

}  // namespace hostler::gateway
