// A gateway that speaks TLS itself, with a certificate that changes under it.
#include <fstream>

#include "adapters/net/testing/web_certificates.h"
#include "adapters/net/web_certificate.h"
#include "core/testing/metrics.h"
#include "rig.h"

namespace hostler::rig {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class TlsTest : public ::testing::Test {
protected:
    TlsTest() {
        put(first_);
        auto opened = net::WebCertificate::open(path("certificate.pem"), path("key.pem"), *cloud_.timers);
        EXPECT_TRUE(opened);
        shown_ = std::move(*opened);
        tasks_.start("certificate", shown_->watch());
        cloud_.kill_gateway();
        cloud_.gateway_arrival.certificate = [this] { return shown_->credentials(); };
        cloud_.gateway_settings.domain = "apps.test";
        cloud_.begin_gateway();
        cloud_.master.keys = {{"hk_mine", "t-a"}};
        EXPECT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == 1; }));
        cloud_.add_route("open", "h-1", true);
        cloud_.add_route("closed", "h-1", false);
    }
    ~TlsTest() override { (void)cloud_.go(tasks_.close()); }

    std::string path(const std::string& name) const { return cloud_.folder.path() + "/" + name; }
    void put(const Credentials& pair) const {
        std::ofstream{path("certificate.pem")} << pair.certificate;
        std::ofstream{path("key.pem")} << pair.key;
    }
    std::string host(const std::string& name) const { return name + ".apps.test:" + cloud_.port(); }
    // Of a client that verifies the certificate for this name.
    http::Endpoint endpoint(const std::string& name) {
        return {.address = cloud_.gateway->address(),
                .secure = Secure{.own = believed_, .expect = "https://" + name + ".apps.test"}};
    }
    http::Request request(const std::string& name, std::string target = "/", http::Headers headers = {}) {
        headers.set("Host", host(name));
        return {.target = std::move(target), .headers = std::move(headers)};
    }
    Result<http::Response> get(const std::string& name, std::string target = "/",
                               http::Headers headers = {}) {
        http::Client fresh{*cloud_.net, *cloud_.timers, {.idle_max = 0}};
        return cloud_.go(fresh.fetch(endpoint(name), request(name, std::move(target), std::move(headers))));
    }
    std::string said_to(std::string_view bytes) {
        const auto talk = [](Cloud& cloud, std::string_view words) -> Task<std::string> {
            auto stream = CO_TRY(co_await cloud.net->dial(cloud.gateway->address(), 5s));
            CO_TRY(co_await write_all(*stream, words));
            std::string all;
            char into[1024];
            while (const auto size = CO_TRY(co_await read_some(*stream, into))) all.append(into, size);
            co_return all;
        };
        const auto said = cloud_.go(talk(cloud_, bytes));
        return said ? *said : said.error().message;
    }

    double reload_failures() const {
        MetricsPage page;
        shown_->write_metrics(page, "gateway");
        return testing::parse_metrics(page.text())->at("gateway_tls_reload_failures_total");
    }

    Cloud cloud_;
    Agent agent_{cloud_, "h-1", cloud_.access->addresses().uplink};
    net::testing::WebAuthority authority_;
    const std::shared_ptr<const Credentials> believed_ =
        std::make_shared<const Credentials>(Credentials{"", "", authority_.pem()});
    const Credentials first_ = authority_.issue("DNS:*.apps.test,DNS:apps.test");
    std::unique_ptr<net::WebCertificate> shown_;
    TaskGroup tasks_{cloud_.loop};
};

TEST_F(TlsTest, InstancesAnswerBehindIt) {
    const auto page = get("open");
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(page->status, 200);
    EXPECT_THAT(page->body, HasSubstr("X-Forwarded-Proto: https\n"));
    EXPECT_THAT(page->body, HasSubstr("proto=https"));
    EXPECT_EQ(page->headers.find("Strict-Transport-Security"), "max-age=15552000");
    EXPECT_EQ(cloud_.gateway->url(), "https://apps.test:" + cloud_.port());
}

TEST_F(TlsTest, PeopleAreSentToSignInAndBackByHttps) {
    const auto sent = get("closed", "/a", {{"Accept", "text/html"}});
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->status, 302);
    EXPECT_THAT(std::string{*sent->headers.find("Location")},
                HasSubstr("return=https%3A%2F%2Fclosed.apps.test"));
    EXPECT_TRUE(sent->headers.has("Strict-Transport-Security")) << "also what the gateway says itself";
    cloud_.master.codes["hc_1@closed"] = "hs_1";
    const auto redeemed = get("closed", "/.hostler/session?code=hc_1&to=/a");
    ASSERT_TRUE(redeemed);
    EXPECT_EQ(redeemed->status, 303) << redeemed->body;
    const std::string cookie{redeemed->headers.find("Set-Cookie").value_or("")};
    EXPECT_THAT(cookie, StartsWith("__Host-hostler_session="));
    EXPECT_THAT(cookie, HasSubstr("; Secure"));
}

TEST_F(TlsTest, AWebSocketEchoes) {
    http::Client client{*cloud_.net, *cloud_.timers, {.idle_max = 0}};
    const auto reply = cloud_.go(client.start(
        endpoint("open"),
        {.request = request("open", "/ws", {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}})}));
    ASSERT_TRUE(reply) << reply.error().message;
    ASSERT_EQ((*reply)->status, 101);
    const auto stream = (*reply)->take_stream().value();
    const std::string word(100'000, 'w');
    ASSERT_TRUE(cloud_.go(write_all(*stream, word)));
    std::string back(word.size(), '\0');
    ASSERT_TRUE(cloud_.go(read_exactly(*stream, back)));
    EXPECT_EQ(back, word);
}

TEST_F(TlsTest, ANewCertificateIsShownToThoseWhoComeNext) {
    http::Client kept{*cloud_.net, *cloud_.timers};
    const auto ask = [&] { return cloud_.go(kept.fetch(endpoint("open"), request("open"))); };
    ASSERT_TRUE(ask());
    put(authority_.issue("DNS:other.test"));
    ASSERT_TRUE(cloud_.eventually([&] { return shown_->credentials()->certificate != first_.certificate; }));
    const auto fresh = get("open");
    ASSERT_FALSE(fresh);
    EXPECT_THAT(fresh.error().message, HasSubstr("is for other.test, not for open.apps.test"));
    EXPECT_TRUE(ask()) << "what is open goes on";
    std::ofstream{path("key.pem")} << authority_.issue("DNS:other.test").key;
    ASSERT_TRUE(cloud_.eventually([&] { return reload_failures() == 1; }));
    EXPECT_THAT(get("open").error().message, HasSubstr("is for other.test")) << "the pair before stays";
    put(first_);
    ASSERT_TRUE(cloud_.eventually([&] { return shown_->credentials()->certificate == first_.certificate; }));
    EXPECT_TRUE(get("open"));
}

TEST_F(TlsTest, PlainHttpIsAnsweredAndCounted) {
    const std::string said = said_to("GET / HTTP/1.1\r\nHost: " + host("open") + "\r\n\r\n");
    EXPECT_THAT(said, StartsWith("HTTP/1.1 400 "));
    EXPECT_THAT(said, HasSubstr("this port speaks TLS; use https://"));
    EXPECT_EQ(agent_.tunnels, 0);
    MetricsPage page;
    cloud_.gateway->write_metrics(page);
    EXPECT_EQ(testing::parse_metrics(page.text())->at("hostler_gateway_tls_refused_total{why=\"plain\"}"), 1);
}

}  // namespace
}  // namespace hostler::rig
