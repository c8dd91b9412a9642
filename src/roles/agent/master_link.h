// What agent and master say to each other: TLS from end to end, inside the connection to an access point,
// which can pass it on or not, and nothing else.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/signal.h"
#include "roles/agent/messages_fwd.h"
#include "roles/agent/settings.h"
#include "wire/channel.h"
#include "wire/link.h"

namespace hostler::agent {

// Of one connection. Whoever waits in it holds it: it may end meanwhile.
class MasterLink {
public:
    MasterLink(const Ports& ports, wire::Link& access) : ports_(ports), access_(access) {}
    ~MasterLink() { end(); }
    MasterLink(const MasterLink&) = delete;

    // What the access point passes on. An invitation ends what was said before: another master leads, or this
    // one has forgotten us. feed() waits while we read too slowly.
    void invite(const uplink::Invite& invitation);
    Task<> feed(uplink::Sealed sealed);

    // Waits for an invitation that was not used, and gives the authority that it names (unproven). Errors:
    // timeout; unavailable: the connection has ended.
    static Task<std::string> invitation(std::shared_ptr<MasterLink> self, Duration deadline);
    // Uses it: TLS as `who`, with a master of their authority. Errors: as Net::secure().
    static Task<std::shared_ptr<wire::Link>> open(std::shared_ptr<MasterLink> self,
                                                  std::shared_ptr<const Credentials> who, Duration deadline);

    // Null or closed: nothing can be said at the moment.
    const std::shared_ptr<wire::Link>& link() const { return link_; }
    bool speaks() const { return link_ && !link_->closed(); }
    // Ends what is said, and lets the master know, so that it may invite again.
    void hang_up();
    void end();  // With the connection, which may go when this returns.

private:
    void drop(const std::string& why);

    const Ports& ports_;
    wire::Link& access_;
    bool ended_ = false;
    std::optional<std::uint64_t> invited_;  // To this channel; not used yet.
    std::string authority_;
    std::uint64_t number_ = 0;  // Of the channel.
    std::unique_ptr<wire::Channel> channel_;
    std::shared_ptr<wire::Link> link_;
    Signal changed_;
};

}  // namespace hostler::agent
