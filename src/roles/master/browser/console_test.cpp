// The console: its files, and how a browser that shows it calls the API.
#include "roles/master/browser/console.h"

#include "roles/master/http/caller.h"
#include "roles/master/testing/people_rig.h"

namespace hostler::master::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr http::StaticFile files[] = {{"index.html", "<p>page", "zipped page", "\"p1\""},
                                      {"assets/main-1.js", "script", "zipped script", "\"s1\""}};
constexpr std::string_view our_header = "X-Hostler-Console: 1\r\n";

struct ConsoleTest : PeopleTest {
    ConsoleTest() {
        settings.public_url = "http://api";
        ports.console = files;
    }
    // A browser whose page of this origin asks.
    void browser(const std::string& cookie, std::string_view more = our_header,
                 std::string_view site = "same-origin") {
        headers = fmt::format("Sec-Fetch-Site: {}\r\n{}", site, more);
        if (!cookie.empty()) headers += fmt::format("Cookie: theme=dark; {}\r\n", cookie);
    }
    Reply form(const std::vector<std::pair<std::string, std::string>>& fields) {
        std::string body;
        for (const auto& [name, value] : fields)
            body += fmt::format("{}{}={}", body.empty() ? "" : "&", name, percent_encode(value));
        browser("", "");
        return post("/sign-in", body, "");
    }
    Reply by_password(const std::string& login, const std::string& path = "/console/") {
        return form(
            {{"target", "console:" + path}, {"login", login}, {"password", std::string{good_password}}});
    }
    Reply by_key(const std::string& key) { return form({{"target", "console:/console/"}, {"key", key}}); }
    static std::string between(const std::string& text, std::string_view begin, std::string_view end) {
        const auto at = text.find(begin);
        if (at == text.npos) return {};
        return text.substr(at + begin.size(), text.find(end, at + begin.size()) - at - begin.size());
    }
    static std::string cookie_in(const Reply& sent) { return between(sent.text, "Set-Cookie: ", ";"); }
    int whoami() { return get("/v1/whoami", "").status; }
    std::string made_key(const std::string& more = "") {
        const Reply account = post("/v1/service-accounts", R"({"name":"ci","tenantID":"acme"})");
        EXPECT_EQ(account.status, 201) << account.text;
        const Reply made = post(fmt::format("/v1/service-accounts/{}/keys", account.at("id")),
                                fmt::format(R"({{"name":"k"{}}})", more));
        EXPECT_EQ(made.status, 201) << made.text;
        return made.at("secret");
    }
};

TEST_F(ConsoleTest, ItsFilesAreServedWhileNobodyLeads) {
    lead.term->end({Code::unavailable, "over"});
    const Reply page = get("/console/", "");
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.text, HasSubstr("<p>page"));
    EXPECT_THAT(page.text, HasSubstr("script-src 'self'; connect-src 'self' ws: wss:"));
    EXPECT_THAT(page.text, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(page.text, HasSubstr("Cache-Control: no-cache"));
    EXPECT_THAT(get("/console/instances/i-1?tab=logs", "").text, HasSubstr("<p>page"))
        << "the page itself knows what it shows there";
    EXPECT_THAT(get("/console", "").text, HasSubstr("Location: /console/"));
    headers = "Accept-Encoding: gzip\r\n";
    const Reply script = get("/console/assets/main-1.js", "");
    EXPECT_THAT(script.text, HasSubstr("zipped script"));
    EXPECT_THAT(script.text, HasSubstr("immutable"));
    EXPECT_EQ(get("/console/assets/main-0.js", "").status, 404) << "of another release";
    EXPECT_EQ(post("/console/", "x", "").status, 404) << "nothing is there to change";
}

TEST_F(ConsoleTest, ABrowserThatOpensTheApiIsLedThere) {
    headers = "Accept: text/html\r\n";
    EXPECT_THAT(get("/", "").text, HasSubstr("Location: /console/"));
    headers = "";
    EXPECT_THAT(get("/", "").text, HasSubstr("\"openapi\""));
}

TEST_F(ConsoleTest, APersonSignsInAndOut) {
    user("ann@acme");
    const Reply page = get("/sign-in?target=console:/console/instances", "");
    EXPECT_THAT(page.text, HasSubstr("to open the console"));
    const Reply sent = by_password("ann@acme", "/console/instances?q=a");
    EXPECT_EQ(sent.status, 303) << sent.text;
    EXPECT_THAT(sent.text, HasSubstr("Location: /console/instances?q=a\r\n"));
    EXPECT_THAT(sent.text, HasSubstr("HttpOnly; SameSite=Strict\r\n"));
    const std::string cookie = cookie_in(sent);
    browser(cookie);
    const Reply who = get("/v1/whoami", "");
    EXPECT_EQ(who.status, 200);
    EXPECT_THAT(who.at("actor"), ::testing::StartsWith("user/"));
    EXPECT_EQ(get("/v1/sessions", "").items(), 1u);
    const Reply out = post("/v1/sign-out", "{}", "");
    EXPECT_EQ(out.status, 200) << out.text;
    EXPECT_THAT(out.text, HasSubstr("Max-Age=0"));
    EXPECT_EQ(whoami(), 401);
    EXPECT_TRUE(desk().estate.sign_ins.all().empty());
    EXPECT_TRUE(desk().estate.logins.all().empty());
}

TEST_F(ConsoleTest, ItLeadsToItsOwnAddressesOnly) {
    user("ann@acme");
    for (const char* bad : {"https://evil.example/", "//evil.example", "/console/..//evil.example",
                            "/v1/whoami", "/console/\\evil.example", "/console/a\r\nX: y", ""})
        EXPECT_THAT(by_password("ann@acme", bad).text, HasSubstr("Location: /console/\r\n")) << bad;
}

TEST_F(ConsoleTest, ItsCookieCountsForItsOwnPagesOnly) {
    user("ann@acme");
    const std::string cookie = cookie_in(by_password("ann@acme"));
    browser(cookie);
    EXPECT_EQ(whoami(), 200);
    browser(cookie, "");
    EXPECT_EQ(whoami(), 401) << "a page of another origin cannot send our header";
    browser(cookie, our_header, "same-site");
    EXPECT_EQ(whoami(), 401) << "an instance at another port";
    headers = fmt::format("{}Origin: http://api:8443\r\nCookie: {}\r\n", our_header, cookie);
    EXPECT_EQ(whoami(), 401) << "the same of a browser that sends no Sec-Fetch-Site";
    EXPECT_EQ(post("/v1/sign-out", "{}", "").status, 401);
    browser(cookie.substr(cookie.find('=') + 1));
    EXPECT_EQ(whoami(), 401) << "under another name";
    headers = "";
    EXPECT_EQ(get("/v1/whoami", cookie.substr(cookie.find('=') + 1)).status, 401) << "it is no key";
    EXPECT_EQ(call("OPTIONS", "/v1/whoami").status, 405) << "a preflight is refused";
}

TEST_F(ConsoleTest, OfTwoSessionsNoneCounts) {
    user("ann@acme");
    const std::string cookie = cookie_in(by_password("ann@acme"));
    const std::string planted = cookie_in(by_key(std::string{root}));
    for (const auto& [first, second] : {std::pair{planted, cookie}, std::pair{cookie, planted}}) {
        browser(first + "; " + second);
        const Reply refused = get("/v1/whoami", "");
        EXPECT_EQ(refused.status, 401);
        EXPECT_EQ(refused.code(), "two_sessions");
    }
    browser(cookie + "; " + cookie);
    EXPECT_EQ(whoami(), 200) << "the same one twice";
}

TEST_F(ConsoleTest, AnInstancesSessionOpensNoConsole) {
    const auto caller = caller_of(term(), std::string{root});
    const std::string session = make_session(term(), *caller, "8080-i-1");
    (void)commit();
    browser("__hostler_console=" + session);
    EXPECT_EQ(whoami(), 401);
}

TEST_F(ConsoleTest, AKeySignsInAndItsEndEndsIt) {
    const std::string key = made_key();
    const std::string cookie = cookie_in(by_key(key));
    browser(cookie);
    const Reply who = get("/v1/whoami", "");
    EXPECT_EQ(who.status, 200) << who.text;
    EXPECT_THAT(who.text, Not(HasSubstr(key)));
    headers = "";
    const std::string id = get("/v1/api-keys").body.at("items").at(0).at("id").as_string().c_str();
    EXPECT_EQ(call("DELETE", "/v1/api-keys/" + id, "", root).status, 200);
    browser(cookie);
    EXPECT_EQ(whoami(), 401);
}

TEST_F(ConsoleTest, AKeyForSomeAddressesIsNoneElsewhere) {
    const std::string key = made_key(R"(,"addresses":["203.0.113.0/24"])");
    const std::string cookie = cookie_in(by_key(key));
    browser(cookie);
    EXPECT_EQ(whoami(), 200);
    address = "198.51.100.7:5000";
    EXPECT_EQ(whoami(), 401);
}

TEST_F(ConsoleTest, AKeysSessionIsSignedOut) {
    browser(cookie_in(by_key(std::string{root})));
    EXPECT_EQ(whoami(), 200);
    EXPECT_EQ(post("/v1/sign-out", "{}", "").status, 200);
    EXPECT_EQ(whoami(), 401);
    headers = "";
    EXPECT_EQ(get("/v1/whoami").status, 200) << "the key itself stays";
}

TEST_F(ConsoleTest, TheAuditHasTheBeginningAndTheEndOfASession) {
    const std::string key = made_key();
    const std::string actor = get("/v1/whoami", key).at("actor");
    const auto begun = store.lines.size();
    const std::string cookie = cookie_in(by_key(key));
    browser(cookie);
    EXPECT_EQ(post("/v1/sign-out", "{}", "").status, 200);
    ASSERT_EQ(store.lines.size(), begun + 2);
    const AuditLine &in = store.lines[begun], &out = store.lines[begun + 1];
    EXPECT_EQ(in.operation, "signIn");
    EXPECT_EQ(out.operation, "signOut");
    EXPECT_EQ(in.actor, actor);
    EXPECT_EQ(in.tenant, "acme");
    EXPECT_EQ(in.address, out.address);
    EXPECT_THAT(in.subject, ::testing::StartsWith("session/s-"));
    EXPECT_EQ(in.subject, out.subject);
    EXPECT_FALSE(anywhere_in_store(cookie.substr(cookie.find('=') + 1)));
    headers = "";
    const std::string url = post("/v1/console-links", "{}").at("url");
    browser("", "", "none");
    EXPECT_EQ(get(url.substr(url.find("/sign-in")), "").status, 303);
    EXPECT_EQ(store.lines.back().operation, "signIn");
    EXPECT_EQ(store.lines.back().actor, "key/operator");
}

TEST_F(ConsoleTest, SigningOutEndsWhatTheBrowserWatches) {
    user("ann@acme");
    EXPECT_EQ(post("/v1/grants", R"({"subject":"user/ann@acme","role":"viewer","tenantID":"acme"})").status,
              201);
    browser(cookie_in(by_password("ann@acme")));
    auto& watch = send("GET", "/v1/instances?watch=true", "", "");
    EXPECT_THAT(watch.unread(), HasSubstr("text/event-stream"));
    EXPECT_EQ(post("/v1/sign-out", "{}", "").status, 200);
    for (int i = 0; i < 5; ++i) timers.advance(1s), timers.settle();
    EXPECT_THAT(std::string{watch.unread()}, ::testing::EndsWith("\r\n0\r\n\r\n")) << "the stream has ended";
}

TEST_F(ConsoleTest, ALinkSignsInOnce) {
    const Reply made = post("/v1/console-links", "{}");
    EXPECT_EQ(made.status, 201) << made.text;
    EXPECT_THAT(made.at("url"), ::testing::StartsWith("http://api/sign-in/console?code=hc_"));
    for (const AuditLine& line : store.lines) EXPECT_THAT(line.after, Not(HasSubstr("hc_")));
    const std::string link = made.at("url").substr(std::string_view{"http://api"}.size());
    browser("", "", "cross-site");
    EXPECT_EQ(get(link, "").status, 403) << "another site would sign a person in as another one";
    browser("", "", "same-site");
    EXPECT_EQ(get(link, "").status, 403) << "so would an instance at another port";
    browser("", "", "none");
    timers.advance(9min);
    const Reply opened = get(link, "");
    EXPECT_EQ(opened.status, 303) << opened.text;
    EXPECT_THAT(opened.text, HasSubstr("Location: /console/\r\n"));
    EXPECT_EQ(get(link, "").status, 403) << "it was used";
    browser(cookie_in(opened));
    EXPECT_THAT(get("/v1/whoami", "").text, HasSubstr("\"isOperator\":true"));
}

TEST_F(ConsoleTest, AKeyHasSoManySessionsAndTheOldestMakesRoom) {
    const std::string key = made_key();
    std::vector<std::string> cookies;
    for (std::size_t i = 0; i <= console_sessions_max; ++i) {
        cookies.push_back(cookie_in(by_key(key)));
        timers.advance(1s);
    }
    EXPECT_EQ(desk().estate.sign_ins.all().size(), console_sessions_max);
    browser(cookies.front());
    EXPECT_EQ(whoami(), 401);
    for (const std::string& cookie : {cookies[1], cookies.back()}) {
        browser(cookie);
        EXPECT_EQ(whoami(), 200);
    }
    browser(cookie_in(by_key(std::string{root})));
    EXPECT_EQ(whoami(), 200);
    browser(cookies[1]);
    EXPECT_EQ(whoami(), 200) << "another key's sessions are counted apart";
}

TEST_F(ConsoleTest, AKeyHasSoManyLinksAndTheOldestMakesRoom) {
    std::vector<std::string> links;
    for (std::size_t i = 0; i <= console_links_max; ++i) {
        const std::string url = post("/v1/console-links", "{}").at("url");
        links.push_back(url.substr(url.find("/sign-in")));
        timers.advance(1s);
    }
    EXPECT_EQ(desk().estate.sign_ins.all().size(), console_links_max);
    browser("", "", "none");
    EXPECT_EQ(get(links.front(), "").status, 403);
    EXPECT_EQ(get(links[1], "").status, 303);
    EXPECT_EQ(get(links.back(), "").status, 303);
}

TEST_F(ConsoleTest, ASessionMakesNoOther) {
    browser(cookie_in(by_key(std::string{root})));
    const Reply refused = post("/v1/console-links", "{}", "");
    EXPECT_EQ(refused.code(), "by_session") << refused.text;
}

TEST_F(ConsoleTest, AnotherKeyOfTheOperatorEndsTheSessionsOfTheFirst) {
    const std::string cookie = cookie_in(by_key(std::string{root}));
    const std::string url = post("/v1/console-links", "{}").at("url");
    settings.operator_key_hash = "#hk_next";
    browser(cookie);
    EXPECT_EQ(whoami(), 401);
    browser("", "", "none");
    browser(cookie_in(get(url.substr(url.find("/sign-in")), "")));
    EXPECT_EQ(whoami(), 401) << "by a link of the first";
}

TEST_F(ConsoleTest, ALinkEndsByItself) {
    const std::string url = post("/v1/console-links", "{}").at("url");
    timers.advance(10min);
    browser("", "", "none");
    EXPECT_EQ(get(url.substr(url.find("/sign-in")), "").status, 403);
}

TEST_F(ConsoleTest, OverTlsNoOtherHostMaySetTheCookie) {
    settings.public_url = "https://api";
    ports.arrival.certificate = [] { return nullptr; };
    finish(), begin(2);  // The next term knows it.
    user("ann@acme");
    const Reply sent = by_password("ann@acme");
    EXPECT_THAT(sent.text, HasSubstr("Set-Cookie: __Host-hostler_console="));
    EXPECT_THAT(sent.text, HasSubstr("; Secure"));
    const std::string session = cookie_in(sent).substr(cookie_in(sent).find('=') + 1);
    browser("__hostler_console=" + session);
    EXPECT_EQ(whoami(), 401);
    browser(cookie_in(sent));
    EXPECT_EQ(whoami(), 200);
}

}  // namespace
}  // namespace hostler::master::testing
