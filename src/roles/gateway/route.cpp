#include "roles/gateway/route.h"

namespace hostler::gateway {

State state_of(std::string_view word) {
    if (word == "ready") return State::ready;
    if (word == "running") return State::running;
    if (word == "stopping") return State::stopping;
    if (word == "stopped") return State::stopped;
    if (word == "failed") return State::failed;
    if (word == "lost") return State::lost;
    return State::init;
}

RoutePtr RouteTable::find(std::string_view name) const {
    const auto found = routes_.find(name);
    return found == routes_.end() ? nullptr : found->second;
}

std::size_t RouteTable::replace(std::vector<Route> all) {
    routes_.clear();
    complete_ = true;
    return change(std::move(all), {});
}

std::size_t RouteTable::change(std::vector<Route> changed, const std::vector<std::string>& gone) {
    for (const auto& name : gone) routes_.erase(name);
    std::size_t refused = 0;
    for (auto& route : changed) {
        auto name = route.name;
        if (routes_.size() >= routes_max_ && !routes_.contains(name)) {
            ++refused;
            continue;
        }
        routes_[std::move(name)] = std::make_shared<const Route>(std::move(route));
    }
    return refused;
}

}  // namespace hostler::gateway
