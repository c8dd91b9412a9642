// By what instances are found besides their ids.
#pragma once

#include <cstdint>

#include "domain/instance/instance.h"
#include "roles/master/state/index.h"

namespace hostler::master {

// What the sweep is to do about an instance, as far as its row says so.
enum class InstanceWork {
    reconcile,  // It is on its way somewhere, or its host still has to let it go.
    go_on,      // It rests since its host was drained, and goes on elsewhere as soon as it may.
    move,       // Its host is lost, and it may move.
};

template <>
struct Indexes<Instance> {
    Index<Instance> host, left_host, layer_host;  // Where it is or was last; what it left; what it wrote.
    Index<Instance> subnet;                       // Also those that it left.
    Index<Instance, OfTenant> resting;            // On its host.
    Index<Instance, OfTenant> name;               // Unless another has it by now.
    Index<Instance> shown_name;                   // Of any tenant; its id where another has its name.
    Index<Instance> tenant, spec, volume;
    Index<Instance, OfTenant> owner;  // Its kind, and its path; of its tenant, and of all ("").
    Index<Instance, std::uint32_t> port, ended_port;  // Of the gateway, those of its own.
    Index<Instance, std::int64_t> stops_at;  // The latest moment at which a rule without a host stops it.
    Index<Instance, InstanceWork> work;
    // Those that are over and hold nothing, by when they ended: for good, or so that they may be repaired.
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
