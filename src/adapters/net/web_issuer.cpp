#include "adapters/net/web_issuer.h"

#include <fmt/format.h>
#include <openssl/err.h>

#include "adapters/net/making.h"

namespace hostler::net {

namespace {

constexpr std::chrono::years authority_life{10};
constexpr std::chrono::hours clock_tolerance{1};

std::string_view without_star(std::string_view name) {
    return name.starts_with("*.") ? name.substr(2) : name;
}

// Of a kind that is not named the authority could vouch for all.
Result<ServerNames> of_both_kinds(const ServerNames& names) {
    if (names.dns.empty() || names.addresses.empty())
        return fail(Code::invalid, "such a certificate needs a host name and an address");
    return checked(names);
}

std::string constraints(const ServerNames& names) {
    std::string all = "critical";
    for (const std::string& name : names.dns) all += fmt::format(",permitted;DNS:{}", without_star(name));
    for (const std::string& address : names.addresses)
        all += fmt::format(
            ",permitted;IP:{}/{}", address,
            address.contains(':') ? "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" : "255.255.255.255");
    return all;
}

X509Ptr begin(Random& random, const std::string& name, EVP_PKEY& key, WallTime from, WallTime until) {
    X509Ptr made{X509_new()};
    X509_set_version(made.get(), x509_version_3);
    set_serial(*made, random);
    set_name(*made, name);
    set_dates(*made, from, until);
    X509_set_pubkey(made.get(), &key);
    return made;
}

using StorePtr = std::unique_ptr<X509_STORE, Free<X509_STORE_free>>;
using CheckPtr = std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>>;

// As a client sees it at that time, the authority's constraints included.
bool is_verified(X509& certificate, X509& issuer, WallTime at) {
    const StorePtr store{X509_STORE_new()};
    const CheckPtr check{X509_STORE_CTX_new()};
    X509_STORE_add_cert(store.get(), &issuer);
    if (X509_STORE_CTX_init(check.get(), store.get(), &certificate, nullptr) != 1) return false;
    X509_STORE_CTX_set_time(check.get(), 0,
                            std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count());
    X509_STORE_CTX_set_purpose(check.get(), X509_PURPOSE_SSL_SERVER);
    return X509_verify_cert(check.get()) == 1;
}

}  // namespace

Result<WebPair> new_web_authority(const ServerNames& wanted, Random& random, WallTime now) {
    const ServerNames names = TRY(of_both_kinds(wanted));
    const KeyPtr key = new_key();
    const X509Ptr made =
        begin(random, "Hostler, of this machine", *key, now - clock_tolerance, now + authority_life);
    X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
    add_extension(*made, *made, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
    add_extension(*made, *made, NID_key_usage, "critical,keyCertSign,cRLSign");
    add_extension(*made, *made, NID_subject_key_identifier, "hash");
    add_extension(*made, *made, NID_name_constraints, constraints(names));
    HOSTLER_ASSERT(X509_sign(made.get(), key.get(), EVP_sha256()) > 0);
    return WebPair{to_pem(*made), to_pem(*key)};
}

Result<WebPair> issue_web(const WebPair& authority, const ServerNames& wanted, Random& random, WallTime now,
                          Duration life) {
    const ServerNames names = TRY(of_both_kinds(wanted));
    const X509Ptr issuer = TRY(parse_certificate(authority.certificate));
    const KeyPtr issuer_key = TRY(parse_key(authority.key));
    if (X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
        ERR_clear_error();
        return fail(Code::invalid, "the authority's key and certificate do not go together");
    }
    const KeyPtr key = new_key();
    const WallTime ends = std::min(now + std::chrono::floor<std::chrono::microseconds>(life),
                                   wall_of(*X509_get0_notAfter(issuer.get())));
    const X509Ptr made = begin(random, "Hostler", *key, now - clock_tolerance, ends);
    X509_set_issuer_name(made.get(), X509_get_subject_name(issuer.get()));
    add_extension(*made, *issuer, NID_basic_constraints, "critical,CA:FALSE");
    add_extension(*made, *issuer, NID_key_usage, "critical,digitalSignature");
    add_extension(*made, *issuer, NID_ext_key_usage, "serverAuth");
    add_extension(*made, *issuer, NID_subject_alt_name, alternative_names(names));
    add_extension(*made, *issuer, NID_authority_key_identifier, "keyid:always");
    HOSTLER_ASSERT(X509_sign(made.get(), issuer_key.get(), EVP_sha256()) > 0);
    return WebPair{to_pem(*made), to_pem(*key)};
}

bool is_good_web(const WebPair& pair, const std::string& authority, const ServerNames& names,
                 WallTime until) {
    const auto certificate = parse_certificate(pair.certificate);
    const auto key = parse_key(pair.key);
    const auto issuer = parse_certificate(authority);
    if (!certificate || !key || !issuer) return false;
    X509* own = certificate->get();
    bool good = X509_check_private_key(own, key->get()) == 1 && is_verified(*own, **issuer, until);
    // A star is asked for by a name that it stands for.
    for (const std::string& name : names.dns) {
        const std::string asked = name.starts_with("*.") ? "x" + name.substr(1) : name;
        good = good && X509_check_host(own, asked.data(), asked.size(), 0, nullptr) == 1;
    }
    for (const std::string& address : names.addresses)
        good = good && X509_check_ip_asc(own, address.c_str(), 0) == 1;
    ERR_clear_error();
    return good;
}

}  // namespace hostler::net
