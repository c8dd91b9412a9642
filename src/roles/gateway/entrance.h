// Into instances, for who has a key: terminals, commands, ports and files, each a WebSocket at the gateway's
// own address (docs/use/sessions.md). Never at an instance's origin, and never by a cookie. A page shows a
// one-time ticket in place of a key.
#pragma once

#include <list>
#include <map>

#include "core/rate.h"
#include "http/inlet.h"
#include "roles/gateway/gatekeeper.h"
#include "roles/gateway/master_link.h"
#include "roles/gateway/origin.h"
#include "roles/gateway/stays.h"
#include "roles/gateway/upstreams.h"

namespace hostler::gateway {

class Entrance {
public:
    using Dial = std::function<Task<StreamPtr>(RoutePtr, std::shared_ptr<const uplink::TunnelOpen>)>;
    Entrance(const Ports& ports, const Settings& settings, MasterLink& master, Gatekeeper& keeper, Dial dial);

    static bool is_here(std::string_view target);
    static constexpr std::size_t sessions_known_max = 10'000;
    std::size_t sessions_known() const { return known_.size(); }
    // Cuts all that is carried: clients come back elsewhere, and go on where they were. Nobody new comes in.
    void leave();
    // One request to its end: refused with problem details, or carried until either side ends it.
    Task<> serve(http::Inlet& inlet, const HostPort& host, std::string client, std::string_view scheme);

private:
    struct Asked;
    struct Known {
        std::string credential;
        std::string address;
        std::string origin;
        std::string kind;
        MasterLink::Entered entered;
        Question by;      // What it stands on.
        Instant since{};  // When a master let it in.
    };
    Result<std::shared_ptr<Asked>> read(const http::RequestHead& head, const HostPort& host,
                                        std::string client, std::string_view scheme);
    Task<MasterLink::Entered> admit(const Asked& asked);
    static Question stands_on(const Asked& asked, const MasterLink::Entered& entered);
    bool may_return(const Known& known, const Asked& asked) const;
    void keep(const Asked& asked, MasterLink::Entered entered);
    Task<> carry(http::Inlet& inlet, const Asked& asked, const MasterLink::Entered& entered, StreamPtr tunnel,
                 Stays::Stay& stay);
    void forget(const std::string& session);

    const Ports& ports_;
    const Settings& settings_;
    MasterLink& master_;
    Gatekeeper& keeper_;
    const Dial dial_;
    Rates questions_;
    std::map<std::string, Known> known_;  // By session: it may come back while no master answers.
    std::list<std::string> known_order_;
    std::set<Stream*> carried_;  // Clients' ends.
    bool leaving_ = false;
};

}  // namespace hostler::gateway
