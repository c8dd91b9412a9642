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
    bool checked = false;  // Our Credentials have an authority.
    std::string expect;    // As in Secure.
    WallTime now;
    std::string identity{};  // Out: who it is, once that is proven.
    std::string refusal{};   // Out: why not, as a sentence.
};

// One context per Credentials object and side: new Credentials (a renewal) get a new one, connections that
// live on keep theirs.
class TlsContexts {
public:
    // Errors: invalid: certificate, key or authority cannot be read or do not belong together.
    Result<ContextPtr> of(const std::shared_ptr<const Credentials>& own, Side side);

private:
    struct Entry {
        std::weak_ptr<const Credentials> of;
        ContextPtr context;
    };
    std::map<std::pair<const Credentials*, Side>, Entry> made_;
};

}  // namespace hostler::net
