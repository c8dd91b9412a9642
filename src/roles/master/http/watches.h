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
        : watches_(std::exchange(other.watches_, nullptr)),
          tenant_(std::move(other.tenant_)),
          actor_(std::move(other.actor_)) {}
    WatchPlace& operator=(WatchPlace&&) = delete;
    ~WatchPlace();

private:
    friend class Watches;
    WatchPlace(Watches& watches, std::string tenant, std::string actor)
        : watches_(&watches), tenant_(std::move(tenant)), actor_(std::move(actor)) {}
    Watches* watches_;
    std::string tenant_, actor_;
};

class Watches {
public:
    // Errors: exhausted (too_many_watches: of this caller, of its tenant, or of operators), unavailable
    // (overloaded: of all tenants).
    Result<WatchPlace> enter(const Settings& settings, const api::Caller& caller);
    std::size_t tenants() const { return tenants_; }
    std::size_t operators() const { return of(of_, {}); }

private:
    friend class WatchPlace;
    using Counts = std::map<std::string, std::size_t>;
    static std::size_t of(const Counts& counts, const std::string& name);
    static void leave(Counts& counts, const std::string& name);
    Counts of_;         // By tenant; "": operators.
    Counts of_actors_;  // By caller.
    std::size_t tenants_ = 0;
};

}  // namespace hostler::master
