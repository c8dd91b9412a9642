#include "roles/master/http/watches.h"

#include <fmt/format.h>

namespace hostler::master {

WatchPlace::~WatchPlace() {
    if (!watches_) return;
    if (!tenant_.empty()) --watches_->tenants_;
    const auto row = watches_->of_.find(tenant_);
    if (--row->second == 0) watches_->of_.erase(row);
}

std::size_t Watches::of(const std::string& tenant) const {
    const auto row = of_.find(tenant);
    return row == of_.end() ? 0 : row->second;
}

Result<WatchPlace> Watches::enter(const Settings& settings, const api::Caller& caller) {
    const std::string lane = caller.lane();
    if (of(lane) >= settings.watches_tenant_max)
        return fail(
            Code::exhausted,
            fmt::format("{} watch already; end one of these watches first", settings.watches_tenant_max),
            "too_many_watches");
    if (!lane.empty() && tenants_ >= settings.watches_max)
        return fail(Code::unavailable, "too many watch at the moment", "overloaded");
    ++of_[lane];
    if (!lane.empty()) ++tenants_;
    return WatchPlace{*this, lane};
}

}  // namespace hostler::master
