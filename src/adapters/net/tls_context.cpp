#include "adapters/net/tls_context.h"

#include <openssl/err.h>

#include "adapters/net/web_trust.h"

namespace hostler::net {

namespace {

constexpr const char* own_cipher_suites =
    "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384";

std::string describe(X509_STORE_CTX& chain, const PeerCheck& peer) {
    X509* leaf = X509_STORE_CTX_get0_cert(&chain);
    const auto identity = identity_of(*leaf);
    const std::string who = identity ? identity->text() : "the peer";
    const int error = X509_STORE_CTX_get_error(&chain);
    switch (error) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return fmt::format("the certificate of {} expired at {} (now: {}); renew it", who,
                               rfc3339(wall_of(*X509_get0_notAfter(X509_STORE_CTX_get_current_cert(&chain)))),
                               rfc3339(peer.now));
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return fmt::format(
                "the certificate of {} is not valid before {} (now: {}); check both clocks", who,
                rfc3339(wall_of(*X509_get0_notBefore(X509_STORE_CTX_get_current_cert(&chain)))),
                rfc3339(peer.now));
        default:
            if (of_unknown_authority(error))
                return fmt::format("the certificate of {} is not signed by our authority", who);
            return fmt::format("the certificate of {} is refused: {}", who,
                               X509_verify_cert_error_string(error));
    }
}

bool fits(const std::string& expect, const std::string& identity) {
    return expect.empty() || (expect.ends_with('/') ? identity.starts_with(expect) : identity == expect);
}

PeerCheck& check_of(X509_STORE_CTX* chain) {
    const auto* ssl =
        static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
    return *static_cast<PeerCheck*>(SSL_get_app_data(ssl));
}

// Of all that may be wrong only this is let pass: that the peer's own certificate has expired, within its
// grace.
int excuse(int good, X509_STORE_CTX* chain) {
    if (good == 1 || X509_STORE_CTX_get_error(chain) != X509_V_ERR_CERT_HAS_EXPIRED ||
        X509_STORE_CTX_get_error_depth(chain) != 0)
        return good;
    PeerCheck& peer = check_of(chain);
    const auto ends = wall_of(*X509_get0_notAfter(X509_STORE_CTX_get0_cert(chain)));
    if (peer.now > ends + std::chrono::floor<std::chrono::microseconds>(peer.grace)) return 0;
    peer.expired = true;
    X509_STORE_CTX_set_error(chain, X509_V_OK);
    return 1;
}

// Runs in the middle of the handshake, so that a peer that we refuse hears it and gets nothing else from us.
int judge(X509_STORE_CTX* chain, void*) {
    PeerCheck& peer = check_of(chain);
    if (!peer.checked) return 1;
    X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(chain),
                               std::chrono::floor<std::chrono::seconds>(peer.now).time_since_epoch().count());
    if (!peer.web && peer.grace > Duration{0}) X509_STORE_CTX_set_verify_cb(chain, excuse);
    if (X509_verify_cert(chain) != 1) {
        if (peer.web)
            explain_web_refusal(*chain, peer);
        else
            peer.refusal = describe(*chain, peer);
        return 0;
    }
    if (peer.web) {  // The name was part of the check.
        peer.identity = peer.expect;
        return 1;
    }
    const auto identity = identity_of(*X509_STORE_CTX_get0_cert(chain));
    if (!identity)
        peer.refusal = identity.error().message;
    else if (!fits(peer.expect, identity->text()))
        peer.refusal = fmt::format("expected {} but it is {}", peer.expect, identity->text());
    if (!peer.refusal.empty()) {
        X509_STORE_CTX_set_error(chain, X509_V_ERR_CERT_REJECTED);
        return 0;
    }
    peer.identity = identity->text();
    return 1;
}

Result<> add_own(SSL_CTX& context, const Credentials& own) {
    auto chain = TRY(parse_certificates(own.certificate));
    const auto key = TRY(parse_key(own.key));
    if (SSL_CTX_use_certificate(&context, chain.front().get()) != 1 ||
        SSL_CTX_use_PrivateKey(&context, key.get()) != 1)
        return fail(Code::invalid,
                    fmt::format("our certificate and key do not go together: {}", ssl_words()));
    for (std::size_t i = 1; i < chain.size(); ++i) SSL_CTX_add1_chain_cert(&context, chain[i].get());
    return {};
}

Result<> add_authority(SSL_CTX& context, const Credentials& own) {
    const auto roots = TRY(parse_certificates(own.authority));
    X509_STORE* store = SSL_CTX_get_cert_store(&context);
    for (const auto& root : roots) X509_STORE_add_cert(store, root.get());
    X509_STORE_set_flags(store,
                         X509_V_FLAG_PARTIAL_CHAIN);  // What we are told to believe need not be a root.
    return {};
}

Result<ContextPtr> make_context(const Credentials* own, Side side) {
    constexpr int chain_depth_max = 3;
    ContextPtr context{SSL_CTX_new(side == Side::client ? TLS_client_method() : TLS_server_method()),
                       SSL_CTX_free};
    HOSTLER_ASSERT(context != nullptr);
    SSL_CTX* raw = context.get();
    SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION);
    SSL_CTX_set_max_proto_version(raw, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(raw, own_cipher_suites);
    SSL_CTX_set1_groups_list(raw, "X25519:P-256");
    // Every connection is a full handshake: a resumed one would not look at the certificate again.
    SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(raw, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(raw, 0);
    SSL_CTX_set_mode(
        raw, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                 SSL_MODE_NO_AUTO_CHAIN);  // The peer knows the authority; it need not keep a copy.
    SSL_CTX_set_read_ahead(raw, 1);        // A record is one read instead of two.
    SSL_CTX_set_verify_depth(raw, chain_depth_max);
    SSL_CTX_set_cert_verify_callback(raw, judge, nullptr);
    if (own != nullptr && !own->certificate.empty())
        TRY(add_own(*raw, *own));
    else if (side == Side::server)
        return fail(Code::invalid, "the server's end of TLS needs a certificate and a key");
    if (own != nullptr && !own->authority.empty()) TRY(add_authority(*raw, *own));
    return context;
}

// Whatever is offered besides: HTTP/1.1 is what we speak.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void*) {
    static constexpr unsigned char ours[] = "\x08http/1.1";
    unsigned char* found = nullptr;
    const int result = SSL_select_next_proto(&found, size, ours, sizeof ours - 1, offered, offered_size);
    *chosen = found;
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

// For browsers and programs of any make. Ciphers: those of RFC 9325 section 4.2, all with forward secrecy.
Result<ContextPtr> make_web_server_context(const Credentials* own) {
    ContextPtr context{SSL_CTX_new(TLS_server_method()), SSL_CTX_free};
    HOSTLER_ASSERT(context != nullptr);
    SSL_CTX* raw = context.get();
    SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(raw,
                            "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
                            "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
                            "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384");
    SSL_CTX_set_ciphersuites(raw, own_cipher_suites);
    SSL_CTX_set1_groups_list(raw, "X25519:P-256:P-384");
    SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // Tickets spare a browser's next connection the certificate; nothing of them is kept here.
    SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_read_ahead(raw, 1);
    SSL_CTX_set_alpn_select_cb(raw, choose_protocol, nullptr);
    if (own == nullptr || own->certificate.empty())
        return fail(Code::invalid, "the server's end of TLS needs a certificate and a key");
    TRY(add_own(*raw, *own));
    return context;
}

Result<ContextPtr> make_context(const Credentials* own, Peers peers) {
    switch (peers) {
        case Peers::clients: return make_context(own, Side::server);
        case Peers::servers: return make_context(own, Side::client);
        case Peers::web_clients: return make_web_server_context(own);
        case Peers::web_servers: {
            auto context = TRY(make_web_context(own));
            SSL_CTX_set_cert_verify_callback(context.get(), judge, nullptr);
            if (own != nullptr && !own->certificate.empty()) TRY(add_own(*context, *own));
            return context;
        }
    }
    broken("peers outside their enum", __FILE__, __LINE__);
}

}  // namespace

Result<ContextPtr> TlsContexts::of(const std::shared_ptr<const Credentials>& own, Peers peers) {
    const auto found = made_.find({own.get(), peers});
    if (found != made_.end() && found->second.of.lock() == own) return found->second.context;
    std::erase_if(made_, [](const auto& entry) { return entry.second.of.expired(); });
    auto context = TRY(make_context(own.get(), peers));
    if (own) made_.insert_or_assign({own.get(), peers}, Entry{own, context});
    return context;
}

}  // namespace hostler::net
