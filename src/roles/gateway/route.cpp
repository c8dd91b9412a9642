#include "roles/gateway/route.h"

#include "core/result.h"

namespace hostler::gateway {

State state_of(std::string_view word) {
    if (word == "ready") return State::ready;
    if (word == "running") return State::running;
    if (word == "stopping") return State::stopping;
    if (word == "resting") return State::resting;
    if (word == "stopped") return State::stopped;
    if (word == "failed") return State::failed;
    if (word == "lost") return State::lost;
    return State::init;
}

std::string_view text_of(State state) {
    switch (state) {
        case State::init: return "init";
        case State::ready: return "ready";
        case State::running: return "running";
        case State::stopping: return "stopping";
        case State::resting: return "resting";
        case State::stopped: return "stopped";
        case State::failed: return "failed";
        case State::lost: return "lost";
    }
    broken("a state outside its enum", __FILE__, __LINE__);
}

RoutePtr RouteTable::find(std::string_view name) const {
    const auto found = routes_.find(name);
    return found == routes_.end() ? nullptr : found->second;
}

std::vector<RoutePtr> RouteTable::below(std::string_view begin) const {
    std::vector<RoutePtr> found;
    for (auto at = routes_.lower_bound(begin); at != routes_.end() && at->first.starts_with(begin); ++at)
        found.push_back(at->second);
    return found;
}

RoutePtr RouteTable::on_port(std::uint16_t own_port) const {
    const auto found = by_port_.find(own_port);
    return found == by_port_.end() ? nullptr : find(found->second);
}

std::size_t RouteTable::replace(std::vector<Route> all) {
    routes_.clear();
    by_port_.clear();
    complete_ = true;
    return change(std::move(all), {});
}

std::size_t RouteTable::change(std::vector<Route> changed, const std::vector<std::string>& gone) {
    for (const auto& name : gone) erase(name);
    std::size_t refused = 0;
    for (auto& route : changed) {
        const auto name = route.name;
        erase(name);
        if (routes_.size() >= routes_max_) {
            ++refused;
            continue;
        }
        route.pool_key = fmt::format("{}/{}/{}/{}", route.instance, route.generation, route.port, route.host);
        if (route.own_port != 0) by_port_[route.own_port] = name;
        routes_[name] = std::make_shared<const Route>(std::move(route));
    }
    return refused;
}

void RouteTable::erase(const std::string& name) {
    const auto found = routes_.find(name);
    if (found == routes_.end()) return;
    const auto port = by_port_.find(found->second->own_port);
    if (port != by_port_.end() && port->second == name) by_port_.erase(port);
    routes_.erase(found);
}

}  // namespace hostler::gateway
