// Where agents dial: who is let in, how fast each may speak, and that a silent, slow or rude one harms only
// itself.
#pragma once

#include "core/rate.h"
#include "core/task_group.h"
#include "roles/access/guard.h"
#include "roles/access/ports.h"
#include "roles/access/relay.h"
#include "roles/access/remembered.h"
#include "roles/access/settings.h"

namespace hostler::access {

class Uplink {
public:
    // `guard` counts the faults of addresses, here and at the other ports.
    Uplink(const Ports& ports, const Settings& settings, const Remembered& remembered, Relay& relay,
           Guard& guard);

    Task<> serve(Listener& listener);  // Until cancelled; await close() afterwards.
    Task<> close();
    void say_goodbye();  // To all agents: they go elsewhere. Who does not is cut off by and by.
    std::size_t handshakes() const { return handshakes_; }
    std::size_t visits() const { return visits_; }  // Of hosts that join or renew.
    std::size_t banned_hosts() const { return hosts_.banned_now(ports_.timers.now()); }

private:
    bool refused(const std::string& address);
    bool welcome(const std::string& host);
    void blame(const std::string& host, const Error& error);
    Task<> greet(StreamPtr raw);
    Task<> session(StreamPtr stream, std::string host);
    Task<> read_up(Stream& stream, SessionPtr session, std::size_t bytes_max);
    Task<> write_down(Stream& stream, SessionPtr session);
    Task<> say(Stream& stream, std::string_view frame);
    Result<bool> is_for_master(Session& session, std::string_view frame);
    Task<> visit(StreamPtr stream);
    Task<> watch();

    const Ports& ports_;
    const Settings& settings_;
    const Remembered& remembered_;
    Relay& relay_;
    std::size_t handshakes_ = 0;
    std::size_t visits_ = 0;
    Rates join_rates_;
    Guard& guard_;
    Guard hosts_;          // By host: what it sends,
    Rates host_sessions_;  // and how often it comes.
    Rates trickle_;        // By banned address.
    TaskGroup tasks_;
};

}  // namespace hostler::access
