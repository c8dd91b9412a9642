// Certificates by OpenSSL: owners of its objects, and what a certificate says.
#pragma once

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <vector>

#include "ports/authority.h"

namespace hostler::net {

template <auto F>
struct Free {
    template <class T>
    void operator()(T* p) const {
        F(p);
    }
};
using X509Ptr = std::unique_ptr<X509, Free<X509_free>>;
using RequestPtr = std::unique_ptr<X509_REQ, Free<X509_REQ_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using DigestContextPtr = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;
using BioPtr = std::unique_ptr<BIO, Free<BIO_free_all>>;
using NumberPtr = std::unique_ptr<BIGNUM, Free<BN_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Free<GENERAL_NAMES_free>>;

constexpr std::size_t pem_size_max = 64 * 1024;
constexpr std::size_t bundle_size_max = 1024 * 1024;  // Of the roots of a whole system.

// Whether OpenSSL's verdict on a chain (X509_V_ERR_…) is that nobody whom we believe has signed it.
bool of_unknown_authority(int verdict);

// Errors of these: invalid, with what is wrong.
Result<std::vector<X509Ptr>> parse_certificates(std::string_view pem,
                                                std::size_t size_max = pem_size_max);  // One or more.
Result<X509Ptr> parse_certificate(std::string_view pem);                               // The first.
Result<KeyPtr> parse_key(std::string_view pem);
bool is_pair(EVP_PKEY& key);  // Its public half is that of its private one; true if nobody can tell.
Result<RequestPtr> parse_request(std::string_view pem);  // And its signature is by its own key.
std::string to_pem(X509& certificate);
std::string to_pem(X509_REQ& request);
std::string to_pem(EVP_PKEY& key);  // PKCS#8, not encrypted.

// The one hostler:// URI among the alternative names.
Result<Identity> identity_of(X509& certificate);
Result<> check(const Identity& identity);  // Letters, digits, '-', '_', '.'; 1 to 63 of them each.
Result<CertificateFacts> facts_of(X509& certificate);
std::string fingerprint_of(X509& certificate);
std::string fingerprint_of(EVP_PKEY& key);
WallTime wall_of(const ASN1_TIME& time);

// The latest of OpenSSL's complaints, and forgets them all; "" when there is none.
std::string ssl_words();

}  // namespace hostler::net
