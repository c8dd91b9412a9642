// Whom a trusted proxy speaks for, and what a client cannot make us believe.
#include "http/trusted_proxies.h"

#include <gmock/gmock.h>

namespace hostler::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TrustedProxies proxies(ProxyWord word,
                       std::vector<std::string> networks = {"10.0.0.0/8", "2001:db8::/64", "192.0.2.7"}) {
    return TrustedProxies::parse(networks, word).value();
}

class Said {
public:
    explicit Said(const std::string& fields) {
        EXPECT_TRUE(parse("GET / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n", {}, head_));
    }
    std::string from(ProxyWord word) const { return proxies(word).origin_of(head_, "10.0.0.1:999").address; }
    std::string scheme(ProxyWord word) const {
        return std::string{proxies(word).origin_of(head_, "10.0.0.1:999").scheme};
    }

private:
    RequestHead head_;
};

constexpr auto by_x = ProxyWord::x_forwarded_for;
constexpr auto by_standard = ProxyWord::forwarded;

TEST(TrustedProxies, NetworksAndAddresses) {
    const auto all = proxies(by_x);
    for (const std::string in : {"10.255.0.1:80", "192.0.2.7:1", "[2001:db8::9]:443", "[::ffff:10.1.1.1]:5"})
        EXPECT_TRUE(all.hold(in)) << in;
    for (const std::string out : {"11.0.0.1:80", "192.0.2.8:1", "[2001:db8:0:1::9]:443", "unix:/run/x", ""})
        EXPECT_FALSE(all.hold(out)) << out;
}

TEST(TrustedProxies, AllThatIsWrongIsNamed) {
    const auto made =
        TrustedProxies::parse({"10.0.0.0/8", "10.0.0.0/33", "proxy.example", "fe80::/129"}, by_x);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::invalid);
    EXPECT_THAT(made.error().message,
                AllOf(HasSubstr("10.0.0.0/33"), HasSubstr("proxy.example"), HasSubstr("fe80::/129")));
}

// A client may send the header too: what it sent stands before what the proxy added.
TEST(TrustedProxies, TheLastHopThatIsNotTrustedIsTheClient) {
    EXPECT_EQ(Said{"X-Forwarded-For: 203.0.113.5\r\n"}.from(by_x), "203.0.113.5");
    EXPECT_EQ(Said{"X-Forwarded-For: 1.1.1.1, 203.0.113.5\r\n"}.from(by_x), "203.0.113.5");
    EXPECT_EQ(Said{"X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 203.0.113.5, 10.0.0.9\r\n"}.from(by_x),
              "203.0.113.5");
    EXPECT_EQ(Said{"X-Forwarded-For: 10.0.0.3, 10.0.0.9\r\n"}.from(by_x), "10.0.0.3");
    EXPECT_EQ(Said{"X-Forwarded-For: 203.0.113.5:4711\r\n"}.from(by_x), "203.0.113.5");
    EXPECT_EQ(Said{"X-Forwarded-For: 2001:db8:1::5\r\n"}.from(by_x), "[2001:db8:1::5]");
    EXPECT_EQ(Said{"X-Forwarded-For: [2001:db8:1::5]:4711\r\n"}.from(by_x), "[2001:db8:1::5]");
    EXPECT_EQ(Said{"X-Forwarded-For: ::ffff:203.0.113.5\r\n"}.from(by_x), "203.0.113.5");
}

TEST(TrustedProxies, WhoIsNotNamedIsTheLastOneThatIs) {
    for (const std::string fields :
         {"", "X-Forwarded-For: unknown\r\n", "X-Forwarded-For: \r\n",
          "X-Forwarded-For: 1.1.1.1, fe80::1%eth0\r\n", "Forwarded: for=1.1.1.1\r\n"})
        EXPECT_EQ(Said{fields}.from(by_x), "10.0.0.1") << fields;
    EXPECT_EQ(Said{"X-Forwarded-For: 1.1.1.1, none, 10.0.0.9\r\n"}.from(by_x), "10.0.0.9");
    EXPECT_EQ(Said{"Forwarded: for=_hidden\r\n"}.from(by_standard), "10.0.0.1");
    EXPECT_EQ(Said{"Forwarded: by=1.1.1.1\r\n"}.from(by_standard), "10.0.0.1");
    EXPECT_EQ(Said{"X-Forwarded-For: 1.1.1.1\r\n"}.from(by_standard), "10.0.0.1");
    EXPECT_EQ(Said{"X-Forwarded-For: 1.1.1.1\r\nForwarded: for=1.1.1.1\r\n"}.from(ProxyWord::proxy_protocol),
              "10.0.0.1");
}

TEST(TrustedProxies, ForwardedAsTheStandardHasIt) {
    EXPECT_EQ(Said{"Forwarded: for=1.1.1.1, For=203.0.113.5;Proto=https\r\n"}.from(by_standard),
              "203.0.113.5");
    EXPECT_EQ(Said{"Forwarded: proto=https;for=\"[2001:db8:1::5]:4711\"\r\n"}.from(by_standard),
              "[2001:db8:1::5]");
    // A quoted comma separates nothing.
    EXPECT_EQ(Said{"Forwarded: for=203.0.113.5;host=\"a,for=1.1.1.1\"\r\n"}.from(by_standard), "203.0.113.5");
    EXPECT_EQ(Said{"Forwarded: for=203.0.113.5;host=\"a\\\",for=1.1.1.1;x=\"\r\n"}.from(by_standard),
              "203.0.113.5");
}

// A client's header stands before what the proxy appends to it.
TEST(TrustedProxies, AQuoteThatTheClientOpensHidesNothing) {
    for (const std::string by_client : {"for=6.6.6.6;x=\"", "for=6.6.6.6, x=\"", "for=6.6.6.6;x=\"\\", "\"",
                                        "for=\"6.6.6.6", "for=6.6.6.6;", "=", "x"})
        for (const std::string by_proxy :
             {"for=203.0.113.5", "for=\"203.0.113.5:80\"", "for=203.0.113.5;host=\"a\""}) {
            const auto from = Said{"Forwarded: " + by_client + ", " + by_proxy + "\r\n"}.from(by_standard);
            EXPECT_TRUE(from == "203.0.113.5" || from == "10.0.0.1")
                << by_client << ", " << by_proxy << ": " << from;
            EXPECT_EQ(
                Said{"Forwarded: " + by_client + "\r\nForwarded: " + by_proxy + "\r\n"}.from(by_standard),
                "203.0.113.5")
                << by_client;
            EXPECT_EQ(Said{"X-Forwarded-For: " + by_client + ", 203.0.113.5\r\n"}.from(by_x), "203.0.113.5")
                << by_client;
        }
}

TEST(TrustedProxies, TheSchemeThatTheClientSees) {
    EXPECT_EQ(Said{"X-Forwarded-Proto: HTTPS\r\n"}.scheme(by_x), "https");
    EXPECT_EQ(Said{"X-Forwarded-For: 203.0.113.5\r\nX-Forwarded-Proto: http\r\n"}.scheme(by_x), "http");
    EXPECT_EQ(Said{"X-Forwarded-Proto: gopher\r\n"}.scheme(by_x), "");
    EXPECT_EQ(Said{"X-Forwarded-For: 203.0.113.5\r\n"}.scheme(by_x), "");
    EXPECT_EQ(Said{"Forwarded: for=203.0.113.5;proto=https, for=10.0.0.9;proto=http\r\n"}.scheme(by_standard),
              "https");
    EXPECT_EQ(Said{"Forwarded: for=1.1.1.1;proto=https, for=203.0.113.5\r\n"}.scheme(by_standard), "");
}

}  // namespace
}  // namespace hostler::http
