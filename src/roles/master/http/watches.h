// How many watch the API at once, and who may be one more.
#pragma once

#include <map>

#include "api/handlers.h"
#include "roles/master/state/settings.h"

namespace hostler::master {

class Watches;

// Counts as one as long as it lives.
class WatchPlace {
public:
    WatchPlace(WatchPlace&& other) noexcept
        : watches_(std::exchange(other.watches_, nullptr)), tenant_(std::move(other.tenant_)) {}
    WatchPlace& operator=(WatchPlace&&) = delete;
    ~WatchPlace();

private:
    friend class Watches;
    WatchPlace(Watches& watches, std::string tenant) : watches_(&watches), tenant_(std::move(tenant)) {}
    Watches* watches_;
    std::string tenant_;
};

class Watches {
public:
    // Errors: exhausted (too_many_watches: of this tenant, or of operators), unavailable (overloaded: of all
    // tenants).
    Result<WatchPlace> enter(const Settings& settings, const api::Caller& caller);
    std::size_t tenants() const { return tenants_; }
    std::size_t operators() const { return of({}); }

private:
    friend class WatchPlace;
    std::size_t of(const std::string& tenant) const;
    std::map<std::string, std::size_t> of_;  // By tenant; "": operators.
    std::size_t tenants_ = 0;
};

}  // namespace hostler::master
