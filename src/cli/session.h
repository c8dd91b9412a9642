// Sessions with instances, through the gateway: what terminals, commands, forwarded ports and copies stand
// on.
#pragma once

#include "cli/client.h"
#include "http/conversation.h"

namespace hostler::cli {

// Where an instance's gateway is, and who asks there.
struct Way {
    Base gateway;
    std::string key;
    std::string instance;
    std::string tenant;  // Empty: the key's own.
};
// Asks the API. Errors: as the API's; unavailable (no gateway is known).
Task<Way> way_to(ApiClient& client, const Connection& connection, std::string instance, std::string tenant);

// One session. It outlives its connections: when one breaks, another is dialled for a minute.
class Session {
public:
    // `query`: what is asked for, as docs/use/sessions.md names it.
    Session(CliWorld& world, const Way& way, std::string kind, api::Params query);
    ~Session();

    Task<> open();  // Errors: as the gateway and the host tell them.
    http::Conversation& talk() { return talk_; }
    // Keeps it connected, once open, until finish(). Errors: why it was given up.
    Task<> keep();
    void finish() { talk_.close(); }
    // The other side's next message, or why there will be none.
    Task<http::Message> receive();

private:
    Task<StreamPtr> dial(bool resume);
    Task<StreamPtr> dial_again();

    CliWorld& world_;
    const Way way_;
    const std::string kind_;
    const api::Params query_;
    const std::string id_;
    http::Client client_;
    http::Conversation talk_;
    StreamPtr stream_;  // Between open() and keep().
    std::optional<Error> given_up_;
};

}  // namespace hostler::cli
