#include "roles/gateway/credentials.h"

#include <gtest/gtest.h>

namespace hostler::gateway {
namespace {

using Fields = std::vector<http::Field>;

TEST(Shown, KeysComeByEitherHeaderAndOthersTokensAreNotOurs) {
    EXPECT_EQ(shown_by(Fields{{"authorization", "bearer  hk_abc"}}, session_cookie).key, "hk_abc");
    EXPECT_EQ(
        shown_by(Fields{{"x-hostler-key", "hk_abc"}, {"Authorization", "Bearer hk_def"}}, session_cookie).key,
        "hk_abc");
    EXPECT_EQ(shown_by(Fields{{"Authorization", "Bearer hu_abc"}}, session_cookie).key, "hu_abc")
        << "a person's session";
    EXPECT_EQ(shown_by(Fields{{"Authorization", "Bearer eyJhbGci"}}, session_cookie).key, "");
    EXPECT_EQ(shown_by(Fields{{"Authorization", "Basic hk_abc"}}, session_cookie).key, "");
}

TEST(Shown, CookiesByTheirExactNameAndABoundedNumber) {
    const auto shown = shown_by(Fields{{"Cookie", "a=1; __hostler_session=one;__hostler_session=two"},
                                       {"Cookie", "__hostler_sessionx=no; __hostler_session="}},
                                session_cookie);
    EXPECT_EQ(shown.cookies, (std::vector<std::string>{"one", "two"}));
    const Fields many(20, {"Cookie", "__hostler_session=x"});
    EXPECT_EQ(shown_by(many, session_cookie).cookies.size(), cookies_max);
    const std::string long_one = "__hostler_session=" + std::string(600, 'x');
    EXPECT_TRUE(shown_by(Fields{{"Cookie", long_one}}, session_cookie).cookies.empty());
}

TEST(Strip, AuthorizationThatCarriesOurKey) {
    EXPECT_TRUE(carries_key("Bearer hk_abc"));
    EXPECT_TRUE(carries_key("token hk_abc"));
    EXPECT_TRUE(carries_key("hk_abc"));
    EXPECT_TRUE(carries_key("Basic dXNlcjpoa19hYmM="));  // user:hk_abc
    EXPECT_TRUE(carries_key("Basic aGtfYWJjOg=="));      // hk_abc:
    EXPECT_TRUE(carries_key("Bearer hu_abc")) << "a person's session is for no tenant's program";
    EXPECT_TRUE(carries_key("Basic dXNlcjpodV9hYmM="));  // user:hu_abc
    EXPECT_TRUE(carries_key("Basic aHVfYWJjOg=="));      // hu_abc:
    EXPECT_FALSE(carries_key("Bearer eyJhbGci"));
    EXPECT_FALSE(carries_key("Basic dXNlcjpwYXNz"));
    EXPECT_FALSE(carries_key(""));
}

TEST(Strip, OurCookiesGoAndTheirsStay) {
    EXPECT_EQ(without_own_cookies("a=1; __hostler_session=x; b=2"), "a=1; b=2");
    EXPECT_EQ(without_own_cookies("__hostler_session=x"), "");
    EXPECT_EQ(without_own_cookies("__HOSTLER_x=1;a=1"), "a=1");
    EXPECT_EQ(without_own_cookies("=__hostler_session=x; a=1"), "a=1");
    EXPECT_EQ(without_own_cookies("my__hostler=1"), "my__hostler=1");
    EXPECT_EQ(without_own_cookies("a=1; __Host-hostler_session=x; b=2"), "a=1; b=2");
    EXPECT_EQ(without_own_cookies("__host-hostler_session_20001=x;a=1"), "a=1");
    EXPECT_EQ(without_own_cookies("__Host-theirs=1; __Host-h=2"), "__Host-theirs=1; __Host-h=2");
}

}  // namespace
}  // namespace hostler::gateway
