// The TokenVerifier port (ports/token_verifier.h) by cjose: what is signed is taken, and nothing else.
#include <gtest/gtest.h>

#include "adapters/jose/testing/signer.h"
#include "adapters/jose/verifier.h"

namespace hostler::contract {
namespace {

using jose::testing::base64url;
using jose::testing::key_set;
using jose::testing::Signer;

constexpr std::string_view claims = R"({"iss":"https://id.example","sub":"ann"})";
const jose::JoseVerifier verifier;

Code code_of(const std::string& token, const std::string& keys) {
    const auto done = verifier.verify(token, keys);
    return done ? Code::internal : done.error().code;
}

const Signer& rsa() {
    static const Signer key = Signer::rsa("r1");
    return key;
}
const Signer& ec() {
    static const Signer key = Signer::ec("e1");
    return key;
}

TEST(TokenVerifier, TakesEachAlgorithmUnderItsKey) {
    const Signer p384 = Signer::ec("e2", CJOSE_JWK_EC_P_384), p521 = Signer::ec("e3", CJOSE_JWK_EC_P_521);
    const std::string keys = key_set({rsa().jwk(), ec().jwk(), p384.jwk(), p521.jwk()});
    const auto taken = [&](const Signer& by, const std::string& algorithm) {
        const auto done = verifier.verify(by.sign(claims, algorithm), keys);
        ASSERT_TRUE(done) << algorithm << ": " << done.error().message;
        EXPECT_EQ(done->claims, claims);
        EXPECT_EQ(done->algorithm, algorithm);
        EXPECT_EQ(done->key, by.kid());
    };
    for (const char* algorithm : {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
        taken(rsa(), algorithm);
    taken(ec(), "ES256");
    taken(p384, "ES384");
    taken(p521, "ES512");
}

TEST(TokenVerifier, TakesNoUnsignedToken) {
    const std::string keys = key_set({rsa().jwk()});
    EXPECT_EQ(code_of(jose::testing::unsigned_token(claims), keys), Code::unauthenticated);
    for (const char* none : {"none", "None", "NONE", "nOnE", ""}) {
        const std::string head = base64url(std::string{R"({"alg":")"} + none + R"(","kid":"r1"})");
        EXPECT_EQ(code_of(head + "." + base64url(claims) + ".", keys), Code::unauthenticated) << none;
        EXPECT_EQ(code_of(head + "." + base64url(claims) + ".AAAA", keys), Code::unauthenticated) << none;
    }
}

TEST(TokenVerifier, TakesNoSharedSecret) {
    const std::string keys = key_set({rsa().jwk(), ec().jwk()});
    // The public key, in any form, is the secret of nothing.
    for (const std::string& secret : {rsa().jwk(), rsa().json(false), std::string(32, 'k')})
        for (const char* algorithm : {"HS256", "HS384", "HS512"})
            for (const char* kid : {"r1", ""})
                EXPECT_EQ(code_of(Signer::secret("r1", secret).sign(claims, algorithm, {{"kid", kid}}), keys),
                          Code::unauthenticated);
    // Not even where the set has one.
    const Signer shared = Signer::secret("s", std::string(32, 'k'));
    const std::string set =
        key_set({R"({"kty":"oct","kid":"s","k":")" + base64url(std::string(32, 'k')) + "\"}"});
    EXPECT_EQ(code_of(shared.sign(claims, "HS256"), set), Code::unauthenticated);
}

TEST(TokenVerifier, TakesNothingThatWasChanged) {
    const std::string keys = key_set({rsa().jwk(), ec().jwk()});
    for (const std::string& good : {rsa().sign(claims, "RS256"), ec().sign(claims, "ES256")}) {
        const auto first = good.find('.'), last = good.rfind('.');
        const std::string head = good.substr(0, first), signature = good.substr(last + 1);
        EXPECT_EQ(code_of(head + "." + base64url(R"({"sub":"eve"})") + "." + signature, keys),
                  Code::unauthenticated);
        for (const std::string& odd :
             {head + "." + signature, good + ".", good + ".AA", "." + good, good.substr(0, last + 1),
              good.substr(0, good.size() - 4), good + "=", good + "\n", std::string{}, std::string{"..."},
              head + "." + base64url(claims) + "." + signature.substr(0, signature.size() / 2)})
            EXPECT_EQ(code_of(odd, keys), Code::unauthenticated) << odd;
    }
    // The signature of another key under a known name.
    EXPECT_EQ(code_of(Signer::rsa("r1").sign(claims, "RS256"), keys), Code::unauthenticated);
}

TEST(TokenVerifier, AnAlgorithmHasItsKindOfKey) {
    const std::string keys = key_set({rsa().jwk(), ec().jwk()});
    EXPECT_EQ(code_of(rsa().sign(claims, "RS256", {{"kid", "e1"}}), keys), Code::unauthenticated);
    EXPECT_EQ(code_of(ec().sign(claims, "ES256", {{"kid", "r1"}}), keys), Code::unauthenticated);
    for (const char* more : {R"("use":"enc")", R"("alg":"RS512")", R"("key_ops":["encrypt"])"})
        EXPECT_EQ(code_of(rsa().sign(claims, "RS256"), key_set({rsa().jwk(more)})), Code::unauthenticated)
            << more;
    for (const char* more : {R"("use":"sig")", R"("alg":"RS256")", R"("key_ops":["verify"])"})
        EXPECT_TRUE(verifier.verify(rsa().sign(claims, "RS256"), key_set({rsa().jwk(more)}))) << more;
}

TEST(TokenVerifier, TheKeyIsTheNamedOneOrTheOnlyOne) {
    const Signer second = Signer::rsa("r2");
    const std::string both = key_set({rsa().jwk(), second.jwk()});
    EXPECT_EQ(code_of(rsa().sign(claims, "RS256"), key_set({second.jwk()})), Code::not_found);
    EXPECT_EQ(code_of(rsa().sign(claims, "RS256"), key_set({})), Code::not_found);
    const std::string nameless = rsa().sign(claims, "RS256", {{"kid", ""}});
    EXPECT_TRUE(verifier.verify(nameless, key_set({ec().jwk(), rsa().jwk()})));
    EXPECT_EQ(code_of(nameless, both), Code::unauthenticated);
    EXPECT_EQ(code_of(nameless, key_set({ec().jwk()})), Code::not_found);
}

TEST(TokenVerifier, WeakAndOddKeysCountForNothing) {
    const Signer weak = Signer::rsa("w", 1024);
    EXPECT_EQ(code_of(weak.sign(claims, "RS256"), key_set({weak.jwk()})), Code::unauthenticated);
    const std::string token = ec().sign(claims, "ES256");
    for (const char* key : {R"({"kid":"e1","kty":"EC","crv":"P-256","x":"AA","y":"AA"})",
                            R"({"kid":"e1","kty":"EC","crv":"P-256"})", R"({"kid":"e1"})"})
        EXPECT_EQ(code_of(token, key_set({key})), Code::unauthenticated) << key;
    for (const char* set : {"", "[]", "{}", R"({"keys":1})", R"({"keys":)", "null"})
        EXPECT_EQ(code_of(token, set), Code::invalid) << set;
}

TEST(TokenVerifier, AnExtensionThatMustBeKnownIsNotKnown) {
    const std::string keys = key_set({rsa().jwk()});
    EXPECT_EQ(code_of(rsa().sign(claims, "RS256", {{"crit", "exp"}}), keys), Code::unauthenticated);
}

TEST(TokenVerifier, SizesAreBounded) {
    const std::string keys = key_set({rsa().jwk()});
    const std::string large = R"({"x":")" + std::string(TokenVerifier::token_bytes_max, 'x') + "\"}";
    EXPECT_EQ(code_of(rsa().sign(large, "RS256"), keys), Code::unauthenticated);
    const std::string token = rsa().sign(claims, "RS256");
    EXPECT_EQ(code_of(token, keys + std::string(TokenVerifier::keys_bytes_max, ' ')), Code::invalid);
    EXPECT_EQ(code_of(token, key_set(std::vector<std::string>(TokenVerifier::keys_max + 1, rsa().jwk()))),
              Code::invalid);
    EXPECT_EQ(code_of(token, std::string(100'000, '[')), Code::invalid);
}

}  // namespace
}  // namespace hostler::contract
