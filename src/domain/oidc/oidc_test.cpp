// What an identity provider may say, and what its groups give.
#include <gmock/gmock.h>

#include "domain/oidc/claims.h"
#include "domain/oidc/provider.h"

namespace hostler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t now = 1'800'000'000;
const ExpectedToken expected{.issuer = "https://id.example", .client_id = "hostler", .nonce = "n", .now_s = now};

Claims good() {
    return {.issuer = "https://id.example",
            .subject = "ann",
            .audience = {"hostler"},
            .nonce = "n",
            .expires_at = now + 300,
            .issued_at = now};
}

std::string_view wrong(void (*how)(Claims&)) {
    Claims claims = good();
    how(claims);
    return wrong_id_token(claims, expected);
}

TEST(IdToken, OfTheRightProviderForUsNowIsGood) {
    EXPECT_EQ(wrong([](Claims&) {}), "");
    EXPECT_EQ(wrong([](Claims& of) { of.authorized_party = "hostler"; }), "");
    EXPECT_EQ(wrong([](Claims& of) { of.issued_at = now + clock_skew_s; }), "");
    EXPECT_EQ(wrong([](Claims& of) { of.expires_at = now - clock_skew_s + 1; }), "");
}

TEST(IdToken, AnythingElseIsNot) {
    EXPECT_EQ(wrong([](Claims& of) { of.issuer += "/"; }), "wrong_issuer");
    EXPECT_EQ(wrong([](Claims& of) { of.audience = {}; }), "wrong_audience");
    EXPECT_EQ(wrong([](Claims& of) { of.audience = {"Hostler"}; }), "wrong_audience");
    EXPECT_EQ(wrong([](Claims& of) { of.audience = {"hostler", "b"}; }), "no_authorized_party");
    EXPECT_EQ(wrong([](Claims& of) { of.authorized_party = "b"; }), "wrong_authorized_party");
    EXPECT_EQ(wrong([](Claims& of) { of.expires_at.reset(); }), "no_expiry");
    EXPECT_EQ(wrong([](Claims& of) { of.expires_at = now - clock_skew_s; }), "expired");
    EXPECT_EQ(wrong([](Claims& of) { of.issued_at.reset(); }), "no_issue_time");
    EXPECT_EQ(wrong([](Claims& of) { of.issued_at = now + clock_skew_s + 1; }), "from_the_future");
    EXPECT_EQ(wrong([](Claims& of) { of.issued_at = now - token_age_max_s - clock_skew_s - 1; }), "too_old");
    EXPECT_EQ(wrong([](Claims& of) { of.not_before = now + clock_skew_s + 1; }), "not_yet_valid");
    EXPECT_EQ(wrong([](Claims& of) { of.nonce = "m"; }), "wrong_nonce");
    EXPECT_EQ(wrong([](Claims& of) { of.nonce.reset(); }), "wrong_nonce");
    EXPECT_EQ(wrong([](Claims& of) { of.subject = ""; }), "wrong_subject");
    EXPECT_EQ(wrong([](Claims& of) { of.subject = "a\nb"; }), "wrong_subject");
    EXPECT_EQ(wrong([](Claims& of) { of.ends_session = true; }), "logout_token");
    Claims claims = good();
    claims.nonce = "";
    EXPECT_EQ(wrong_id_token(claims, {.issuer = "https://id.example", .client_id = "hostler", .now_s = now}),
              "wrong_nonce");
}

TEST(LogoutToken, HasTheEventAndNoNonce) {
    const auto check = [](void (*how)(Claims&)) {
        Claims claims = good();
        claims.nonce.reset();
        claims.expires_at.reset();
        claims.ends_session = true;
        claims.id = "j";
        how(claims);
        return wrong_logout_token(claims, expected);
    };
    EXPECT_EQ(check([](Claims&) {}), "");
    EXPECT_EQ(check([](Claims& of) { of.subject = "", of.sid = "s"; }), "");
    EXPECT_EQ(check([](Claims& of) { of.subject = ""; }), "no_subject");
    EXPECT_EQ(check([](Claims& of) { of.nonce = "n"; }), "has_nonce");
    EXPECT_EQ(check([](Claims& of) { of.ends_session = false; }), "no_logout_event");
    EXPECT_EQ(check([](Claims& of) { of.id = ""; }), "no_jti");
    EXPECT_EQ(check([](Claims& of) { of.issued_at = now - logout_age_max_s - clock_skew_s - 1; }), "too_old");
    EXPECT_EQ(check([](Claims& of) { of.expires_at = now - clock_skew_s; }), "expired");
}

TEST(DiscoveryDocument, IsOfItsIssuerAndLeadsOverTls) {
    const Discovery fine{.issuer = "https://id.example",
                         .authorization_endpoint = "https://id.example/a?x=1",
                         .token_endpoint = "https://id.example/t",
                         .jwks_uri = "https://keys.example/k"};
    EXPECT_EQ(wrong_discovery(fine, "https://id.example"), "");
    EXPECT_NE(wrong_discovery(fine, "https://id.example/"), "");
    for (const char* url : {"", "http://id.example/t", "ftp://id.example/t", "https://",
                            "https://a@id.example/t", "https://id.example/t#f", "https://id.example/\r\nX: y",
                            "https://id.example/ t", "javascript:alert(1)", "https://localhost/t",
                            "https://127.0.0.1:8080/t", "https://[::1]/t", "//id.example/t"}) {
        Discovery odd = fine;
        odd.token_endpoint = url;
        EXPECT_NE(wrong_discovery(odd, "https://id.example"), "") << url;
    }
    Discovery near{.issuer = "http://localhost:3000",
                   .authorization_endpoint = "http://localhost:3000/a",
                   .token_endpoint = "http://127.0.0.1:3000/t",
                   .jwks_uri = "http://[::1]:3000/k"};
    EXPECT_EQ(wrong_discovery(near, "http://localhost:3000"), "");
    near.userinfo_endpoint = "http://localhost.evil.example/me";
    EXPECT_NE(wrong_discovery(near, "http://localhost:3000"), "");
}

TEST(GroupRoles, AreOfTheProvidersScope) {
    IdentityProvider acme{.tenant = "acme",
                          .group_roles = {{"ml", "member", "", "lab"},
                                          {"leads", "tenant-admin", "", ""},
                                          {"ml", "member", "globex", "lab"}},
                          .default_role = "viewer"};
    EXPECT_THAT(roles_of_groups(acme, {"ml", "ml"}),
                ElementsAre(RoleAt{"member", Scope::of_project("acme", "lab")},
                            RoleAt{"viewer", Scope::of_tenant("acme")}));
    acme.default_role.clear();
    EXPECT_THAT(roles_of_groups(acme, {"ML", "lead"}), IsEmpty());
    const IdentityProvider cloud{
        .group_roles = {{"ops", "operator", "", ""}, {"ml", "member", "globex", ""}}};
    EXPECT_THAT(
        roles_of_groups(cloud, {"ml", "ops"}),
        ElementsAre(RoleAt{"member", Scope::of_tenant("globex")}, RoleAt{"operator", Scope::cloud()}));
}

TEST(LoginOfClaims, IsOneThatMayBe) {
    EXPECT_EQ(login_of_claims({.login = "Ann", .email = "ann@id.example"}), "ann");
    EXPECT_EQ(login_of_claims({.login = "EXAMPLE\\ann", .email = "Ann@id.example"}), "ann@id.example");
    EXPECT_EQ(login_of_claims({.login = "Ann Bell"}), "");
}

}  // namespace
}  // namespace hostler
