// The leases of this host's workloads: granted by a master with a start, renewed with its answers to our
// reports, and watched over by a supervisor that outlives us.
#pragma once

#include <map>
#include <string>

#include "core/signal.h"
#include "roles/agent/messages_fwd.h"
#include "roles/agent/settings.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {

class Leases {
public:
    explicit Leases(const Ports& ports) : ports_(ports) {}

    // Those of before, once the boot is known. Errors: unavailable.
    Task<> load(std::string boot);
    // Whether this host can take any.
    bool kept() const { return ports_.leases && !boot_.empty(); }
    std::uint64_t stamp_us() const;  // Of what is said now.

    // Durable, and a supervisor watches over it, when it returns. Errors: conflict (lease_ended: it has run
    // out by now, or was granted in another boot), unavailable.
    Task<> hold(std::string instance, std::uint64_t generation, uplink::Lease granted);
    // A master goes on counting on these; `epoch` is the highest that this host has obeyed.
    Task<> renew(uplink::ReportAck ack, std::uint64_t epoch);
    // There is one, and it has not run out.
    bool holds(const std::string& instance, std::uint64_t generation) const;
    // There was one, and it has run out.
    bool ended(const std::string& instance, std::uint64_t generation) const;
    // Nothing of it is here any more.
    Task<> drop(std::string instance);

    // Each second: a supervisor is there, and what has run out and is gone is forgotten. `busy`: a command
    // for it is under way.
    Task<> look(const Workloads& workloads, const std::function<bool(const std::string&)>& busy);

private:
    Task<> write();
    Task<> await_supervisor(std::string instance, std::uint64_t generation);
    // What the supervisor goes by: the lease as it was last written.
    const RunLease& enforced(const RunLease& lease) const;
    // The supervisor has stopped what runs under it, or may do so before a renewal is durable.
    bool is_too_late_for(const RunLease& lease) const;

    const Ports& ports_;
    std::string boot_;
    std::map<std::string, RunLease> held_;     // By instance.
    std::map<std::string, RunLease> durable_;  // By instance, as last written.
    std::uint64_t wanted_ = 0;                 // Counts changes of `held_`,
    std::uint64_t written_ = 0;                // and up to which they are durable.
    bool writing_ = false;
    Signal wrote_;
};

}  // namespace hostler::agent
