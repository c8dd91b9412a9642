// What hosts and gateways are sent while a term lasts: commands until they are answered, routes, and
// credentials that ended.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "roles/master/leader/term.h"
#include "roles/master/state/due_times.h"

namespace hostler::uplink {
class Routes;
}

namespace hostler::master {

class Outbox {
public:
    static Outbox& of(Term& term);
    explicit Outbox(Term& term);

    // Sends what is under way for this host (again): it does each command once.
    void send_commands(const std::string& host);
    void send_all_routes(wire::Link& gateway);
    void hosts_moved(const std::set<std::string>& hosts);  // Other access points lead there now.
    void send_again();                                     // Commands that were not answered.
    void published(std::span<const Touched> touched);

private:
    void send(const HostCommand& command);
    void add_routes(const Instance& instance, uplink::Routes& routes);
    void add_cluster_route(const std::string& node, uplink::Routes& routes);
    void add_public_routes(const Touched& what, uplink::Routes& routes);
    bool closed_or_opened(const Touched& what);
    void send_routes(std::span<const Touched> touched);
    void send_ended(std::span<const Touched> touched);
    void to_gateways(const uplink::Frame& frame);

    Term& term_;
    bool begun_ = false;
    DueTimes<Instant> due_;                                   // When each command is sent next, by id.
    std::map<std::string, std::vector<std::string>> routed_;  // Names that gateways know, by instance.
    std::map<std::string, std::string> cluster_routed_;  // Routes that gateways know, by node of a cluster.
    std::set<std::pair<std::string, std::string>> disabled_;  // Tenants and projects: kind and id.
};

}  // namespace hostler::master
