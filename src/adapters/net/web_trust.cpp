#include "adapters/net/web_trust.h"

#include <arpa/inet.h>
#include <openssl/err.h>

namespace hostler::net {

namespace {

constexpr int chain_depth_max = 10;

// Names that are said back to people; the rest of a certificate with hundreds is left out.
constexpr std::size_t names_shown_max = 5;

std::string_view text_of(const ASN1_STRING& string) {
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(&string)),
            static_cast<std::size_t>(ASN1_STRING_length(&string))};
}

std::string address_text(std::string_view bytes) {
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
    return text;
}

// Whom the certificate is for: its alternative names, by which alone servers are known today.
std::string names_of(X509& certificate) {
    const NamesPtr names{
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr))};
    std::vector<std::string> shown;
    const int count = names ? sk_GENERAL_NAME_num(names.get()) : 0;
    for (int i = 0; i < count; ++i) {
        const GENERAL_NAME& name = *sk_GENERAL_NAME_value(names.get(), i);
        if (shown.size() == names_shown_max) {
            shown.emplace_back("…");
            break;
        }
        if (name.type == GEN_DNS) shown.emplace_back(text_of(*name.d.dNSName));
        if (name.type == GEN_IPADD) {
            const std::string_view bytes = text_of(*name.d.iPAddress);
            if (bytes.size() == 4 || bytes.size() == 16) shown.push_back(address_text(bytes));
        }
    }
    for (std::string& name : shown)
        for (char& c : name)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return shown.empty() ? "no host at all" : fmt::format("{}", fmt::join(shown, ", "));
}

bool is_address(const std::string& host) {
    in6_addr ignored{};
    return inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
           inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

}  // namespace

std::string_view web_host(std::string_view expect) {
    constexpr std::string_view scheme = "https://";
    if (!expect.starts_with(scheme)) return {};
    expect.remove_prefix(scheme.size());
    if (expect.starts_with('[') && expect.ends_with(']')) expect = expect.substr(1, expect.size() - 2);
    return expect;
}

Result<ContextPtr> make_web_context(const Credentials* own) {
    ContextPtr context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
    HOSTLER_ASSERT(context != nullptr);
    SSL_CTX* raw = context.get();
    SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
    SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(
        raw, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_verify_depth(raw, chain_depth_max);
    X509_STORE* store = SSL_CTX_get_cert_store(raw);
    if (own == nullptr || own->authority.empty()) {
        SSL_CTX_set_default_verify_paths(raw);  // SSL_CERT_FILE and SSL_CERT_DIR name others.
    } else {
        for (const auto& root : TRY(parse_certificates(own->authority, bundle_size_max)))
            X509_STORE_add_cert(store, root.get());
        X509_STORE_set_flags(store,
                             X509_V_FLAG_PARTIAL_CHAIN);  // What we are told to believe need not be a root.
    }
    ERR_clear_error();
    return context;
}

Result<> expect_web_host(SSL& ssl, std::string_view host) {
    const std::string name{host};
    X509_VERIFY_PARAM* param = SSL_get0_param(&ssl);
    const bool address = is_address(name);
    X509_VERIFY_PARAM_set_hostflags(
        param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    const bool set = address ? X509_VERIFY_PARAM_set1_ip_asc(param, name.c_str()) == 1
                             : X509_VERIFY_PARAM_set1_host(param, name.data(), name.size()) == 1 &&
                                   SSL_set_tlsext_host_name(&ssl, name.c_str()) == 1;
    ERR_clear_error();
    if (!set || name.empty())
        return fail(Code::invalid, fmt::format("'{}' is no name that a web server can have", name));
    return {};
}

void explain_web_refusal(X509_STORE_CTX& chain, PeerCheck& peer) {
    const std::string_view host = web_host(peer.expect);
    X509* at = X509_STORE_CTX_get_current_cert(&chain);
    const int error = X509_STORE_CTX_get_error(&chain);
    const auto explain = [&](std::string_view reason, std::string words) {
        peer.reason = reason;
        peer.refusal = std::move(words);
    };
    switch (error) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return explain("certificate_expired",
                           fmt::format("the certificate of {} expired at {} (now: {})", host,
                                       rfc3339(wall_of(*X509_get0_notAfter(at))), rfc3339(peer.now)));
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return explain(
                "certificate_not_yet_valid",
                fmt::format("the certificate of {} is not valid before {} (now: {}); check both clocks", host,
                            rfc3339(wall_of(*X509_get0_notBefore(at))), rfc3339(peer.now)));
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return explain("wrong_name", fmt::format("the certificate there is for {}, not for {}",
                                                     names_of(*X509_STORE_CTX_get0_cert(&chain)), host));
        default:
            if (of_unknown_authority(error))
                return explain(
                    "unknown_authority",
                    fmt::format("the certificate of {} is signed by an authority that is not known here",
                                host));
            return explain("bad_certificate", fmt::format("the certificate of {} is refused: {}", host,
                                                          X509_verify_cert_error_string(error)));
    }
}

}  // namespace hostler::net
