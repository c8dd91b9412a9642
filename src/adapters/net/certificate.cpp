#include "adapters/net/certificate.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <ctime>

namespace hostler::net {

namespace {

constexpr std::string_view scheme = "hostler://";

std::string hex(std::span<const unsigned char> bytes) {
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const unsigned char byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
    return text;
}

std::string sha256(const unsigned char* bytes, int size) {
    std::array<unsigned char, 32> digest{};
    HOSTLER_ASSERT(EVP_Digest(bytes, static_cast<std::size_t>(size), digest.data(), nullptr, EVP_sha256(),
                              nullptr) == 1);
    return hex(digest);
}

// Reading never asks a terminal for a password.
int no_password(char*, int, int, void*) { return -1; }

Result<BioPtr> source(std::string_view pem, std::string_view what, std::size_t size_max = pem_size_max) {
    if (pem.size() > size_max)
        return fail(Code::invalid, fmt::format("the {} is larger than {} bytes", what, size_max));
    return BioPtr{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
}

std::string text_of(BIO& bio) {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(&bio, &bytes);
    return std::string(bytes, static_cast<std::size_t>(size));
}

bool fits_name(std::string_view text) {
    constexpr std::size_t length_max = 63;
    return !text.empty() && text.size() <= length_max && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '_' || c == '.';
    });
}

}  // namespace

std::string ssl_words() {
    const unsigned long error = ERR_peek_last_error();
    ERR_clear_error();
    if (error == 0) return {};
    const char* words = ERR_reason_error_string(error);
    return words != nullptr ? words : fmt::format("error {:x}", error);
}

Result<std::vector<X509Ptr>> parse_certificates(std::string_view pem, std::size_t size_max) {
    const auto bio = TRY(source(pem, "certificate", size_max));
    std::vector<X509Ptr> all;
    while (X509* one = PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr)) all.emplace_back(one);
    const auto why = ssl_words();
    if (all.empty()) return fail(Code::invalid, fmt::format("this is not a certificate in PEM: {}", why));
    return all;
}

Result<X509Ptr> parse_certificate(std::string_view pem) {
    auto all = TRY(parse_certificates(pem));
    return std::move(all.front());
}

Result<KeyPtr> parse_key(std::string_view pem) {
    const auto bio = TRY(source(pem, "key"));
    KeyPtr key{PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr)};
    if (!key) return fail(Code::invalid, fmt::format("this is not a private key in PEM: {}", ssl_words()));
    if (!is_pair(*key))
        return fail(Code::invalid, "the private and the public half of this key do not go together");
    return key;
}

// OpenSSL reads both and believes them.
bool is_pair(EVP_PKEY& key) {
    if (EVP_PKEY_get_base_id(&key) != EVP_PKEY_EC) return true;
    const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context{EVP_PKEY_CTX_new(&key, nullptr),
                                                                              &EVP_PKEY_CTX_free};
    const bool good = EVP_PKEY_pairwise_check(context.get()) == 1;
    ERR_clear_error();
    return good;
}

Result<RequestPtr> parse_request(std::string_view pem) {
    const auto bio = TRY(source(pem, "certificate request"));
    RequestPtr request{PEM_read_bio_X509_REQ(bio.get(), nullptr, no_password, nullptr)};
    if (!request)
        return fail(Code::invalid, fmt::format("this is not a certificate request in PEM: {}", ssl_words()));
    EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
    if (key == nullptr || X509_REQ_verify(request.get(), key) != 1) {
        ERR_clear_error();
        return fail(Code::invalid, "the certificate request is not signed by its own key");
    }
    return request;
}

std::string to_pem(X509& certificate) {
    const BioPtr bio{BIO_new(BIO_s_mem())};
    HOSTLER_ASSERT(PEM_write_bio_X509(bio.get(), &certificate) == 1);
    return text_of(*bio);
}

std::string to_pem(X509_REQ& request) {
    const BioPtr bio{BIO_new(BIO_s_mem())};
    HOSTLER_ASSERT(PEM_write_bio_X509_REQ(bio.get(), &request) == 1);
    return text_of(*bio);
}

std::string to_pem(EVP_PKEY& key) {
    const BioPtr bio{BIO_new(BIO_s_secmem())};
    HOSTLER_ASSERT(PEM_write_bio_PKCS8PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) ==
                   1);
    return text_of(*bio);
}

Result<> check(const Identity& identity) {
    if (fits_name(identity.role) && fits_name(identity.id)) return {};
    return fail(Code::invalid,
                fmt::format("'{}' is not an identity: write role/id in letters, digits, '-', '_' and '.'",
                            identity.text()));
}

NamesPtr alternative_names_of(X509& certificate) {
    return NamesPtr{
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr))};
}

std::string_view bytes_of(const ASN1_STRING& text) {
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(&text)),
            static_cast<std::size_t>(ASN1_STRING_length(&text))};
}

// An address of neither four nor sixteen bytes is none.
std::string address_of(const ASN1_STRING& address) {
    constexpr int v4_bytes = 4, v6_bytes = 16;
    const int size = ASN1_STRING_length(&address);
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (size == v4_bytes || size == v6_bytes)
        ::inet_ntop(size == v4_bytes ? AF_INET : AF_INET6, ASN1_STRING_get0_data(&address), text.data(),
                    text.size());
    return text.data();
}

ServerNames names_of(X509& certificate) {
    const NamesPtr all = alternative_names_of(certificate);
    ServerNames names;
    for (int i = 0; all && i < sk_GENERAL_NAME_num(all.get()); ++i) {
        const GENERAL_NAME* one = sk_GENERAL_NAME_value(all.get(), i);
        if (one->type == GEN_DNS) names.dns.emplace_back(bytes_of(*one->d.dNSName));
        if (one->type == GEN_IPADD) names.addresses.push_back(address_of(*one->d.iPAddress));
    }
    return names;
}

Result<Identity> identity_of(X509& certificate) {
    const NamesPtr names = alternative_names_of(certificate);
    std::vector<std::string> uris;
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type != GEN_URI) continue;
        uris.emplace_back(bytes_of(*name->d.uniformResourceIdentifier));
    }
    if (uris.size() != 1 || !uris.front().starts_with(scheme))
        return fail(Code::invalid, "the certificate does not name exactly one hostler:// identity");
    const std::string text = uris.front().substr(scheme.size());
    const auto slash = text.find('/');
    Identity identity{text.substr(0, slash), slash == std::string::npos ? "" : text.substr(slash + 1)};
    TRY(check(identity));
    return identity;
}

WallTime wall_of(const ASN1_TIME& time) {
    std::tm parts{};
    HOSTLER_ASSERT(ASN1_TIME_to_tm(&time, &parts) == 1);
    return std::chrono::sys_seconds{std::chrono::seconds{::timegm(&parts)}};
}

std::string fingerprint_of(X509& certificate) {
    unsigned char* bytes = nullptr;
    const int size = i2d_X509(&certificate, &bytes);
    HOSTLER_ASSERT(size > 0);
    auto text = sha256(bytes, size);
    OPENSSL_free(bytes);
    return text;
}

std::string fingerprint_of(EVP_PKEY& key) {
    unsigned char* bytes = nullptr;
    const int size = i2d_PUBKEY(&key, &bytes);
    HOSTLER_ASSERT(size > 0);
    auto text = sha256(bytes, size);
    OPENSSL_free(bytes);
    return text;
}

Result<CertificateFacts> facts_of(X509& certificate) {
    const NumberPtr serial{ASN1_INTEGER_to_BN(X509_get0_serialNumber(&certificate), nullptr)};
    EVP_PKEY* key = X509_get0_pubkey(&certificate);
    if (!serial || key == nullptr || ASN1_TIME_check(X509_get0_notBefore(&certificate)) != 1 ||
        ASN1_TIME_check(X509_get0_notAfter(&certificate)) != 1) {
        ERR_clear_error();
        return fail(Code::invalid, "the certificate has no readable serial, key or dates");
    }
    std::string number(static_cast<std::size_t>(BN_num_bytes(serial.get())), '\0');
    BN_bn2bin(serial.get(), reinterpret_cast<unsigned char*>(number.data()));
    return CertificateFacts{
        .identity = TRY(identity_of(certificate)),
        .serial = hex({reinterpret_cast<const unsigned char*>(number.data()), number.size()}),
        .fingerprint = fingerprint_of(certificate),
        .key_fingerprint = fingerprint_of(*key),
        .not_before = wall_of(*X509_get0_notBefore(&certificate)),
        .not_after = wall_of(*X509_get0_notAfter(&certificate)),
        .names = names_of(certificate)};
}

bool of_unknown_authority(int verdict) {
    switch (verdict) {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: return true;
        default: return false;
    }
}

}  // namespace hostler::net
