// For tests: keys of an identity provider, and tokens that are signed with them.
#pragma once

#include <cjose/cjose.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base64.h"
#include "core/result.h"

namespace hostler::jose::testing {

inline std::string base64url(std::string_view bytes) {
    std::string text = base64(bytes);
    while (text.ends_with('=')) text.pop_back();
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
}

class Signer {
public:
    static Signer rsa(std::string kid, std::size_t bits = 2048) {
        const std::uint8_t exponent[] = {1, 0, 1};
        return {std::move(kid), cjose_jwk_create_RSA_random(bits, exponent, sizeof exponent, nullptr)};
    }
    static Signer ec(std::string kid, cjose_jwk_ec_curve curve = CJOSE_JWK_EC_P_256) {
        return {std::move(kid), cjose_jwk_create_EC_random(curve, nullptr)};
    }
    static Signer secret(std::string kid, std::string_view bytes) {
        return {std::move(kid), cjose_jwk_create_oct_spec(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                          bytes.size(), nullptr)};
    }

    const std::string& kid() const { return kid_; }
    // {"kty":…} with its kid, and `more` members: R"("use":"sig")".
    std::string jwk(std::string_view more = {}) const {
        std::string text = json(false);
        text.insert(1, R"("kid":")" + kid_ + R"(",)" + std::string{more} + (more.empty() ? "" : ","));
        return text;
    }
    std::string json(bool with_private) const {
        char* text = cjose_jwk_to_json(jwk_.get(), with_private, nullptr);
        HOSTLER_ASSERT(text);
        std::string copy = text;
        std::free(text);  // NOLINT: cjose allocated it.
        return copy;
    }

    using Header = std::vector<std::pair<std::string, std::string>>;
    // `kid` stands in the header unless `header` has one; an empty one leaves it out.
    std::string sign(std::string_view claims, const std::string& algorithm, const Header& header = {}) const {
        cjose_header_t* head = cjose_header_new(nullptr);
        cjose_header_set(head, CJOSE_HDR_ALG, algorithm.c_str(), nullptr);
        bool named = false;
        for (const auto& [name, value] : header) {
            named |= name == CJOSE_HDR_KID;
            if (!value.empty()) cjose_header_set(head, name.c_str(), value.c_str(), nullptr);
        }
        if (!named) cjose_header_set(head, CJOSE_HDR_KID, kid_.c_str(), nullptr);
        cjose_jws_t* jws = cjose_jws_sign(
            jwk_.get(), head, reinterpret_cast<const std::uint8_t*>(claims.data()), claims.size(), nullptr);
        cjose_header_release(head);
        HOSTLER_ASSERT(jws);
        const char* text = nullptr;
        HOSTLER_ASSERT(cjose_jws_export(jws, &text, nullptr));
        std::string copy = text;
        cjose_jws_release(jws);
        return copy;
    }

private:
    Signer(std::string kid, cjose_jwk_t* jwk) : kid_(std::move(kid)), jwk_(jwk, cjose_jwk_release) {
        HOSTLER_ASSERT(jwk);
    }
    std::string kid_;
    std::shared_ptr<cjose_jwk_t> jwk_;
};

inline std::string key_set(const std::vector<std::string>& keys) {
    std::string text = R"({"keys":[)";
    for (const std::string& key : keys) text += (text.ends_with('[') ? "" : ",") + key;
    return text + "]}";
}

inline std::string unsigned_token(std::string_view claims) {
    return base64url(R"({"alg":"none"})") + "." + base64url(claims) + ".";
}

}  // namespace hostler::jose::testing
