#include "roles/master/http/watches.h"

#include <fmt/format.h>

namespace hostler::master {

WatchPlace::~WatchPlace() {
    if (!watches_) return;
    if (!tenant_.empty()) --watches_->tenants_;
    Watches::leave(watches_->of_, tenant_);
    Watches::leave(watches_->of_actors_, actor_);
}

std::size_t Watches::of(const Counts& counts, const std::string& name) {
    const auto row = counts.find(name);
    return row == counts.end() ? 0 : row->second;
}

void Watches::leave(Counts& counts, const std::string& name) {
    const auto row = counts.find(name);
    if (--row->second == 0) counts.erase(row);
}

Result<WatchPlace> Watches::enter(const Settings& settings, const api::Caller& caller) {
    const std::string lane = caller.lane();
    if (of(of_actors_, caller.actor) >= settings.watches_actor_max)
        return fail(Code::exhausted,
                    fmt::format("you watch {} times already; end one of these watches first",
                                settings.watches_actor_max),
                    "too_many_watches");
    if (of(of_, lane) >= settings.watches_tenant_max)
        return fail(
            Code::exhausted,
            fmt::format("{} watch already; end one of these watches first", settings.watches_tenant_max),
            "too_many_watches");
    if (!lane.empty() && tenants_ >= settings.watches_max)
        return fail(Code::unavailable, "too many watch at the moment", "overloaded");
    ++of_[lane];
    ++of_actors_[caller.actor];
    if (!lane.empty()) ++tenants_;
    return WatchPlace{*this, lane, caller.actor};
}

}  // namespace hostler::master
