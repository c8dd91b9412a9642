// What the gateway knows of the cloud: which name leads to which port of which instance, and how it is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hostler::gateway {

enum class State { init, ready, running, stopping, resting, stopped, failed, lost };

State state_of(std::string_view
                   word);  // As the API says it; a word of a later release is `init`: not to be reached yet.

std::string_view text_of(State state);

struct Route {
    // The first label of the host name; of a cluster's API server "/clusters/CLUSTER/NODE".
    std::string name;
    std::uint16_t own_port = 0;  // Without a domain: the port that is this route's alone.
    std::string tenant;
    std::string instance;
    std::uint64_t generation = 0;
    std::uint16_t port = 0;
    bool open_to_all = false;
    State state = State::init;
    std::string detail;  // For people, and only those of the tenant.
    std::string host;
    std::vector<std::string> access;  // Control addresses of access points that reach the host.
    std::string shown_as;
    std::string project{};   // Of the tenant.
    std::string pool_key{};  // Set by the table: kept connections are for one generation's port on one host.
    bool operator==(const Route&) const = default;
};

using RoutePtr = std::shared_ptr<const Route>;  // Whoever serves a request keeps what it began with.

class RouteTable {
public:
    explicit RouteTable(std::size_t routes_max) : routes_max_(routes_max) {}

    RoutePtr find(std::string_view name) const;
    // Those whose names begin so, in their order.
    std::vector<RoutePtr> below(std::string_view begin) const;
    RoutePtr on_port(std::uint16_t own_port) const;
    const std::map<std::uint16_t, std::string>& own_ports() const { return by_port_; }  // To names.
    // Both say how many routes had no room.
    std::size_t replace(std::vector<Route> all);
    std::size_t change(std::vector<Route> changed, const std::vector<std::string>& gone);

    const std::map<std::string, RoutePtr, std::less<>>& all() const { return routes_; }
    bool complete() const { return complete_; }  // A master has told us all of them at least once.

private:
    std::size_t routes_max_;
    bool complete_ = false;
    void erase(const std::string& name);
    std::map<std::string, RoutePtr, std::less<>> routes_;
    std::map<std::uint16_t, std::string> by_port_;
};

}  // namespace hostler::gateway
