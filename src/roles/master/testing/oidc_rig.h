// For tests: an identity provider that does what it is asked to, also what it should not.
#pragma once

#include "roles/master/oidc/documents.h"
#include "roles/master/oidc/oidc_state.h"
#include "roles/master/testing/people_rig.h"

namespace hostler::master::testing {

struct OidcTest : PeopleTest {
    static constexpr std::string_view issuer = "https://id.example";
    static constexpr std::string_view opens = "gateway:http://8080-i-1.localhost:8443/lab";

    OidcTest() {
        settings.public_url = "https://cloud.example";
        desk().estate.gateways.add(
            {.name = "gw-1", .address = "http://localhost:8443", .domain = "localhost"});
        desk().estate.tenants.add({.id = "acme"});
        (void)commit();
        discovery = {{"issuer", issuer},
                     {"authorization_endpoint", "https://id.example/authorize"},
                     {"token_endpoint", "https://id.example/token"},
                     {"jwks_uri", "https://id.example/keys"},
                     {"userinfo_endpoint", "https://id.example/me"},
                     {"end_session_endpoint", "https://id.example/logout"}};
        outgoing.servers[std::string{issuer}] = [this](const HttpCall& call) { return answer(call); };
    }

    // ── The provider

    std::int64_t now_s() const {
        return std::chrono::floor<std::chrono::seconds>(timers.wall()).time_since_epoch().count();
    }
    boost::json::object claims_for(std::string_view nonce) const {
        return {{"iss", issuer},
                {"sub", "ann-1"},
                {"aud", "hostler"},
                {"exp", now_s() + 300},
                {"iat", now_s()},
                {"nonce", nonce},
                {"sid", "their-1"},
                {"preferred_username", "ann"},
                {"email", "ann@id.example"},
                {"email_verified", true}};
    }
    Result<HttpAnswer> answer(const HttpCall& call) {
        const std::string path = call.url.substr(issuer.size());
        ++asked[path];
        if (down) return fail(Code::unavailable, "no connection");
        if (redirects) return HttpAnswer{302, {{"Location", "http://169.254.169.254/"}}, ""};
        if (path == "/.well-known/openid-configuration")
            return HttpAnswer{200, {}, boost::json::serialize(discovery)};
        if (path == "/keys") return HttpAnswer{200, {}, keys};
        if (path == "/me") return HttpAnswer{200, {}, boost::json::serialize(userinfo)};
        if (path != "/token") return HttpAnswer{404, {}, ""};
        const auto code = codes.find(form_value(call.body, "code"));
        if (code == codes.end()) return HttpAnswer{400, {}, R"({"error":"invalid_grant"})"};
        boost::json::object claims = claims_for(code->second);
        codes.erase(code);
        change(claims);
        const boost::json::object tokens_of{{"id_token", sign(boost::json::serialize(claims))},
                                            {"access_token", "at-1"}};
        return HttpAnswer{200, {}, boost::json::serialize(tokens_of)};
    }

    // ── The browser

    std::string provider(const std::string& more = "", const std::string& tenant = "acme") {
        const Reply made = post("/v1/identity-providers",
                                fmt::format(R"({{"name":"SSO","issuer":"{}","clientID":"hostler")"
                                            R"(,"clientSecret":"opensesame"{}{}}})",
                                            issuer, tenant.empty() ? "" : R"(,"tenantID":")" + tenant + '"',
                                            more.empty() ? "" : "," + more));
        EXPECT_EQ(made.status, 201) << made.text;
        return made.at("id");
    }
    static std::string between(const std::string& text, std::string_view begin, std::string_view end) {
        const auto at = text.find(begin);
        if (at == text.npos) return {};
        const auto from = at + begin.size();
        return text.substr(from, text.find(end, from) - from);
    }
    struct Sent {
        Reply reply;
        std::string state, nonce, challenge, cookie;
    };
    Sent begin(const std::string& id, std::string_view target = opens) {
        Sent sent{.reply =
                      call("GET", fmt::format("/sign-in/oidc/{}?target={}", id, percent_encode(target)))};
        const std::string to = between(sent.reply.text, "Location: ", "\r\n");
        const std::string query = to.substr(std::min(to.size(), to.find('?') + 1));
        sent.state = form_value(query, "state");
        sent.nonce = form_value(query, "nonce");
        sent.challenge = form_value(query, "code_challenge");
        sent.cookie = between(sent.reply.text, "Set-Cookie: ", ";");
        return sent;
    }
    Reply with_cookie(const std::string& cookie, const std::function<Reply()>& ask) {
        headers = cookie.empty() ? "" : "Cookie: other=1; " + cookie + "\r\n";
        Reply reply = ask();
        headers.clear();
        return reply;
    }
    Reply back(const Sent& sent, const std::string& more = "") {
        codes["c-1"] = sent.nonce;
        return with_cookie(sent.cookie, [&] {
            return call("GET", fmt::format("/sign-in/oidc/callback?code=c-1&state={}{}", sent.state, more));
        });
    }
    Reply sign_in_by(const std::string& id) { return back(begin(id)); }
    const Login* login_of(const std::string& subject = "ann-1") {
        for (const auto& [hash, login] : desk().estate.logins.all())
            if (login.subject == subject) return &login;
        return nullptr;
    }
    std::size_t sessions() { return desk().estate.logins.all().size(); }
    std::vector<std::string> roles_of(const std::string& user) {
        std::vector<std::string> roles;
        for (const Grant* grant : desk().estate.grants.by().subject.of("user/" + user))
            roles.push_back(grant->role + "@" + grant->tenant + "/" + grant->project);
        std::ranges::sort(roles);
        return roles;
    }
    Reply log_out(const std::string& id, const std::string& token) {
        return post(fmt::format("/sign-in/oidc/{}/logout", id), "logout_token=" + percent_encode(token), "");
    }
    boost::json::object logout_claims(const std::string& jti) const {
        return {{"iss", issuer},
                {"aud", "hostler"},
                {"iat", now_s()},
                {"exp", now_s() + 120},
                {"jti", jti},
                {"sid", "their-1"},
                {"sub", "ann-1"},
                {"events", boost::json::object{{"http://schemas.openid.net/event/backchannel-logout",
                                                boost::json::object{}}}}};
    }

    boost::json::object discovery, userinfo{{"sub", "ann-1"}};
    std::string keys = hostler::testing::PlainTokens::keys({"k-1"});
    std::function<std::string(const std::string&)> sign = [](const std::string& claims) {
        return hostler::testing::PlainTokens::token("k-1", claims);
    };
    std::function<void(boost::json::object&)> change = [](boost::json::object&) {};
    std::map<std::string, std::string> codes;  // Each with its nonce.
    std::map<std::string, int> asked;          // By path.
    bool down = false, redirects = false;
};

}  // namespace hostler::master::testing
