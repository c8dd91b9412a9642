// Whom we believe: OpenSSL's contexts made from Credentials, and the judgement on a peer's certificate.
#pragma once

#include <map>
#include <memory>

#include "adapters/net/certificate.h"
#include "core/stream.h"

namespace hostler::net {

using ContextPtr = std::shared_ptr<SSL_CTX>;

// The judgement of one handshake; in reach of OpenSSL's callback by SSL_set_app_data.
struct PeerCheck {
    bool checked = false;  // We have an authority to believe.
    std::string expect;    // As in Secure.
    bool web = false;      // It names a web server (web_trust.h).
    bool older = false;    // TLS 1.2 does, too.
    WallTime now;
    Duration grace{};        // As in Secure.
    bool expired = false;    // Out: its time is over, and it is let in by that grace.
    std::string identity{};  // Out: who it is, once that is proven.
    std::string refusal{};   // Out: why not, as a sentence,
    std::string reason{};    // and as a token, of a web server.
};

enum class Peers { clients, servers, web_clients, web_servers };

// One context per Credentials object and kind of peer: new Credentials (a renewal) get a new one, connections
// that live on keep theirs.
class TlsContexts {
public:
    // Errors: invalid: certificate, key or authority cannot be read or do not belong together.
    Result<ContextPtr> of(const std::shared_ptr<const Credentials>& own, Peers peers);

private:
    struct Entry {
        std::weak_ptr<const Credentials> of;
        ContextPtr context;
    };
    std::map<std::pair<const Credentials*, Peers>, Entry> made_;
};

}  // namespace hostler::net
