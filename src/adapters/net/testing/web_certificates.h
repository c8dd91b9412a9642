// For tests: an authority as the web has them, and certificates of servers.
#pragma once

#include "adapters/net/certificate.h"
#include "core/stream.h"

namespace hostler::net::testing {

class WebAuthority {
public:
    WebAuthority() : key_(new_key()), certificate_(X509_new()) {
        begin(*certificate_, *key_, "A web authority");
        X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get()));
        extend(*certificate_, NID_basic_constraints, "critical,CA:TRUE");
        X509_gmtime_adj(X509_getm_notBefore(certificate_.get()), -365L * 86400);
        X509_gmtime_adj(X509_getm_notAfter(certificate_.get()), 365L * 86400);
        X509_sign(certificate_.get(), key_.get(), EVP_sha256());
    }

    std::string pem() { return to_pem(*certificate_); }

    // `names`: "DNS:localhost,IP:127.0.0.1". Good from `from` to `to` seconds from now.
    Credentials issue(const std::string& names, long from = -3600, long to = 3600) {
        const KeyPtr key = new_key();
        const X509Ptr leaf{X509_new()};
        begin(*leaf, *key, "A web server");
        X509_set_issuer_name(leaf.get(), X509_get_subject_name(certificate_.get()));
        if (!names.empty()) extend(*leaf, NID_subject_alt_name, names.c_str());
        X509_gmtime_adj(X509_getm_notBefore(leaf.get()), from);
        X509_gmtime_adj(X509_getm_notAfter(leaf.get()), to);
        X509_sign(leaf.get(), key_.get(), EVP_sha256());
        return {to_pem(*leaf), to_pem(*key), ""};
    }

private:
    static KeyPtr new_key() { return KeyPtr{EVP_EC_gen("P-256")}; }

    void begin(X509& certificate, EVP_PKEY& key, const char* name) {
        X509_set_version(&certificate, X509_VERSION_3);
        ASN1_INTEGER_set(X509_get_serialNumber(&certificate), ++serial_);
        X509_NAME_add_entry_by_txt(X509_get_subject_name(&certificate), "CN", MBSTRING_ASC,
                                   reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
        X509_set_pubkey(&certificate, &key);
    }

    static void extend(X509& certificate, int what, const char* value) {
        const ExtensionPtr extension{X509V3_EXT_conf_nid(nullptr, nullptr, what, value)};
        HOSTLER_ASSERT(extension != nullptr);
        X509_add_ext(&certificate, extension.get(), -1);
    }

    int serial_ = 0;
    KeyPtr key_;
    X509Ptr certificate_;
};

}  // namespace hostler::net::testing
