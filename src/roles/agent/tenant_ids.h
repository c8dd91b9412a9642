// Which users of the host each tenant's containers have.
#pragma once

#include <map>
#include <set>
#include <string>

#include "ports/engine.h"
#include "ports/journal.h"

namespace hostler::agent {

// Where the engine gives the choice, each tenant has a range of its own, and keeps it for as long as this
// host belongs to the cloud: what one tenant's containers leave on the host is never another's.
class TenantIds {
public:
    explicit TenantIds(Journal& journal) : journal_(journal) {}

    // The answer holds over a crash. Errors: those of Journal::put().
    Task<IdRange> of(std::string tenant, EngineFacts engine);

    // Between what systemd gives to containers and where numbers become negative to careless programs: nobody
    // else takes users there.
    static constexpr std::uint32_t first = 0x70000000;
    // Beyond so many tenants, over the life of a host, some share a range.
    static constexpr std::uint32_t tenants_max = 4096;

private:
    Task<IdRange> choose(std::string tenant);
    void load();

    Journal& journal_;
    bool loaded_ = false;
    std::map<std::string, std::uint32_t> numbers_;  // By tenant.
    std::set<std::uint32_t> used_;
};

}  // namespace hostler::agent
