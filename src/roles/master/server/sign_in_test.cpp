// The page where a browser signs in to an instance, as it is served.
#include <gmock/gmock.h>

#include "core/percent.h"
#include "roles/master/http/caller.h"
#include "roles/master/testing/front_rig.h"

namespace hostler::master {
namespace {

using hostler::testing::MemoryStream;
using testing::FrontTest;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct SignInTest : FrontTest {
    SignInTest() {
        desk().estate.gateways.add(
            {.name = "gw-1", .address = "http://localhost:8443", .domain = "localhost"});
        (void)commit();
    }
    static std::string form(const std::string& to, const std::string& secret) {
        return post("/sign-in", "return=" + percent_encode(to) + "&key=" + percent_encode(secret));
    }
    // The code that the answer's Location carries.
    static std::string code_of(const std::string& told) {
        const auto at = told.find("code=");
        return at == told.npos ? "" : told.substr(at + 5, told.find('&', at) - at - 5);
    }
    const std::string to = "http://8080-i-1.localhost:8443/lab?x=1";
};

TEST_F(SignInTest, AsksForAKeyAndSendsOnWithACode) {
    const std::string page = get("/sign-in?return=" + percent_encode(to));
    EXPECT_THAT(page, StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(page, HasSubstr("form-action 'self' http://8080-i-1.localhost:8443;"))
        << "browsers hold the redirect after the form against it";
    EXPECT_THAT(page, HasSubstr("frame-ancestors 'none'"));
    const std::string wrong = answer(form(to, "hk_nobody"));
    EXPECT_THAT(wrong, StartsWith("HTTP/1.1 403"));
    EXPECT_THAT(wrong, HasSubstr("This key is unknown"));
    EXPECT_TRUE(term().look().estate.sign_ins.all().empty());
    const std::string sent = answer(form(to, "hk_acme"));
    EXPECT_THAT(sent, StartsWith("HTTP/1.1 303"));
    EXPECT_THAT(sent, HasSubstr("Location: http://8080-i-1.localhost:8443/.hostler/session?code=hc_"));
    EXPECT_THAT(sent, HasSubstr("&to=%2Flab%3Fx%3D1\r\n"));
    EXPECT_THAT(sent, HasSubstr("Referrer-Policy: no-referrer"));
    const std::string session = redeem_code(term(), code_of(sent), "8080-i-1").value_or("");
    const auto caller = caller_of_sign_in(term(), session, "8080-i-1");
    ASSERT_TRUE(caller);
    EXPECT_EQ(caller->caller.tenant, "acme");
}

TEST_F(SignInTest, TakesAKeyFromItsOwnPageAlone) {
    settings.public_url = "https://api.example/hostler";
    const auto sent = [&](const std::string& headers) {
        return answer(post("/sign-in", "return=" + percent_encode(to) + "&key=hk_acme", headers));
    };
    for (const std::string headers :
         {"Origin: http://evil.example\r\n", "Origin: null\r\n", "Origin: http://api.evil.example\r\n",
          "Origin: https://api.example:8443\r\n", "Sec-Fetch-Site: cross-site\r\n",
          "Sec-Fetch-Site: same-site\r\nOrigin: http://api\r\n"}) {
        const std::string told = sent(headers);
        EXPECT_THAT(told, StartsWith("HTTP/1.1 403")) << headers;
        EXPECT_THAT(told, HasSubstr("another origin")) << headers;
    }
    EXPECT_TRUE(term().look().estate.sign_ins.all().empty());
    for (const std::string headers :
         {"", "Origin: http://api\r\n", "Origin: https://API\r\n", "Origin: https://api.example\r\n",
          "Sec-Fetch-Site: same-origin\r\nOrigin: null\r\n"})
        EXPECT_THAT(sent(headers), StartsWith("HTTP/1.1 303")) << headers;
    EXPECT_THAT(get("/sign-in?return=" + percent_encode(to)), HasSubstr("Referrer-Policy: same-origin"))
        << "else its own form has no origin";
}

TEST_F(SignInTest, ACodeIsTellWorthyWhenItIsDurable) {
    store.hang = true;
    MemoryStream& client = send(form(to, "hk_acme"));
    EXPECT_EQ(client.unread(), "");
    store.let_go();
    timers.settle();
    EXPECT_THAT(std::string{client.unread()}, StartsWith("HTTP/1.1 303"));
}

TEST_F(SignInTest, SendsNobodyElsewhere) {
    for (const std::string away : {"http://evil.example/", "http://8080-i-1.localhost:8443.evil.example/",
                                   "https://8080-i-1.localhost:8443/", ""}) {
        EXPECT_THAT(get("/sign-in?return=" + percent_encode(away)), StartsWith("HTTP/1.1 400")) << away;
        const std::string told = answer(form(away, "hk_acme"));
        EXPECT_THAT(told, StartsWith("HTTP/1.1 400")) << away;
        EXPECT_THAT(told, Not(HasSubstr("Location"))) << away;
    }
    EXPECT_TRUE(term().look().estate.sign_ins.all().empty());
}

TEST_F(SignInTest, WithAPortEachTheSessionIsForTheInstanceBehindThePort) {
    Gateway& gateway = desk().estate.gateways.edit("gw-1");
    gateway.domain = "";
    Instance instance{.id = "i-old", .tenant = "acme", .phase = InstancePhase::stopped};
    instance.spec.ports = {{.port = 8080, .own_port = 20001}};
    desk().estate.instances.add(instance);
    const std::string at = "http://localhost:20001/";
    EXPECT_THAT(get("/sign-in?return=" + percent_encode(at)), StartsWith("HTTP/1.1 404")) << "it has ended";
    instance.id = "i-new";
    instance.phase = InstancePhase::running;
    desk().estate.instances.add(instance);
    const std::string sent = answer(form(at, "hk_acme"));
    EXPECT_THAT(sent, HasSubstr("Location: http://localhost:20001/.hostler/session?code="));
    EXPECT_FALSE(redeem_code(term(), code_of(sent), "8080-i-old"));
    const auto session = redeem_code(term(), code_of(sent), "8080-i-new");
    ASSERT_TRUE(session);
    EXPECT_TRUE(caller_of_sign_in(term(), *session, "8080-i-new"));
    EXPECT_FALSE(caller_of_sign_in(term(), *session, "8080-i-old"))
        << "who gets the port next gets no session with it";
    EXPECT_THAT(get("/sign-in?return=" + percent_encode("http://localhost:20002/")),
                StartsWith("HTTP/1.1 404"));
}

}  // namespace
}  // namespace hostler::master
