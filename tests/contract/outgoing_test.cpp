// The Outgoing port by libcurl: real sockets, a real mail server, a real Alertmanager.
#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "adapters/curl/outgoing.h"
#include "adapters/net/digest.h"
#include "adapters/net/testing/web_certificates.h"
#include "domain/alert/notice.h"
#include "ports/hmac.h"
#include "tests/contract/program.h"
#include "tests/contract/receiver.h"
#include "tests/contract/rig.h"

namespace hostler::contract {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class OutgoingRig : public RealRig<Rig> {
public:
    std::unique_ptr<Timers> real = net::make_timers(loop_);
    std::unique_ptr<Outgoing> outgoing = curl::make_outgoing(loop_, *real, {});
};

class OutgoingCurl : public ::testing::Test {
protected:
    template <class T>
    Result<T> run(Task<T> task) {
        return rig_.run(std::move(task));
    }
    std::unique_ptr<Receiver> receiver(std::shared_ptr<const Credentials> own = {}) {
        auto made = std::make_unique<Receiver>(rig_.loop(), *rig_.real, std::move(own));
        EXPECT_TRUE(run(made->start()));
        return made;
    }
    Result<HttpAnswer> send(HttpCall call) { return run(rig_.outgoing->send(std::move(call))); }
    HttpCall ours(const std::string& url) { return {.url = url, .reach = Reach::anywhere}; }

public:
    OutgoingRig rig_;
};

void expect_code(const auto& result, Code code, std::string_view reason = {}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, code) << result.error().message;
    EXPECT_EQ(result.error().reason, reason) << result.error().message;
}

TEST_F(OutgoingCurl, SendsWhatItIsGivenAndNothingElse) {
    const auto server = receiver();
    server->answer = [](const Receiver::Heard&) -> Task<http::Response> {
        co_return http::Response{
            .status = 429, .headers = {{"Retry-After", "7"}, {"X-Empty", ""}}, .body = "later"};
    };
    const std::string body = std::string(100'000, 'x') + '\0' + "end";
    auto call = ours("http://" + server->address() + "/hook?a=b%20c");
    call.headers = {{"Content-Type", "application/json"}, {"X-Own", "yes"}};
    call.body = body;
    const auto answer = send(call);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 429);
    EXPECT_EQ(answer->header("retry-after"), "7");
    EXPECT_EQ(answer->body, "later");
    ASSERT_EQ(server->heard.size(), 1U);
    const http::Request& request = server->heard[0].request;
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, "/hook?a=b%20c");
    EXPECT_EQ(server->heard[0].body, body);
    EXPECT_EQ(request.headers.find("content-type"), "application/json");
    EXPECT_EQ(request.headers.find("x-own"), "yes");
    EXPECT_EQ(request.headers.find("host"), server->address());
    EXPECT_FALSE(request.headers.has("expect"));
    for (const std::string method : {"GET", "PUT", "DELETE", "HEAD"}) {
        call.method = method;
        call.body = method == "PUT" ? "p" : "";
        ASSERT_TRUE(send(call)) << method;
        EXPECT_EQ(server->heard.back().request.method, method);
        EXPECT_EQ(server->heard.back().body, call.body);
    }
    EXPECT_TRUE(run(server->stop()));
}

TEST_F(OutgoingCurl, ATenantsCallReachesNothingInside) {
    const auto server = receiver();
    const int port = server->port();
    for (const std::string host : {"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1",
                                   "127.1", "0.0.0.0", "[::1]", "169.254.169.254", "10.255.255.1"}) {
        HttpCall call{.url = fmt::format("http://{}:{}/", host, port)};
        expect_code(send(call), Code::forbidden, "out_of_reach");
    }
    EXPECT_EQ(server->connections, 0U) << "not a byte left";
    // What an operator's call left open is not used for a tenant's.
    EXPECT_TRUE(send(ours(fmt::format("http://127.0.0.1:{}/", port))));
    EXPECT_TRUE(send(ours(fmt::format("http://127.0.0.1:{}/", port))));
    EXPECT_EQ(server->connections, 1U) << "an operator's own connection is kept";
    expect_code(send({.url = fmt::format("http://127.0.0.1:{}/", port)}), Code::forbidden, "out_of_reach");
    EXPECT_EQ(server->heard.size(), 2U);
    // An operator may allow it.
    const auto opened =
        curl::make_outgoing(rig_.loop(), *rig_.real, {.allowed = {parse_ip_range("127.0.0.0/8").value()}});
    EXPECT_TRUE(run(opened->send({.url = fmt::format("http://127.0.0.1:{}/", port)})));
    EXPECT_TRUE(run(server->stop()));
}

TEST_F(OutgoingCurl, RedirectsAreAnswersAndProxiesOfTheEnvironmentAreNot) {
    const auto server = receiver();
    server->answer = [&](const Receiver::Heard&) -> Task<http::Response> {
        co_return http::Response{.status = 302,
                                 .headers = {{"Location", "http://" + server->address() + "/else"}}};
    };
    ::setenv("http_proxy", "http://127.0.0.1:1", 1);
    const auto answer = send(ours("http://" + server->address() + "/"));
    ::unsetenv("http_proxy");
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 302);
    EXPECT_EQ(server->heard.size(), 1U);
    EXPECT_TRUE(run(server->stop()));
}

TEST_F(OutgoingCurl, CertificatesAreChecked) {
    net::testing::WebAuthority authority;
    const auto good = receiver(std::make_shared<Credentials>(authority.issue("DNS:localhost,IP:127.0.0.1")));
    auto call = ours("https://" + good->address() + "/");
    expect_code(send(call), Code::unauthenticated);
    call.authorities = authority.pem();
    EXPECT_TRUE(send(call));
    call.authorities = net::testing::WebAuthority{}.pem();
    expect_code(send(call), Code::unauthenticated);
    EXPECT_TRUE(run(good->stop()));
    const auto other = receiver(std::make_shared<Credentials>(authority.issue("DNS:else.example")));
    call.url = "https://" + other->address() + "/";
    call.authorities = authority.pem();
    expect_code(send(call), Code::unauthenticated);
    EXPECT_TRUE(other->heard.empty());
    EXPECT_TRUE(run(other->stop()));
}

TEST_F(OutgoingCurl, EveryWaitAndEveryAnswerHasAnEnd) {
    const auto server = receiver();
    Signal never;
    server->answer = [&](const Receiver::Heard& heard) -> Task<http::Response> {
        if (heard.request.target == "/large")
            co_return http::Response{.status = 200, .body = std::string(2000, 'x')};
        CO_TRY(co_await never.wait());
        co_return http::Response{};
    };
    auto call = ours("http://" + server->address() + "/large");
    call.answer_bytes_max = 2000;
    EXPECT_TRUE(send(call));
    call.answer_bytes_max = 1999;
    expect_code(send(call), Code::exhausted, "answer_too_large");
    call.url = "http://" + server->address() + "/never";
    call.deadline = 200ms;
    expect_code(send(call), Code::timeout);
    expect_code(send(ours("http://127.0.0.1:1/")), Code::unavailable);
    expect_code(send(ours("http://nobody.invalid/")), Code::unavailable);
    expect_code(send(ours("nonsense")), Code::invalid);
    EXPECT_TRUE(run(server->stop()));
}

TEST_F(OutgoingCurl, CancelledCallsLeaveRoomForOthers) {
    const auto server = receiver();
    bool answers = false;
    Signal never;
    server->answer = [&](const Receiver::Heard&) -> Task<http::Response> {
        if (!answers) CO_TRY(co_await never.wait());
        co_return http::Response{};
    };
    const auto url = "http://" + server->address() + "/";
    TaskGroup group{rig_.loop()};
    std::size_t refused = 0;
    for (std::size_t i = 0; i < Outgoing::under_way_max + Outgoing::waiting_max + 3; ++i)
        group.start("call", [](OutgoingCurl& test, std::string to, std::size_t& full) -> Task<> {
            const auto answer =
                co_await test.rig_.outgoing->send({.url = to, .reach = Reach::anywhere, .deadline = 60s});
            if (!answer && answer.error().reason == "outgoing_full") ++full;
            co_return Result<>{};
        }(*this, url, refused));
    rig_.drive([&] { return refused == 3 && server->heard.size() == Outgoing::under_way_max; });
    EXPECT_TRUE(run(group.close()));
    answers = true;
    EXPECT_TRUE(send(ours(url)));
    EXPECT_TRUE(run(server->stop()));
}

// ── mail ──

// aiosmtpd with STARTTLS and a user; each letter is a line of JSON with what a mail program sees of it.
constexpr std::string_view mail_server = R"(
import asyncio, email, email.policy, json, ssl, sys
from aiosmtpd.smtp import SMTP, AuthResult
folder, mode = sys.argv[1:]
class Sink:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 no such user"
        if address.startswith("busy@"):
            return "451 come back"
        envelope.rcpt_tos.append(address)
        return "250 OK"
    async def handle_DATA(self, server, session, envelope):
        m = email.message_from_bytes(envelope.content, policy=email.policy.default)
        part = lambda kind: m.get_body((kind,)).get_content() if m.get_body((kind,)) else ""
        with open(folder + "/letters", "a") as to:
            to.write(json.dumps([envelope.mail_from, envelope.rcpt_tos, m["subject"], m["message-id"], str(m["date"]),
                                 part("plain"), part("html"), session.ssl is not None]) + "\n")
        return "250 taken"
def authenticate(server, session, envelope, mechanism, data):
    ok = (data.login, data.password) == (b"alice", b"secret \xc3\xa9")
    return AuthResult(success=ok, handled=False)
options = {}
if mode == "tls":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder + "/cert.pem", folder + "/key.pem")
    options = dict(tls_context=context, require_starttls=True, authenticator=authenticate, auth_required=True)
async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(Sink(), loop=loop, hostname="sink.test", **options), "127.0.0.1", 0)
    print("port", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
)";

class OutgoingMail : public OutgoingCurl {
protected:
    std::unique_ptr<Program> start(const std::string& mode) {
        const Credentials own = authority_.issue("IP:127.0.0.1");
        std::ofstream{folder_.path() + "/cert.pem"} << own.certificate;
        std::ofstream{folder_.path() + "/key.pem"} << own.key;
        auto server = std::make_unique<Program>(
            std::vector<std::string>{"/usr/bin/python3", "-c", std::string{mail_server}, folder_.path(),
                                     mode},
            folder_.path() + "/log");
        port_ = server->number_after("port ");
        return server;
    }
    Mail letter() {
        return {.server = fmt::format("smtp://127.0.0.1:{}", port_),
                .user = "alice",
                .password = "secret é",
                .authorities = authority_.pem(),
                .from = "alerts@cloud.example",
                .to = {"a@example.com", "b@example.com"},
                .subject =
                    "[FIRING:2] Überhitzung in der Zone von London, wo immer alles so schön kühl ist: GPU ✓",
                .text = "Eins\n.\nZwei ✓\n",
                .html = "<p>Eins</p>\n",
                .id = "n-1",
                .date = WallTime{1'800'000'000s},
                .reach = Reach::anywhere};
    }
    Result<> send_mail(Mail mail) { return run(rig_.outgoing->mail(std::move(mail))); }
    std::string letters() const {
        std::ifstream in{folder_.path() + "/letters"};
        return {std::istreambuf_iterator<char>{in}, {}};
    }

    net::testing::WebAuthority authority_;
    testing::TempFolder folder_;
    int port_ = 0;
};

TEST_F(OutgoingMail, ALetterArrivesAsItWasWrittenByTlsAndPassword) {
    const auto server = start("tls");
    const auto sent = send_mail(letter());
    ASSERT_TRUE(sent) << sent.error().message << "\n" << server->printed();
    EXPECT_EQ(
        letters(),
        R"(["alerts@cloud.example", ["a@example.com", "b@example.com"], "[FIRING:2] \u00dcberhitzung in der Zone von )"
        R"(London, wo immer alles so sch\u00f6n k\u00fchl ist: GPU \u2713", "<n-1@cloud.example>", )"
        R"("Fri, 15 Jan 2027 08:00:00 +0000", "Eins\n.\nZwei \u2713\n", "<p>Eins</p>\n", true])"
        "\n");
}

TEST_F(OutgoingMail, WhatKeepsALetterIsToldApart) {
    const auto server = start("tls");
    auto mail = letter();
    mail.password = "wrong";
    expect_code(send_mail(mail), Code::unauthenticated);
    mail = letter();
    mail.authorities = net::testing::WebAuthority{}.pem();
    expect_code(send_mail(mail), Code::unauthenticated);
    mail = letter();
    mail.to = {"nobody@example.com"};
    expect_code(send_mail(mail), Code::invalid, "mail_refused");
    mail.to = {"busy@example.com"};
    expect_code(send_mail(mail), Code::unavailable);
    mail = letter();
    mail.reach = Reach::outside;
    expect_code(send_mail(mail), Code::forbidden, "out_of_reach");
    EXPECT_EQ(letters(), "");
}

TEST_F(OutgoingMail, WithoutTlsNothingIsSentUnlessThatIsAllowed) {
    const auto server = start("plain");
    auto mail = letter();
    expect_code(send_mail(mail), Code::unauthenticated);
    EXPECT_EQ(letters(), "");
    mail.safety = MailSafety::plain;
    mail.user = mail.password = "";
    const auto sent = send_mail(mail);
    EXPECT_TRUE(sent) << sent.error().message;
    EXPECT_THAT(letters(), HasSubstr("false]"));
}

// ── notices ──

alert::Notice hot_gpu(alert::NoticeStatus status, WallTime now) {
    return {
        .id = "n-7",
        .group = "GpuHot",
        .status = status,
        .alerts = {{.fingerprint = "f",
                    .status = status,
                    .labels = {{"alertname", "GpuHot"}, {"host.name", "h-1"}, {"severity", "critical"}},
                    .annotations = {{"summary", "GPU 3 of h-1 is at 91 °C"}},
                    .starts_at = now - 60s,
                    .ends_at = status == alert::NoticeStatus::resolved ? std::optional{now} : std::nullopt,
                    .value = 91}},
        .link = "https://cloud.example/alerts"};
}

TEST_F(OutgoingCurl, ARealAlertmanagerTellsAWebhookOfOurAlertAndOfItsEnd) {
    const auto webhook = receiver();
    const testing::TempFolder folder;
    std::ofstream{folder.path() + "/am.yml"} << fmt::format(
        "route: {{receiver: r, group_wait: 0s, group_interval: 1s, repeat_interval: 1h}}\n"
        "receivers: [{{name: r, webhook_configs: [{{url: 'http://{}/', send_resolved: true}}]}}]\n",
        webhook->address());
    const Program manager{{"prometheus-alertmanager", "--config.file=" + folder.path() + "/am.yml",
                           "--storage.path=" + folder.path() + "/data", "--web.listen-address=127.0.0.1:0",
                           "--cluster.listen-address="},
                          folder.path() + "/log"};
    const int port = manager.number_after("msg=\"Listening on\" address=127.0.0.1:");
    const auto tell = [&](alert::NoticeStatus status) {
        const WallTime now = rig_.real->wall();
        auto call = ours(fmt::format("http://127.0.0.1:{}/api/v2/alerts", port));
        call.headers = {{"Content-Type", "application/json"}};
        call.body = alert::alertmanager_body(hot_gpu(status, now), now + 300s);
        const auto answer = send(call);
        ASSERT_TRUE(answer) << answer.error().message;
        EXPECT_EQ(answer->status, 200) << answer->body;
    };
    tell(alert::NoticeStatus::firing);
    rig_.drive([&] { return webhook->heard.size() == 1; });
    EXPECT_THAT(webhook->heard[0].body, HasSubstr(R"("status":"firing")"));
    EXPECT_THAT(webhook->heard[0].body,
                HasSubstr(R"("labels":{"alertname":"GpuHot","host_name":"h-1","severity":"critical"})"));
    EXPECT_THAT(webhook->heard[0].body, HasSubstr("GPU 3 of h-1 is at 91 °C"));
    EXPECT_THAT(webhook->heard[0].body, HasSubstr(R"("generatorURL":"https://cloud.example/alerts")"));
    tell(alert::NoticeStatus::resolved);
    rig_.drive([&] { return webhook->heard.size() == 2; });
    EXPECT_THAT(webhook->heard[1].body, HasSubstr(R"("status":"resolved")"));
    EXPECT_TRUE(run(webhook->stop()));
}

// RFC 4231, test cases 2 and 6, and what Python's hmac says of our own form.
TEST(Hmac, IsThatOfTheStandard) {
    const net::OpenSslDigest digest;
    EXPECT_EQ(hmac_sha256(digest, "Jefe", "what do ya want for nothing?"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hmac_sha256(digest, std::string(131, '\xaa'),
                          "Test Using Larger Than Block-Size Key - Hash Key First"),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace hostler::contract
