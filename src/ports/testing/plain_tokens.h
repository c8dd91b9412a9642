// Tokens of tests: "HEADER.CLAIMS.by-KEY" with claims that anybody reads, and sets {"keys":[{"kid":"KEY"}]}.
// A test that wants signatures puts a real verifier in `by`.
#pragma once

#include "core/base64.h"
#include "ports/token_verifier.h"

namespace hostler::testing {

class PlainTokens final : public TokenVerifier {
public:
    const TokenVerifier* by = nullptr;

    static std::string token(std::string_view key, std::string_view claims) {
        return base64("head") + "." + base64(claims) + ".by-" + std::string{key};
    }
    static std::string keys(std::initializer_list<std::string_view> names) {
        std::string set = R"({"keys":[)";
        for (const std::string_view name : names)
            set += (set.ends_with('[') ? R"({"kid":")" : R"(,{"kid":")") + std::string{name} + R"("})";
        return set + "]}";
    }
    Result<VerifiedToken> verify(std::string_view token, std::string_view keys) const override {
        if (by) return by->verify(token, keys);
        const auto first = token.find('.'), last = token.rfind('.');
        if (first == token.npos || first == last) return fail(Code::unauthenticated, "no token");
        const std::string_view signature = token.substr(last + 1);
        constexpr std::string_view mark = "by-";
        if (!signature.starts_with(mark)) return fail(Code::unauthenticated, "not signed");
        const std::string key{signature.substr(mark.size())};
        if (!keys.contains(R"("keys")")) return fail(Code::invalid, "no set of keys");
        if (!keys.contains(R"({"kid":")" + key + R"("})")) return fail(Code::not_found, "no such key");
        return VerifiedToken{.algorithm = "RS256",
                             .key = key,
                             .type = {},
                             .claims = base64_decoded(token.substr(first + 1, last - first - 1))};
    }
};

}  // namespace hostler::testing
