// Signing in by an identity provider: the good way, and whatever a hostile one says.
#include "domain/tenancy/totp.h"
#include "roles/master/http/caller.h"
#include "roles/master/oidc/flow.h"
#include "roles/master/testing/oidc_rig.h"

namespace hostler::master::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace json = boost::json;
using Oidc = OidcTest;

TEST_F(Oidc, ABrowserGoesToTheProviderAndComesBackWithASession) {
    const std::string id = provider(R"("createsUsers":true)");
    const Sent sent = begin(id);
    EXPECT_EQ(sent.reply.status, 303);
    EXPECT_THAT(sent.reply.text, HasSubstr("Location: https://id.example/authorize?response_type=code&"
                                           "client_id=hostler&redirect_uri=https%3A%2F%2Fcloud.example%2F"
                                           "sign-in%2Foidc%2Fcallback&scope=openid%20profile%20email&"));
    EXPECT_THAT(sent.reply.text, HasSubstr("code_challenge_method=S256"));
    EXPECT_THAT(sent.cookie, ::testing::StartsWith("__Host-hostler_oidc_"));
    EXPECT_THAT(sent.reply.text, HasSubstr("; Path=/; HttpOnly; SameSite=Lax; Max-Age=600; Secure"));
    const Reply done = back(sent);
    EXPECT_EQ(done.status, 303) << done.text;
    EXPECT_THAT(done.text, HasSubstr("Location: http://8080-i-1.localhost:8443/.hostler/session?code="));
    const Login* login = login_of();
    ASSERT_TRUE(login);
    EXPECT_EQ(login->provider, id);
    EXPECT_EQ(login->sid, "their-1");
    const User& user = desk().estate.users.at(login->user);
    EXPECT_EQ(user.login, "ann");
    EXPECT_EQ(user.tenant, "acme");
    EXPECT_EQ(user.email, "ann@id.example");
    EXPECT_TRUE(user.password.empty());
    EXPECT_THAT(user.identities, ElementsAre(UserIdentity{id, "ann-1"}));
    const HttpCall& redeemed = *std::ranges::find(outgoing.sent, "https://id.example/token", &HttpCall::url);
    EXPECT_EQ(pkce_challenge(digest, form_value(redeemed.body, "code_verifier")), sent.challenge);
    EXPECT_EQ(form_value(redeemed.body, "grant_type"), "authorization_code");
    EXPECT_EQ(redeemed.reach, Reach::outside);
    EXPECT_THAT(redeemed.headers, ::testing::Contains(std::pair<std::string, std::string>(
                                      "Authorization", "Basic " + base64("hostler:opensesame"))));
    // Again it is the same person.
    const std::string user_id = user.id;
    EXPECT_EQ(sign_in_by(id).status, 303);
    EXPECT_EQ(desk().estate.users.by().provider.count(id), 1u);
    EXPECT_EQ(login_of()->user, user_id);
    EXPECT_FALSE(anywhere_in_store("opensesame"));
}

// All that a token may have wrong, and one answer to it.
TEST_F(Oidc, WrongTokensAreRefusedAlike) {
    const std::string id = provider(R"("createsUsers":true)");
    std::set<std::string> answers;
    const auto refused = [&](const std::string& what, std::function<void(json::object&)> how) {
        change = std::move(how);
        const Reply reply = sign_in_by(id);
        EXPECT_EQ(reply.status, 401) << what;
        answers.insert(without_request(reply.text));
        EXPECT_EQ(sessions(), 0u) << what;
        EXPECT_THAT(reply.text, Not(HasSubstr("nonce"))) << what;
    };
    refused("another issuer", [](auto& of) { of["iss"] = "https://evil.example"; });
    refused("no issuer", [](auto& of) { of.erase("iss"); });
    refused("another audience", [](auto& of) { of["aud"] = "other"; });
    refused("no audience", [](auto& of) { of.erase("aud"); });
    refused("two audiences, no party", [](auto& of) { of["aud"] = json::array{"hostler", "other"}; });
    refused("another party", [](auto& of) { of["azp"] = "other"; });
    refused("another nonce", [](auto& of) { of["nonce"] = "n-2"; });
    refused("no nonce", [](auto& of) { of.erase("nonce"); });
    refused("a nonce that is no text", [](auto& of) { of["nonce"] = 7; });
    refused("expired", [&](auto& of) { of["exp"] = now_s() - 61; });
    refused("without an end", [](auto& of) { of.erase("exp"); });
    refused("from the future", [&](auto& of) { of["iat"] = now_s() + 61; });
    refused("long ago", [&](auto& of) { of["iat"] = now_s() - 3600; });
    refused("not valid yet", [&](auto& of) { of["nbf"] = now_s() + 3600; });
    refused("no subject", [](auto& of) { of.erase("sub"); });
    refused("an empty subject", [](auto& of) { of["sub"] = ""; });
    refused("a long subject", [](auto& of) { of["sub"] = std::string(256, 'x'); });
    change = [](json::object&) {};
    sign = [](const std::string& claims) { return base64(claims); };
    refused("no token", [](auto&) {});
    sign = [](const std::string& claims) { return hostler::testing::PlainTokens::token("k-9", claims); };
    refused("an unknown key", [](auto&) {});
    EXPECT_EQ(answers.size(), 1u);
    // The audit knows more.
    const auto line = std::ranges::find(store.lines, "wrong_nonce", &AuditLine::reason);
    ASSERT_NE(line, store.lines.end());
    EXPECT_EQ(line->subject, "account/" + id);
    EXPECT_EQ(line->result, "failed");
}

TEST_F(Oidc, AnAudienceOfSeveralHasItsParty) {
    const std::string id = provider(R"("createsUsers":true)");
    change = [](json::object& of) {
        of["aud"] = json::array{"hostler", "other"};
        of["azp"] = "hostler";
    };
    EXPECT_EQ(sign_in_by(id).status, 303);
}

TEST_F(Oidc, AStateIsGoodOnceInItsBrowserAndForTenMinutes) {
    const std::string id = provider(R"("createsUsers":true)");
    const Sent first = begin(id);
    EXPECT_EQ(back(first).status, 303);
    EXPECT_EQ(back(first).status, 401);  // A second time.
    Sent stolen = begin(id);
    stolen.cookie.clear();
    EXPECT_EQ(back(stolen).status, 401);  // Another browser: its person would be signed in as another.
    Sent other = begin(id);
    other.cookie = begin(id).cookie;
    EXPECT_EQ(back(other).status, 401);
    Sent unknown = begin(id);
    unknown.state = "os_unknown";
    EXPECT_EQ(back(unknown).status, 401);
    const Sent late = begin(id);
    timers.advance(10min);
    EXPECT_EQ(back(late).status, 401);
    EXPECT_EQ(sessions(), 1u);
}

TEST_F(Oidc, ACodeIsRedeemedOnce) {
    const std::string id = provider(R"("createsUsers":true)");
    EXPECT_EQ(sign_in_by(id).status, 303);
    const Sent again = begin(id);
    const Reply reply = with_cookie(
        again.cookie, [&] { return call("GET", "/sign-in/oidc/callback?code=c-1&state=" + again.state); });
    EXPECT_EQ(reply.status, 401);
}

TEST_F(Oidc, TheAnswerNamesItsIssuer) {
    const std::string id = provider(R"("createsUsers":true)");
    EXPECT_EQ(back(begin(id), "&iss=https%3A%2F%2Fevil.example").status, 401);
    EXPECT_EQ(back(begin(id), "&iss=https%3A%2F%2Fid.example").status, 303);
    discovery["authorization_response_iss_parameter_supported"] = true;
    timers.advance(11min);
    EXPECT_EQ(back(begin(id)).status, 401);
    EXPECT_EQ(back(begin(id), "&error=access_denied").status, 401);
}

TEST_F(Oidc, AnUnknownKeyIsAskedForOnceInHalfAMinute) {
    const std::string id = provider(R"("createsUsers":true)");
    EXPECT_EQ(sign_in_by(id).status, 303);
    EXPECT_EQ(asked["/keys"], 1);
    keys = hostler::testing::PlainTokens::keys({"k-2"});  // The provider has changed its key.
    sign = [](const std::string& claims) { return hostler::testing::PlainTokens::token("k-2", claims); };
    EXPECT_EQ(sign_in_by(id).status, 303);
    EXPECT_EQ(asked["/keys"], 2);
    sign = [](const std::string& claims) { return hostler::testing::PlainTokens::token("k-3", claims); };
    for (int i = 0; i < 5; ++i) EXPECT_EQ(sign_in_by(id).status, 401);
    EXPECT_EQ(asked["/keys"], 2);
    timers.advance(30s);
    EXPECT_EQ(sign_in_by(id).status, 401);
    EXPECT_EQ(asked["/keys"], 3);
}

TEST_F(Oidc, AProviderThatIsAwayLeavesSessionsAndSaysSo) {
    const std::string id = provider(R"("createsUsers":true)");
    EXPECT_EQ(sign_in_by(id).status, 303);
    const Sent sent = begin(id);
    down = true;
    const Reply reply = back(sent);  // Discovery and keys are here; the code cannot be redeemed.
    EXPECT_EQ(reply.status, 503);
    EXPECT_THAT(reply.text, HasSubstr("SSO does not answer"));
    EXPECT_EQ(sessions(), 1u);
    timers.advance(11min);  // The old document serves on.
    EXPECT_EQ(begin(id).reply.status, 303);
    const int before = asked["/.well-known/openid-configuration"];
    EXPECT_EQ(begin(id).reply.status, 303);
    EXPECT_EQ(asked["/.well-known/openid-configuration"], before) << "it is left alone for some seconds";
}

TEST_F(Oidc, WhatIsNoDiscoveryDocumentIsAnsweredAsAway) {
    const json::object good = discovery;
    const std::string id = provider();
    const auto refused = [&](const std::string& what) {
        timers.advance(published_wait);
        EXPECT_EQ(begin(id).reply.status, 503) << what;
    };
    discovery["issuer"] = "https://evil.example";
    refused("another issuer");
    discovery = good, discovery["issuer"] = "https://id.example/";
    refused("an issuer with a slash");
    discovery = good, discovery["token_endpoint"] = "http://id.example/token";
    refused("no TLS");
    discovery = good, discovery["jwks_uri"] = "http://127.0.0.1/keys";
    refused("loopback");
    discovery = good, discovery["token_endpoint"] = "https://user@id.example/token";
    refused("a user in a URL");
    discovery = good, discovery["authorization_endpoint"] = "https://id.example/a\r\nSet-Cookie: a=b";
    refused("a line break");
    discovery = good, discovery.erase("jwks_uri");
    refused("no keys");
    discovery = good, redirects = true;
    refused("a redirect");
    redirects = false;
    outgoing.servers[std::string{issuer}] = [](const HttpCall&) -> Result<HttpAnswer> {
        return fail(Code::forbidden, "the address is out of reach", "out_of_reach");
    };
    refused("an address out of reach");
    outgoing.servers[std::string{issuer}] = [](const HttpCall& call) {
        return HttpAnswer{200, {}, std::string(call.answer_bytes_max, '[')};
    };
    refused("a huge document");
    EXPECT_THAT(outgoing.sent, ::testing::Each(::testing::Field(&HttpCall::reach, Reach::outside)));
}

TEST_F(Oidc, TheCloudsProviderMayBeAnywhere) {
    const std::string id = provider(R"("createsUsers":true)", "");
    EXPECT_EQ(sign_in_by(id).status, 303);
    EXPECT_THAT(outgoing.sent, ::testing::Each(::testing::Field(&HttpCall::reach, Reach::anywhere)));
    EXPECT_EQ(desk().estate.users.at(login_of()->user).tenant, "");
}

TEST_F(Oidc, GroupsBecomeRolesAndGoWithThem) {
    const std::string id =
        provider(R"("createsUsers":true,"groupsClaim":"groups","defaultRole":"billing","groupRoles":[)"
                 R"({"group":"ml","role":"member"},{"group":"leads","role":"tenant-admin"}])");
    change = [](json::object& of) { of["groups"] = json::array{"ml", "leads", 7, "others"}; };
    EXPECT_EQ(sign_in_by(id).status, 303);
    const std::string user = login_of()->user;
    EXPECT_THAT(roles_of(user), ElementsAre("billing@acme/", "member@acme/", "tenant-admin@acme/"));
    EXPECT_EQ(desk().estate.grants.by().subject.of("user/" + user).front()->made_by, "idp/" + id);
    // By hand, and by the provider: what people gave stays.
    EXPECT_EQ(
        post("/v1/grants", fmt::format(R"({{"subject":"user/{}","role":"viewer","tenantID":"acme"}})", user))
            .status,
        201);
    change = [](json::object& of) { of["groups"] = "ml"; };
    EXPECT_EQ(sign_in_by(id).status, 303);
    EXPECT_THAT(roles_of(user), ElementsAre("billing@acme/", "member@acme/", "viewer@acme/"));
    change = [](json::object&) {};  // It says nothing of groups, and neither does the userinfo endpoint.
    EXPECT_EQ(sign_in_by(id).status, 303);
    EXPECT_THAT(roles_of(user), ElementsAre("billing@acme/", "viewer@acme/"));
}

TEST_F(Oidc, GroupsMayBeAtTheUserinfoEndpointOfTheSamePerson) {
    const std::string id = provider(R"("createsUsers":true,"groupsClaim":"realm.roles","groupRoles":[)"
                                    R"({"group":"ml","role":"member"}])");
    userinfo["realm"] = json::object{{"roles", json::array{"ml"}}};
    EXPECT_EQ(sign_in_by(id).status, 303);
    EXPECT_THAT(roles_of(login_of()->user), ElementsAre("member@acme/"));
    userinfo["sub"] = "eve-1";
    EXPECT_EQ(sign_in_by(id).status, 401);
    EXPECT_EQ(sessions(), 1u);
}

TEST_F(Oidc, ATenantsProviderGivesNothingElsewhere) {
    const std::string id = provider(R"("createsUsers":true)");
    EXPECT_EQ(sign_in_by(id).status, 303);
    const std::string user = login_of()->user;
    // A role in the cloud, by hand: whoever runs the tenant's provider could take it.
    desk().estate.grants.add(
        {.id = "gr-1", .subject = "user/" + user, .role = "operator", .at = ScopeKind::cloud});
    desk().estate.grants.add({.id = "gr-2", .subject = "user/" + user, .role = "viewer", .tenant = "acme"});
    Login like = *login_of();
    like.hash = "#hu_known";
    desk().estate.logins.add(std::move(like));
    (void)commit();
    const auto caller = caller_of(term(), "hu_known");
    ASSERT_TRUE(caller);
    EXPECT_FALSE(authorize(caller->principal, Permission::host_write, Scope::cloud()));
    EXPECT_TRUE(authorize(caller->principal, Permission::instance_read, Scope::of_tenant("acme")));
    // And it cannot say that it does.
    const Reply wide =
        call("PATCH", "/v1/identity-providers/" + id,
             R"({"groupsClaim":"groups","groupRoles":[{"group":"a","role":"operator"}]})", root);
    EXPECT_EQ(wide.status, 400) << wide.text;
    const Reply other = call(
        "PATCH", "/v1/identity-providers/" + id,
        R"({"groupsClaim":"groups","groupRoles":[{"group":"a","role":"member","tenantID":"globex"}]})", root);
    EXPECT_EQ(other.status, 400) << other.text;
}

TEST_F(Oidc, NobodyIsFoundByAnAddress) {
    const std::string known = user("ann@id.example");
    const std::string id = provider();
    EXPECT_EQ(sign_in_by(id).status, 401);  // It makes no users, and that one is not this person.
    EXPECT_EQ(call("PATCH", "/v1/identity-providers/" + id, R"({"createsUsers":true})", root).status, 200);
    change = [](json::object& of) { of["preferred_username"] = "ann@id.example"; };
    EXPECT_EQ(sign_in_by(id).status, 303);
    EXPECT_NE(login_of()->user, known);
    EXPECT_EQ(desk().estate.users.at(login_of()->user).login, "ann-2@id.example");
}

TEST_F(Oidc, WhoIsDisabledStaysOut) {
    const std::string id = provider(R"("createsUsers":true)");
    EXPECT_EQ(sign_in_by(id).status, 303);
    EXPECT_EQ(post("/v1/users/" + login_of()->user + "/disable", "").status, 200);
    EXPECT_EQ(sessions(), 0u);
    EXPECT_EQ(sign_in_by(id).status, 401);
    // And so it is with the provider: what is under way fails, and sessions end.
    change = [](json::object& of) { of["sub"] = "bob-1"; };
    EXPECT_EQ(sign_in_by(id).status, 303);
    const Sent sent = begin(id);
    EXPECT_EQ(call("PATCH", "/v1/identity-providers/" + id, R"({"disabled":true})", root).status, 200);
    EXPECT_EQ(sessions(), 0u);
    EXPECT_EQ(back(sent).status, 401);
    EXPECT_EQ(begin(id).reply.status, 404);
}

TEST_F(Oidc, OurSecondFactorIsAskedForUnlessTheProvidersIsTrusted) {
    const std::string id = provider(R"("createsUsers":true)");
    EXPECT_EQ(sign_in_by(id).status, 303);
    const std::string user = login_of()->user;
    User& row = desk().estate.users.edit(user);
    row.totp = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", row.totp_confirmed = true;
    (void)commit();
    const Sent sent = begin(id);
    const Reply form = back(sent);
    EXPECT_EQ(form.status, 200) << form.text;
    EXPECT_THAT(form.text, HasSubstr("name=\"code\""));
    EXPECT_EQ(sessions(), 1u);
    const auto send_code = [&](const std::string& code, const std::string& cookie) {
        return with_cookie(cookie, [&] {
            return post("/sign-in/oidc/code", fmt::format("state={}&code={}", sent.state, code), "");
        });
    };
    EXPECT_EQ(send_code("000000", sent.cookie).status, 403);
    const std::string good = totp_code(base32_bytes(desk().estate.users.at(user).totp).value(),
                                       timers.wall().time_since_epoch().count() / 30'000'000);
    EXPECT_EQ(send_code(good, sent.cookie).status, 303);
    EXPECT_EQ(sessions(), 2u);
    const Sent elsewhere = begin(id);
    EXPECT_EQ(back(elsewhere).status, 200);
    EXPECT_EQ(
        with_cookie(
            "",
            [&] { return post("/sign-in/oidc/code", fmt::format("state={}&code=1", elsewhere.state), ""); })
            .status,
        401);
    EXPECT_EQ(call("PATCH", "/v1/identity-providers/" + id, R"({"trustedSecondFactor":true})", root).status,
              200);
    EXPECT_EQ(sign_in_by(id).status, 303);
}

TEST_F(Oidc, AProviderEndsItsSessions) {
    const std::string id = provider(R"("createsUsers":true)");
    EXPECT_EQ(sign_in_by(id).status, 303);
    change = [](json::object& of) { of["sid"] = "their-2"; };
    EXPECT_EQ(sign_in_by(id).status, 303);
    const auto sent = [&](const std::string& jti, const std::function<void(json::object&)>& how) {
        json::object claims = logout_claims(jti);
        how(claims);
        return log_out(id, sign(json::serialize(claims)));
    };
    EXPECT_EQ(sent("j-1", [](auto& of) { of["nonce"] = "n"; }).status, 400);
    EXPECT_EQ(sent("j-1", [](auto& of) { of.erase("events"); }).status, 400);
    EXPECT_EQ(sent("j-1", [](auto& of) { of["events"] = json::object{{"other", json::object{}}}; }).status,
              400);
    EXPECT_EQ(sent("j-1", [](auto& of) { of["iss"] = "https://evil.example"; }).status, 400);
    EXPECT_EQ(sent("j-1", [](auto& of) { of["aud"] = "other"; }).status, 400);
    EXPECT_EQ(sent("j-1", [&](auto& of) { of["iat"] = now_s() - 3600; }).status, 400);
    EXPECT_EQ(sent("j-1", [&](auto& of) { of["exp"] = now_s() - 3600; }).status, 400);
    EXPECT_EQ(sent("j-1", [](auto& of) { of.erase("jti"); }).status, 400);
    EXPECT_EQ(sent("j-1", [](auto& of) { of.erase("sub"), of.erase("sid"); }).status, 400);
    EXPECT_EQ(log_out(id, "no token").status, 400);
    EXPECT_EQ(log_out("idp-unknown", "no token").status, 400);
    EXPECT_EQ(sessions(), 2u);
    const auto nothing = [](json::object&) {};
    EXPECT_EQ(sent("j-0", [](auto& of) { of["sub"] = "eve-1"; }).status, 200);  // Not the session's person.
    EXPECT_EQ(sessions(), 2u);
    const Reply done = sent("j-1", nothing);
    EXPECT_EQ(done.status, 200) << done.text;
    EXPECT_THAT(done.text, HasSubstr("Cache-Control: no-store"));
    ASSERT_EQ(sessions(), 1u);
    EXPECT_EQ(login_of()->sid, "their-2");
    EXPECT_EQ(sent("j-1", nothing).status, 400);                            // Replayed.
    EXPECT_EQ(sent("j-2", [](auto& of) { of.erase("sid"); }).status, 200);  // All of this person.
    EXPECT_EQ(sessions(), 0u);
}

TEST_F(Oidc, SigningOutNamesWhereTheProvidersSessionEnds) {
    const std::string id = provider(R"("createsUsers":true)");
    EXPECT_EQ(sign_in_by(id).status, 303);
    Login& login = desk().estate.logins.edit(std::string{login_of()->hash});
    EXPECT_EQ(login.end_url,
              "https://id.example/logout?client_id=hostler&post_logout_redirect_uri="
              "https%3A%2F%2Fcloud.example%2F");
    // The same session with a secret that we know.
    Login like = login;
    like.hash = "#hu_known";
    desk().estate.logins.add(std::move(like));
    (void)commit();
    const Reply out = post("/v1/sign-out", "{}", "hu_known");
    EXPECT_EQ(out.status, 200) << out.text;
    EXPECT_THAT(out.at("endSessionUrl"), HasSubstr("https://id.example/logout?"));
}

TEST_F(Oidc, ProvidersAreObjects) {
    const std::string id = provider(R"("groupsClaim":"groups")");
    const Reply shown = get("/v1/identity-providers/SSO");
    EXPECT_EQ(shown.status, 200);
    EXPECT_EQ(shown.at("redirectUrl"), "https://cloud.example/sign-in/oidc/callback");
    EXPECT_EQ(shown.at("logoutUrl"), "https://cloud.example/sign-in/oidc/" + id + "/logout");
    EXPECT_THAT(shown.text, Not(HasSubstr("opensesame")));
    EXPECT_TRUE(shown.body.at("hasClientSecret").as_bool());
    const Reply tested = post("/v1/identity-providers/" + id + "/test", "{}");
    EXPECT_EQ(tested.status, 200) << tested.text;
    EXPECT_TRUE(tested.body.at("ok").as_bool());
    down = true;
    const Reply away = post("/v1/identity-providers/" + id + "/test", "{}");
    EXPECT_FALSE(away.body.at("ok").as_bool());
    EXPECT_THAT(away.text, HasSubstr("no connection"));
    const Reply wrong =
        post("/v1/identity-providers",
             R"({"name":"b","issuer":"http://id.example","clientID":"h","scopes":["openid"],)"
             R"("groupRoles":[{"group":"a","role":"member"}],"authorities":"x","tenantID":"acme"})");
    EXPECT_EQ(wrong.status, 400);
    for (const char* field : {"issuer", "scopes[0]", "groupsClaim", "authorities"})
        EXPECT_THAT(wrong.text, HasSubstr(fmt::format(R"("field":"{}")", field)));
    EXPECT_EQ(call("DELETE", "/v1/identity-providers/" + id, "", root).status, 200);
    EXPECT_EQ(get("/v1/identity-providers/" + id).code(), "identity_provider_not_found");
}

TEST_F(Oidc, NobodyGivesMoreByAProviderThanTheyHave) {
    const std::string admin = user("boss");
    EXPECT_EQ(post("/v1/roles", R"({"name":"sso","permissions":["idp.read","idp.write"],"tenantID":"acme"})")
                  .status,
              201);
    EXPECT_EQ(
        post("/v1/grants", fmt::format(R"({{"subject":"user/{}","role":"sso","tenantID":"acme"}})", admin))
            .status,
        201);
    const std::string secret = session("boss");
    const auto make = [&](const std::string& role) {
        return post("/v1/identity-providers",
                    fmt::format(R"({{"name":"{0}","issuer":"{1}","clientID":"h","defaultRole":"{0}"}})", role,
                                issuer),
                    secret);
    };
    EXPECT_EQ(make("tenant-admin").code(), "role_exceeds");
    EXPECT_EQ(make("sso").status, 201);
}

TEST_F(Oidc, ButtonsAreOfTheCloudAndOfTheTenantAtHand) {
    EXPECT_THAT(provider_choices(desk(), ""), IsEmpty());
    const std::string acme = provider();
    const std::string cloud = provider("", "");
    const auto paths = [&](const std::string& tenant) {
        std::set<std::string> found;
        for (const ProviderChoice& one : provider_choices(desk(), tenant)) found.insert(one.path);
        return found;
    };
    EXPECT_THAT(paths(""), ElementsAre("/sign-in/oidc/" + cloud));
    EXPECT_EQ(paths("acme").size(), 2u);
    EXPECT_EQ(paths("globex").size(), 1u);
    EXPECT_EQ(call("PATCH", "/v1/identity-providers/" + acme, R"({"listed":true})", root).status, 200);
    EXPECT_EQ(paths("").size(), 2u);
}

TEST_F(Oidc, AttemptsAreBounded) {
    const std::string id = provider(R"("createsUsers":true)");
    const Sent first = begin(id);
    for (std::size_t i = 0; i < attempts_client_max; ++i) {
        begin(id);
        clients.clear();
    }
    EXPECT_EQ(oidc_of(term()).attempts.size(), attempts_client_max);
    EXPECT_EQ(back(first).status, 401);
    address = "203.0.113.8:5000";
    EXPECT_EQ(sign_in_by(id).status, 303);
}

}  // namespace
}  // namespace hostler::master::testing
