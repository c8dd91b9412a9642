// The connection to the leading master: routes come by it, questions about credentials go by it. What is
// known stays known while no master is there.
#pragma once

#include <functional>

#include "core/signal.h"
#include "roles/gateway/ports.h"
#include "roles/gateway/route.h"
#include "roles/gateway/settings.h"
#include "roles/gateway/verdicts.h"

namespace hostler::uplink {
class Frame;
class EnterRequest;
class Routes;
}  // namespace hostler::uplink

namespace hostler::wire {
class Link;
}

namespace hostler::gateway {

class MasterLink {
public:
    // `changed`: the routes are other ones now.
    MasterLink(const Ports& ports, const Settings& settings, RouteTable& routes,
               std::function<void()> changed);

    Task<> run(std::string own_address);  // Until cancelled.
    bool linked() const { return link_ != nullptr; }
    const std::string& sign_in() const { return sign_in_; }  // URL; empty until a master has told it.

    struct Word {
        Verdict verdict;
        Duration valid{};
        std::string session{};  // After redeem().
    };
    // Errors: unavailable, timeout; what the master refused.
    Task<Word> authenticate(Question question);
    Task<Word> redeem(std::string code, std::string route);
    Task<> sign_out(std::string session, std::string route);

    struct Entered {
        RoutePtr route;  // Without a name and a port.
        std::string principal;
    };
    // Errors: as those; so for somebody who may not enter, too.
    Task<Entered> enter(std::shared_ptr<const uplink::EnterRequest> request);
    void tell(uplink::Frame frame);  // Unless no master is there.

private:
    Task<> once(std::string master, std::string own_address);
    Task<> learn(const uplink::Routes& news);
    Task<uplink::Frame> ask(uplink::Frame frame);
    Task<Word> ask_word(uplink::Frame frame);

    const Ports& ports_;
    const Settings& settings_;
    RouteTable& routes_;
    std::function<void()> changed_;
    std::uint64_t epoch_ = 0;
    std::string sign_in_;
    std::string leader_;  // Where the master that was dialled last says that it is.
    std::shared_ptr<wire::Link> link_;
};

}  // namespace hostler::gateway
