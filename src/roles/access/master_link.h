// The one connection to the leading master: kept for ever, told of every session, obeyed unless its epoch is
// old.
#pragma once

#include <functional>

#include "roles/access/ports.h"
#include "roles/access/relay.h"
#include "roles/access/remembered.h"
#include "roles/access/settings.h"
#include "roles/access/speeds.h"

namespace hostler::uplink {
class Frame;
class CutOff;
class AccessWelcome;
}  // namespace hostler::uplink

namespace hostler::wire {
class Link;
}

namespace hostler::access {

// Where others reach this access point.
struct Addresses {
    std::string uplink;
    std::string tunnel;
    std::string control;
};

// What the operator sees of it.
struct AccessStatus {
    std::size_t tunnels = 0;
    std::size_t banned = 0;
    bool operator==(const AccessStatus&) const = default;
};

class MasterLink {
public:
    // `cut`: ends everything of a host that does not go through the relay.
    MasterLink(const Ports& ports, const Settings& settings, Remembered& remembered, Relay& relay,
               Speeds& speeds, std::function<void(std::string_view host)> cut, std::function<AccessStatus()> status);

    Task<> run(Addresses addresses);  // Until cancelled.
    bool linked() const { return linked_; }
    std::uint64_t obeyed_epoch() const { return obeyed_; }  // Of the master that it is linked to; 0: to none.
    const std::string& zone() const { return zone_; }

private:
    Task<> once(std::string master, Addresses addresses);
    Task<> welcome(const uplink::AccessWelcome& welcome);
    Task<> tell(wire::Link& link);
    Task<> tell_status(wire::Link& link);
    Task<> write_down();
    Task<> remember();
    Task<> answer_speed(wire::Link& link, uplink::Frame asked);
    Task<> obey(uplink::Frame frame);
    Task<> cut_off(const uplink::CutOff& order);

    const Ports& ports_;
    const Settings& settings_;
    Remembered& remembered_;
    Relay& relay_;
    Speeds& speeds_;
    std::function<void(std::string_view)> cut_;
    std::function<AccessStatus()> status_;
    bool linked_ = false;
    std::uint64_t obeyed_ = 0;
    std::size_t asked_ = 0;  // For the speed of a way.
    std::string leader_;  // Where the master that was dialled last says that it is.
    std::string zone_;
};

}  // namespace hostler::access
