// The connection to the leading master: routes come by it, questions about credentials go by it. What is
// known stays known while no master is there.
#pragma once

#include <functional>

#include "core/signal.h"
#include "roles/gateway/ports.h"
#include "roles/gateway/remembered_routes.h"
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
    // `changed`: the routes are other ones now. `ended`: what stood on these marks opens nothing any more.
    MasterLink(const Ports& ports, const Settings& settings, RouteTable& routes,
               std::function<void()> changed, std::function<void(std::vector<std::string>)> ended);

    Task<> run(std::string own_address);             // Until cancelled.
    Task<> remember() { return remembered_.run(); }  // The routes, on disk. Until cancelled.
    bool linked() const { return link_ != nullptr; }
    std::uint64_t routes_epoch() const { return routes_epoch_; }  // In which they were told; 0: not yet.
    std::uint64_t came() const { return came_; }                  // Masters, one after the other.
    bool told() const { return came_ > 0; }  // A master has told all routes since the start.
    // Counts the masters that came. Waits for another one than the `seen`th.
    Task<std::uint64_t> linked_after(std::uint64_t seen);
    Task<> linked_after(std::uint64_t seen, Duration at_most);  // Or when so long has passed.
    const std::string& sign_in() const { return sign_in_; }     // URL; empty until a master has told it.

    struct Word {
        Verdict verdict;
        Duration valid{};
        std::string session{};  // After redeem().
        std::vector<std::string> marks{};
        std::optional<Duration> ends{};
        bool by_address = false;  // It is about the asked address alone.
    };
    // Errors: unavailable, timeout; what the master refused.
    Task<Word> authenticate(Question question);
    Task<Word> redeem(std::string code, std::string route);
    Task<> sign_out(std::string session, std::string route);

    struct Entered {
        RoutePtr route;  // Without a name and a port.
        std::string principal;
        bool by_address = false;  // The credential is for some addresses.
        std::string mark{};       // With a ticket: what the session stands on.
    };
    // Errors: as those; so for somebody who may not enter, too.
    Task<Entered> enter(std::shared_ptr<const uplink::EnterRequest> request);
    Task<std::vector<std::string>> over_among(std::vector<std::string> marks);
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
    std::function<void(std::vector<std::string>)> ended_;
    RememberedRoutes remembered_;
    std::uint64_t came_ = 0;
    Signal came_changed_;
    std::uint64_t epoch_ = 0;
    std::uint64_t routes_epoch_ = 0;
    std::string sign_in_;
    std::string leader_;  // Where the master that was dialled last says that it is.
    std::shared_ptr<wire::Link> link_;
};

}  // namespace hostler::gateway
