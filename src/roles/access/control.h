// Where gateways ask for tunnels to hosts.
#pragma once

#include "core/task_group.h"
#include "roles/access/ports.h"
#include "roles/access/relay.h"
#include "roles/access/remembered.h"
#include "roles/access/settings.h"
#include "roles/access/tunnels.h"

namespace hostler::wire {
class Link;
}

namespace hostler::access {

class Control {
public:
    Control(const Ports& ports, const Settings& settings, Relay& relay, Tunnels& tunnels);

    Task<> serve(Listener& listener,
                 std::string tunnel_address);  // Until cancelled; await close() afterwards.
    Task<> close() { return tasks_.close(); }
    std::size_t gateways() const { return gateways_; }

private:
    Task<> gateway(StreamPtr raw);
    // Errors: not_found: the host has no session here; exhausted.
    Result<std::string> ticket(const std::string& host);

    const Ports& ports_;
    const Settings& settings_;
    Relay& relay_;
    Tunnels& tunnels_;
    std::string tunnel_address_;
    std::size_t gateways_ = 0;
    TaskGroup tasks_;
};

}  // namespace hostler::access
