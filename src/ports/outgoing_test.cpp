#include "ports/outgoing.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(Outgoing, UrlsNameAHostAndNobody) {
    for (const auto* url :
         {"http://a", "https://a.example:8443/x?y=z#f", "http://[::1]:80/", "http://10.0.0.1"})
        EXPECT_TRUE(check(HttpCall{.url = url})) << url;
    for (const auto* url : {"", "a", "ftp://a", "file:///etc/passwd", "http://", "http:///x", "http://u:p@a/",
                            "http://:80", "http://a b", "http://a\r\nX: y", "https://a\\@b", "gopher://a"})
        EXPECT_FALSE(check(HttpCall{.url = url})) << url;
}

TEST(Outgoing, HeadersAreHeaders) {
    EXPECT_TRUE(check(HttpCall{.url = "http://a", .headers = {{"X-A", "b c"}}}));
    EXPECT_FALSE(check(HttpCall{.url = "http://a", .headers = {{"X-A", "b\r\nHost: c"}}}));
    EXPECT_FALSE(check(HttpCall{.url = "http://a", .headers = {{"X A", "b"}}}));
    EXPECT_FALSE(check(HttpCall{.method = "GET /", .url = "http://a"}));
}

TEST(Outgoing, LettersGoToAddresses) {
    const Mail good{
        .server = "smtp://a:25", .from = "a@b", .to = {"c@d"}, .subject = "s", .text = "t", .id = "n-1"};
    EXPECT_TRUE(check(good));
    const auto wrong = [&](auto change) {
        Mail mail = good;
        change(mail);
        return !check(mail);
    };
    EXPECT_TRUE(wrong([](Mail& m) { m.to = {}; }));
    EXPECT_TRUE(wrong([](Mail& m) { m.to = {"c@d>\r\nRCPT TO:<e@f"}; }));
    EXPECT_TRUE(wrong([](Mail& m) { m.to = {"C <c@d>"}; }));
    EXPECT_TRUE(wrong([](Mail& m) { m.from = "nobody"; }));
    EXPECT_TRUE(wrong([](Mail& m) { m.subject = "s\nBcc: x@y"; }));
    EXPECT_TRUE(wrong([](Mail& m) { m.id = "a>b"; }));
    EXPECT_TRUE(wrong([](Mail& m) { m.server = "http://a"; }));
    EXPECT_TRUE(wrong([](Mail& m) { m.safety = MailSafety::plain, m.password = "p"; }));
}

TEST(Outgoing, HeadersAreFoundWhateverTheirCase) {
    const HttpAnswer answer{.status = 429, .headers = {{"retry-after", "7"}}};
    EXPECT_EQ(answer.header("Retry-After"), "7");
    EXPECT_EQ(answer.header("Date"), "");
}

}  // namespace
}  // namespace hostler
