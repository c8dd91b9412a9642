#include "roles/gateway/origin.h"

#include <gtest/gtest.h>

namespace hostler::gateway {
namespace {

TEST(Host, IsReadAsBrowsersAndProxiesWriteIt) {
    EXPECT_EQ(host_of("8080-i-abc.LocalHost:8443"), (HostPort{"8080-i-abc.localhost", "8443"}));
    EXPECT_EQ(host_of("8080-i-abc.localhost.:8443"), (HostPort{"8080-i-abc.localhost", "8443"}));
    EXPECT_EQ(host_of("example.org"), (HostPort{"example.org", ""}));
    EXPECT_EQ(host_of("[::1]:80"), (HostPort{"[::1]", "80"}));
    for (const auto* wrong : {"", ":80", "a b", "a:", "a:x", "a:123456", "user@host", "[::1", "a/b", "a,b"})
        EXPECT_FALSE(host_of(wrong)) << wrong;
}

TEST(Host, OneLabelBelowTheDomainAndNoMore) {
    EXPECT_EQ(label_below("8080-i-abc.localhost", "localhost"), "8080-i-abc");
    EXPECT_FALSE(label_below("localhost", "localhost"));
    EXPECT_FALSE(label_below(".localhost", "localhost"));
    EXPECT_FALSE(label_below("a.b.localhost", "localhost"));
    EXPECT_FALSE(label_below("evillocalhost", "localhost"));
    EXPECT_FALSE(label_below("a.localhost", ""));
}

TEST(Origin, SchemeNameAndPortMustAgree) {
    const auto host = *host_of("a.gw.example:8443");
    EXPECT_TRUE(same_origin("https://a.gw.example:8443", "https", host));
    EXPECT_TRUE(same_origin("https://A.GW.example:8443", "https", host));
    EXPECT_FALSE(same_origin("http://a.gw.example:8443", "https", host));
    EXPECT_FALSE(same_origin("https://b.gw.example:8443", "https", host));
    EXPECT_FALSE(same_origin("https://a.gw.example", "https", host));
    EXPECT_FALSE(same_origin("null", "https", host));
    EXPECT_TRUE(same_origin("https://a.example", "https", *host_of("a.example:443")));
}

TEST(OwnPath, HoweverItIsSpelled) {
    for (const auto* own : {"/.hostler/session?code=1", "/.hostler", "/.hostler/", "//.hostler/x",
                            "/%2ehostler/x", "/./.hostler/", "/a/../.hostler/x", "/.HOSTLER/x",
                            "/%2E%2e/.hostler/x", "/.hostler%2fsession", "\\.hostler\\x"})
        EXPECT_TRUE(is_own_path(own)) << own;
    for (const auto* theirs : {"/", "/hostler/x", "/.hostlerx", "/a/.hostler/x", "/.hostler/../x", "*", ""})
        EXPECT_FALSE(is_own_path(theirs)) << theirs;
}

TEST(SafePath, NeverLeadsToAnotherOrigin) {
    EXPECT_EQ(safe_path("/lab?x=1#y"), "/lab?x=1#y");
    for (const auto* bad : {"", "lab", "//evil.example", "/\\evil.example", "https://evil.example", "/a b",
                            "/a\r\nX: y", "/.hostler/sign-out"})
        EXPECT_EQ(safe_path(bad), "/") << bad;
}

TEST(Query, ValuesAreDecoded) {
    EXPECT_EQ(query_value("code=ab&to=%2Flab%3Fx%3D1", "to"), "/lab?x=1");
    EXPECT_EQ(query_value("code=ab&to", "to"), "");
    EXPECT_FALSE(query_value("code=ab", "to"));
    EXPECT_EQ(percent_decoded("100%"), "100%");
}

}  // namespace
}  // namespace hostler::gateway
