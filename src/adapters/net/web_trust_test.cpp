// A client and web servers: who is believed, and what is said about the others.
#include "adapters/net/web_trust.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "adapters/net/authority.h"
#include "adapters/net/net.h"
#include "adapters/net/testing/web_certificates.h"
#include "core/task_group.h"
#include "core/testing/real_timers.h"
#include "core/testing/temp_folder.h"

namespace hostler::net {
namespace {

using namespace std::chrono_literals;
using hostler::testing::run_real;

class WebTrust : public ::testing::Test {
protected:
    // Dials a server with this certificate: whom the client found there, or why it went.
    Result<std::string> visit(Credentials server, std::string host, std::string believed) {
        auto own = std::make_shared<Credentials>(std::move(server));
        auto mine = std::make_shared<Credentials>();
        mine->authority = std::move(believed);
        return run_real(loop_, meet(*this, own, {.own = mine, .expect = "https://" + host}));
    }
    static Task<std::string> meet(WebTrust& me, std::shared_ptr<const Credentials> server, Secure client) {
        const auto listener = CO_TRY(co_await me.net_->listen("127.0.0.1:0"));
        TaskGroup group{me.loop_};
        group.start("server",
                    [](WebTrust& test, Listener& from, std::shared_ptr<const Credentials> own) -> Task<> {
                        auto raw = CO_TRY(co_await from.accept());
                        auto stream = CO_TRY(co_await test.net_->secure(
                            std::move(raw), {.own = own, .peer_required = !own->authority.empty()},
                            Side::server, 5s));
                        co_return co_await write_all(*stream, "hello");
                    }(me, *listener, std::move(server)));
        auto raw = CO_TRY(co_await me.net_->dial(std::string{listener->address()}, 5s));
        auto stream = CO_TRY(co_await me.net_->secure(std::move(raw), std::move(client), Side::client, 5s));
        std::string hello(5, '\0');
        CO_TRY(co_await read_exactly(*stream, hello));
        CO_TRY(co_await group.close());
        EXPECT_EQ(hello, "hello");
        co_return std::string{stream->identity()};
    }
    void expect_refused(const Result<std::string>& visited, std::string_view words) {
        ASSERT_FALSE(visited) << *visited;
        EXPECT_EQ(visited.error().code, Code::unauthenticated);
        EXPECT_TRUE(visited.error().message.contains(words)) << visited.error().message;
    }

    Loop loop_;
    std::unique_ptr<Net> net_ = make_net(loop_);
    testing::WebAuthority authority_;
};

TEST_F(WebTrust, BelievesItsAuthorityForTheNamesThatItSigned) {
    const Credentials server = authority_.issue("DNS:api.test,DNS:*.cloud.test,IP:127.0.0.1,IP:::1");
    for (const auto* host : {"api.test", "API.test", "a.cloud.test", "127.0.0.1", "::1", "[::1]"})
        EXPECT_TRUE(visit(server, host, authority_.pem())) << host;
    EXPECT_EQ(visit(server, "api.test", authority_.pem()), "https://api.test");
    for (const auto* host :
         {"cloud.test", "a.b.cloud.test", "xapi.test", "127.0.0.2", "localhost", "evil.test"})
        expect_refused(visit(server, host, authority_.pem()),
                       fmt::format("is for api.test, *.cloud.test, 127.0.0.1, ::1, not for {}", host));
    expect_refused(visit(authority_.issue(""), "api.test", authority_.pem()), "is for no host at all");
    EXPECT_TRUE(visit(server, "api.test", server.certificate))
        << "what we are told to believe need not be a root";
}

TEST_F(WebTrust, SaysWhatIsWrongWithACertificate) {
    expect_refused(visit(authority_.issue("DNS:api.test", -7200, -3600), "api.test", authority_.pem()),
                   "the certificate of api.test expired at 20");
    expect_refused(visit(authority_.issue("DNS:api.test", 3600, 7200), "api.test", authority_.pem()),
                   "is not valid before");
    testing::WebAuthority other;
    expect_refused(visit(other.issue("DNS:api.test"), "api.test", authority_.pem()),
                   "signed by an authority that is not known here");
}

TEST_F(WebTrust, BelievesTheRootsOfThisMachineWithoutAnAuthority) {
    const hostler::testing::TempFolder folder;
    const std::string file = folder.path() + "/roots.pem";
    std::ofstream{file} << authority_.pem();
    expect_refused(visit(authority_.issue("DNS:api.test"), "api.test", ""), "not known here");
    ::setenv("SSL_CERT_FILE", file.c_str(), 1);
    const auto visited = visit(authority_.issue("DNS:api.test"), "api.test", "");
    ::unsetenv("SSL_CERT_FILE");
    EXPECT_TRUE(visited) << visited.error().message;
}

TEST_F(WebTrust, ShowsItsCertificateToAServerThatAsksForOne) {
    const hostler::testing::TempFolder folder;
    const auto timers = make_timers(loop_);
    const auto random = make_random();
    const auto clients = open_authority(folder.path(), *random, timers->wall()).value();
    const auto key = make_keys()->make({"host", "h-1"}).value();
    auto server = std::make_shared<Credentials>(authority_.issue("DNS:api.test"));
    server->authority = clients->certificate();
    const auto mine = std::make_shared<Credentials>(
        clients->sign(key.csr_pem, {"host", "h-1"}, {}, timers->wall() - 1min, 24h).value().certificate,
        key.key_pem, authority_.pem());
    const auto visit_with = [&](std::shared_ptr<const Credentials> own) {
        return run_real(loop_, meet(*this, server, {.own = std::move(own), .expect = "https://api.test"}));
    };
    const auto shown = visit_with(mine);
    ASSERT_TRUE(shown) << shown.error().message;

    EXPECT_FALSE(visit_with(std::make_shared<Credentials>("", "", authority_.pem())))
        << "a client without a certificate was let in";
    const auto mixed = visit_with(
        std::make_shared<Credentials>(mine->certificate, authority_.issue("").key, authority_.pem()));
    ASSERT_FALSE(mixed);
    EXPECT_EQ(mixed.error().code, Code::invalid);
    EXPECT_TRUE(mixed.error().message.contains("do not go together")) << mixed.error().message;
}

TEST_F(WebTrust, NoAuthorityInTheFileIsSaid) {
    const auto visited = visit(authority_.issue("DNS:api.test"), "api.test", "no certificate");
    ASSERT_FALSE(visited);
    EXPECT_EQ(visited.error().code, Code::invalid);
}

TEST_F(WebTrust, NoticesWhatDoesNotSpeakTls) {
    const auto plain = [](Net& net) -> Task<> {
        const auto listener = CO_TRY(co_await net.listen("127.0.0.1:0"));
        auto client = CO_TRY(co_await net.dial(std::string{listener->address()}, 5s));
        auto server = CO_TRY(co_await listener->accept());
        CO_TRY(co_await write_all(*server, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"));
        CO_TRY(co_await net.secure(std::move(client),
                                   {.own = std::make_shared<Credentials>(), .expect = "https://x"},
                                   Side::client, 5s));
        co_return Result<>{};
    };
    const auto done = run_real(loop_, plain(*net_));
    ASSERT_FALSE(done);
    EXPECT_TRUE(done.error().message.contains("does not speak TLS")) << done.error().message;
}

TEST(WebHost, IsNamedByAnAddress) {
    EXPECT_EQ(web_host("https://api.test"), "api.test");
    EXPECT_EQ(web_host("https://[::1]"), "::1");
    EXPECT_EQ(web_host("host/h-1"), "");
}

}  // namespace
}  // namespace hostler::net
