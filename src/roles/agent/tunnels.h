// Ways for a gateway into containers, and to the API servers of clusters.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/task_group.h"
#include "roles/agent/activity.h"
#include "roles/agent/identity.h"
#include "roles/agent/messages_fwd.h"
#include "roles/agent/sessions.h"
#include "roles/agent/silent_ports.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {

class Tunnels {
public:
    Tunnels(const Settings& settings, const Ports& ports, const MemberBook& member,
            const Workloads& workloads, Activity& activity, Sessions& sessions);
    ~Tunnels();

    void open(uplink::TunnelOrder order);         // Never waits.
    void close_all(const std::string& instance);  // It stops.
    Task<> close();
    std::size_t size() const { return open_.size(); }

private:
    struct Open {
        std::string instance;  // Or cluster; empty: nobody has said yet.
        Stream* outer = nullptr;
        Stream* inner = nullptr;
        void close() const;
    };
    Task<> carry(uplink::TunnelOrder order);
    Task<StreamPtr> meet(const uplink::TunnelOrder& order, Open& mine);
    Task<StreamPtr> reach(const uplink::TunnelOpen& wanted, Open& mine);
    Task<StreamPtr> reach_instance(const uplink::TunnelOpen& wanted, Open& mine);
    Task<StreamPtr> reach_cluster(const uplink::TunnelOpen& wanted, Open& mine);
    Result<> count_one_more(const std::string& what, const std::string& id, Open& mine) const;

    const Settings& settings_;
    Ports ports_;
    const MemberBook& member_;
    const Workloads& workloads_;
    Activity& activity_;
    Sessions& sessions_;
    SilentPorts silent_;
    std::uint64_t last_ = 0;
    std::map<std::uint64_t, Open> open_;
    TaskGroup tasks_;
};

}  // namespace hostler::agent
