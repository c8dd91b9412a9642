// A hostile identity provider with real signatures: the shipped verifier of tokens in a master.
#include "adapters/jose/testing/signer.h"
#include "adapters/jose/verifier.h"
#include "roles/master/testing/oidc_rig.h"

namespace hostler::master::testing {
namespace {

using jose::testing::key_set;
using jose::testing::Signer;

struct HostileProvider : OidcTest {
    HostileProvider() {
        tokens.by = &verifier;
        keys = key_set({first().jwk(R"("use":"sig")")});
        sign = [](const std::string& claims) { return first().sign(claims, "RS256"); };
    }
    static const Signer& first() {
        static const Signer key = Signer::rsa("k-1");
        return key;
    }
    static const Signer& second() {
        static const Signer key = Signer::ec("k-2");
        return key;
    }
    jose::JoseVerifier verifier;
};

TEST_F(HostileProvider, ForgedTokensAreRefusedAsAllOthersAre) {
    const std::string id = provider(R"("createsUsers":true)");
    std::set<std::string> answers;
    const auto refused = [&](const std::string& what, std::function<std::string(const std::string&)> how) {
        sign = std::move(how);
        const Reply reply = sign_in_by(id);
        EXPECT_EQ(reply.status, 401) << what;
        answers.insert(without_request(reply.text));
        EXPECT_EQ(sessions(), 0u) << what;
    };
    refused("alg none", [](const std::string& claims) { return jose::testing::unsigned_token(claims); });
    refused("HS256 with the public key", [](const std::string& claims) {
        return Signer::secret("k-1", first().json(false)).sign(claims, "HS256");
    });
    refused("another key under the name",
            [](const std::string& claims) { return Signer::rsa("k-1").sign(claims, "RS256"); });
    refused("another kind of key",
            [](const std::string& claims) { return second().sign(claims, "ES256", {{"kid", "k-1"}}); });
    refused("changed claims", [](const std::string& claims) {
        std::string token = first().sign(claims, "RS256");
        const auto begin = token.find('.') + 1, end = token.rfind('.');
        return token.replace(begin, end - begin, jose::testing::base64url(R"({"sub":"root"})"));
    });
    refused("an unknown key", [](const std::string& claims) { return second().sign(claims, "ES256"); });
    refused("a huge token", [](const std::string& claims) {
        return first().sign(
            claims.substr(0, claims.size() - 1) + R"(,"x":")" + std::string(40'000, 'x') + "\"}", "RS256");
    });
    refused("nothing", [](const std::string&) { return std::string{"..."}; });
    EXPECT_EQ(answers.size(), 1u);
}

TEST_F(HostileProvider, KeysAreRotated) {
    const std::string id = provider(R"("createsUsers":true)");
    EXPECT_EQ(sign_in_by(id).status, 303);
    keys = key_set({first().jwk(), second().jwk()});
    sign = [](const std::string& claims) { return second().sign(claims, "ES256"); };
    EXPECT_EQ(sign_in_by(id).status, 303);
    EXPECT_EQ(asked["/keys"], 2);
    sign = [](const std::string& claims) { return first().sign(claims, "PS256"); };
    EXPECT_EQ(sign_in_by(id).status, 303);
    EXPECT_EQ(asked["/keys"], 2);
    EXPECT_EQ(sessions(), 3u);
}

TEST_F(HostileProvider, ALogoutIsSigned) {
    const std::string id = provider(R"("createsUsers":true)");
    EXPECT_EQ(sign_in_by(id).status, 303);
    const std::string claims = boost::json::serialize(logout_claims("j-1"));
    EXPECT_EQ(log_out(id, jose::testing::unsigned_token(claims)).status, 400);
    EXPECT_EQ(log_out(id, Signer::secret("k-1", first().json(false)).sign(claims, "HS256")).status, 400);
    EXPECT_EQ(log_out(id, first().sign(claims, "RS256", {{"typ", "at+jwt"}})).status, 400);
    EXPECT_EQ(sessions(), 1u);
    EXPECT_EQ(log_out(id, first().sign(claims, "RS256", {{"typ", "logout+jwt"}})).status, 200);
    EXPECT_EQ(sessions(), 0u);
}

}  // namespace
}  // namespace hostler::master::testing
