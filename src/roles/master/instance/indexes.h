// Indexes of instances.
#pragma once

#include <cstdint>

#include "domain/instance/instance.h"
#include "roles/master/state/index.h"

namespace hostler::master {

// Work of the sweep on an instance, as far as its row tells.
enum class InstanceWork {
    reconcile,  // It is starting or ending, or still holds resources.
    go_on,      // A drain stopped it; it restarts elsewhere when it can.
    move,       // Its host is lost, and it may move.
};

template <>
struct Indexes<Instance> {
    Index<Instance> host, left_host, layer_host;  // Current or last; with remains; with its files.
    Index<Instance> subnet;                       // Also those that it left.
    Index<Instance, OfTenant> resting;            // On its host.
    Index<Instance, OfTenant> name;               // Unless another has it by now.
    Index<Instance> shown_name;                   // Of any tenant; its id where another has its name.
    Index<Instance> tenant, spec, volume;
    Index<Instance, OfTenant> owner;  // By kind and by path, with its tenant and with "" (all tenants).
    Index<Instance, std::uint32_t> port, ended_port;  // Ports of the gateway that are its own.
    Index<Instance, std::int64_t> stops_at;  // The latest moment at which a rule without a host stops it.
    Index<Instance, InstanceWork> work;
    // Ended instances that hold nothing, by their end: final ones, and ones that can be repaired.
    Index<Instance, std::int64_t> ended, repairable;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.host), visit(self.left_host), visit(self.layer_host), visit(self.subnet);
        visit(self.resting), visit(self.name), visit(self.shown_name), visit(self.tenant);
        visit(self.spec), visit(self.volume), visit(self.owner), visit(self.port), visit(self.ended_port);
        visit(self.stops_at), visit(self.work);
        visit(self.ended), visit(self.repairable);
    }
};

}  // namespace hostler::master
