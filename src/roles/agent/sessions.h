// Terminals, commands, ports and files of instances, as a gateway's client uses them. A session outlives its
// connections for a while: who comes back finds it where it was.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/signal.h"
#include "core/task_group.h"
#include "http/conversation.h"
#include "ports/exec.h"
#include "roles/agent/activity.h"
#include "roles/agent/messages_fwd.h"
#include "roles/agent/settings.h"
#include "roles/agent/silent_ports.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {

class Sessions {
public:
    struct Session;
    using SessionPtr = std::shared_ptr<Session>;

    Sessions(const Settings& settings, const Ports& ports, const Workloads& workloads, Activity& activity);
    ~Sessions();

    // Begins what is wanted; of a session that is there already, by the same principal, gives that: so asking
    // twice begins it once. Errors: not_found (not_here, session_gone, path_not_found), forbidden,
    // unavailable (not_running, port_silent, port_loopback), exhausted (too_many_sessions), invalid.
    Task<SessionPtr> enter(uplink::TunnelOpen wanted);
    // The connection is the session's until it breaks.
    Task<> carry(SessionPtr session, StreamPtr stream);

    void instance_ended(const std::string& instance);  // Its sessions end, and say so.
    Task<> close();
    std::size_t size() const { return sessions_.size(); }

private:
    Result<const Workload*> running(const uplink::TunnelOpen& wanted) const;
    Result<> admit(const uplink::TunnelOpen& wanted) const;
    Task<> live(SessionPtr session, uplink::TunnelOpen wanted);
    Task<ProcessPtr> begin(const uplink::TunnelOpen& wanted);
    Task<ProcessPtr> dial_port(const uplink::TunnelOpen& wanted, const Workload& workload);
    Task<> put_out(SessionPtr session);
    Task<> take_in(SessionPtr session);
    Task<> repeat_end(SessionPtr session);
    Task<> watch(SessionPtr session);
    Task<> finish_off(SessionPtr session);

    const Settings& settings_;
    Ports ports_;
    const Workloads& workloads_;
    Activity& activity_;
    SilentPorts silent_;
    std::map<std::string, SessionPtr> sessions_;  // By id.
    TaskGroup tasks_;
};

}  // namespace hostler::agent
