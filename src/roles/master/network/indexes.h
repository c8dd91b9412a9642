// Indexes of networks and subnets.
#pragma once

#include <cstdint>

#include "domain/network/network.h"
#include "roles/master/state/index.h"

namespace hostler::master {

enum class SubnetWork { remove, see_if_still_foreign };

template <>
struct Indexes<Subnet> {
    Index<Subnet, OfProject> place;  // The tenant, the project and the host.
    Index<Subnet> host, network;
    Index<Subnet, std::uint32_t> number;
    Index<Subnet, SubnetWork> work;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.place), visit(self.host), visit(self.network), visit(self.number), visit(self.work);
    }
};

template <>
struct Indexes<Network> {
    Index<Network> tenant, name;
    Index<Network, OfTenant> project;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.tenant), visit(self.name), visit(self.project); }
};

}  // namespace hostler::master
