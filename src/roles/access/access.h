// An access point: the entry of a zone for agents, and the way in for tunnels to their hosts.
#pragma once

#include "core/metrics.h"
#include "roles/access/control.h"
#include "roles/access/guard.h"
#include "roles/access/master_link.h"
#include "roles/access/ports.h"
#include "roles/access/relay.h"
#include "roles/access/remembered.h"
#include "roles/access/settings.h"
#include "roles/access/speeds.h"
#include "roles/access/tunnels.h"
#include "roles/access/uplink.h"

namespace hostler::access {

struct Counters {
    std::size_t sessions = 0;
    std::size_t tunnels_open = 0;
    TunnelCounters tunnels;
    std::size_t banned_addresses = 0;
    std::size_t banned_hosts = 0;
    std::uint64_t speeds_measured = 0, speeds_failed = 0;
};

class Access {
public:
    Access(Settings settings, Ports ports);

    // Serves until cancelled; then nothing of it is left. Errors: those of listening.
    Task<> run();
    // Takes nobody new, sends its agents elsewhere, and returns when the last tunnel has ended, or after
    // `patience`. run() goes on: cancel it then. Errors: cancelled.
    Task<> leave(Duration patience);
    Task<> ready();                                            // Returns when it listens. Errors: cancelled.
    const Addresses& addresses() const { return addresses_; }  // Once ready: with the ports that were picked.
    bool linked() const { return master_.linked(); }
    // Of the master that it obeys; 0: of none.
    std::uint64_t obeyed_epoch() const { return master_.obeyed_epoch(); }
    Counters counters() const;
    void write_metrics(MetricsPage& page) const;

private:
    Task<> serve();

    const Settings settings_;
    const Ports ports_;
    Remembered remembered_;
    Relay relay_;
    Guard guard_;  // By address.
    Tunnels tunnels_;
    Speeds speeds_;
    Uplink uplink_;
    Control control_;
    MasterLink master_;
    Addresses addresses_;
    std::vector<Listener*> listeners_;  // For those who are new: agents and gateways.
    bool listening_ = false;
    Signal changed_;
};

}  // namespace hostler::access
