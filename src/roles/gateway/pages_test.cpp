#include "roles/gateway/pages.h"

#include <gmock/gmock.h>

namespace hostler::gateway {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Pages, WordsFromElsewhereCannotBecomeMarkup) {
    const Page page{.notice = Notice::starting, .about = "<b>", .detail = "\"><script>alert(1)</script>"};
    const auto response = answer(page, Reader::person, "n0");
    EXPECT_EQ(response.status, 503);
    EXPECT_THAT(response.body, Not(HasSubstr("<script>")));
    EXPECT_THAT(response.body, HasSubstr("&lt;script&gt;"));
    EXPECT_THAT(response.body, HasSubstr("http-equiv=\"refresh\""));
    EXPECT_EQ(response.headers.find("Retry-After"), "2");
}

TEST(Pages, AllowTheirOwnStyleByNonceAndNothingElse) {
    const auto response = answer({.notice = Notice::not_yours}, Reader::person, "abc123");
    const auto policy = std::string{*response.headers.find("Content-Security-Policy")};
    EXPECT_THAT(policy, HasSubstr("default-src 'none'; style-src 'nonce-abc123'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    EXPECT_THAT(response.body, HasSubstr("<style nonce=\"abc123\">"));
    EXPECT_THAT(response.body, Not(HasSubstr(" style=\"")));
    EXPECT_THAT(response.body, Not(HasSubstr("http://")));  // No asset from elsewhere.
}

TEST(Pages, ProgramsGetProblemDetails) {
    const auto response =
        answer({.notice = Notice::sign_in, .detail = "a \"quoted\"\nline \xff"}, Reader::program, "");
    EXPECT_EQ(response.status, 401);
    EXPECT_EQ(response.headers.find("Content-Type"), "application/problem+json");
    EXPECT_TRUE(response.headers.has("WWW-Authenticate"));
    EXPECT_THAT(response.body, HasSubstr(R"("code":"unauthenticated")"));
    EXPECT_THAT(response.body, HasSubstr(R"(a \"quoted\"\u000aline \ufffd)"));
}

TEST(Pages, APersonIsWhoAsksForHtml) {
    EXPECT_EQ(reader_of("GET", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"), Reader::person);
    EXPECT_EQ(reader_of("GET", "*/*"), Reader::program);
    EXPECT_EQ(reader_of("POST", "text/html"), Reader::program);
    EXPECT_EQ(reader_of("GET", ""), Reader::program);
}

TEST(Pages, EachStateHasItsStatus) {
    EXPECT_EQ(status_of(Notice::no_such_instance), 404);
    EXPECT_EQ(status_of(Notice::stopped), 410);
    EXPECT_EQ(status_of(Notice::failed), 503);
    EXPECT_EQ(status_of(Notice::upstream_failed), 502);
    EXPECT_EQ(status_of(Notice::upstream_late), 504);
    EXPECT_EQ(status_of(Notice::not_yours), 403);
}

}  // namespace
}  // namespace hostler::gateway
