#include "adapters/net/making.h"

#include <fmt/ranges.h>

namespace hostler::net {

KeyPtr new_key() {
    KeyPtr key{EVP_EC_gen("P-256")};
    HOSTLER_ASSERT(key != nullptr);
    return key;
}

std::string alternative_names(const ServerNames& names) {
    std::vector<std::string> all;
    for (const std::string& name : names.dns) all.push_back("DNS:" + name);
    for (const std::string& address : names.addresses) all.push_back("IP:" + address);
    return fmt::format("{}", fmt::join(all, ","));
}

void add_extension(X509& to, X509& issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, &issuer, &to, nullptr, nullptr, 0);
    const ExtensionPtr extension{X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str())};
    HOSTLER_ASSERT(extension && X509_add_ext(&to, extension.get(), -1) == 1);
}

void set_serial(X509& certificate, Random& random) {
    std::array<std::uint8_t, 16> bytes{};
    random.fill(bytes);
    bytes[0] = (bytes[0] & 0x3f) | 0x40;  // Positive, and always of the same length.
    const NumberPtr number{BN_bin2bn(bytes.data(), bytes.size(), nullptr)};
    BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate));
}

void set_name(X509& certificate, const std::string& common_name) {
    X509_NAME* name = X509_get_subject_name(&certificate);
    const auto* text = reinterpret_cast<const unsigned char*>(common_name.c_str());
    HOSTLER_ASSERT(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0) == 1);
}

void set_dates(X509& certificate, WallTime not_before, WallTime not_after) {
    const auto seconds = [](WallTime time) {
        return static_cast<time_t>(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
    };
    ASN1_TIME_set(X509_getm_notBefore(&certificate), seconds(not_before));
    ASN1_TIME_set(X509_getm_notAfter(&certificate), seconds(not_after));
}

}  // namespace hostler::net
