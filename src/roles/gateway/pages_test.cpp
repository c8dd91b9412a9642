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

TEST(Pages, OnlyAPageWithAButtonMaySendAForm) {
    const auto policy_of = [](const http::Response& response) {
        return std::string{response.headers.find("Content-Security-Policy").value_or("")};
    };
    const auto plain = answer({.notice = Notice::resting}, Reader::person, "n");
    EXPECT_THAT(policy_of(plain), HasSubstr("form-action 'none'"));
    EXPECT_THAT(plain.body, Not(HasSubstr("<form")));
    const auto page = answer({.notice = Notice::resting,
                              .about = "\"><img src=x>",
                              .button_to = "/.hostler/start?to=\"><script>",
                              .button = "<b>Start"},
                             Reader::person, "n");
    EXPECT_THAT(policy_of(page), HasSubstr("form-action 'self';"));
    EXPECT_THAT(policy_of(page), HasSubstr("default-src 'none'; style-src 'nonce-n'"));
    EXPECT_EQ(page.headers.find("Referrer-Policy"), "same-origin") << "else its own form has no origin";
    EXPECT_THAT(page.body,
                HasSubstr("<form method=\"post\" action=\"/.hostler/start?to=&quot;&gt;&lt;script&gt;\">"));
    EXPECT_THAT(page.body, Not(HasSubstr("<img")));
    EXPECT_THAT(page.body, Not(HasSubstr("<b>")));
}

TEST(Pages, CommandsAreShownAsSuch) {
    const auto body_of = [](std::string detail) {
        return answer({.notice = Notice::failed, .detail = std::move(detail)}, Reader::person, "n").body;
    };
    EXPECT_THAT(body_of("Read (`hostler logs <a>`), then `x`."),
                HasSubstr("Read (<code>hostler logs &lt;a&gt;</code>), then <code>x</code>.</p>"));
    EXPECT_THAT(body_of("an odd ` one <b>"), HasSubstr("an odd ` one &lt;b&gt;</p>"));
}

TEST(Pages, TheFrontDoorSaysWhereTheApiIs) {
    const auto page = front_door_answer("http://\"><script>", Reader::person, "n1");
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.body, Not(HasSubstr("<script>")));
    EXPECT_THAT(page.body, HasSubstr("export HOSTLER_API=http://&quot;&gt;&lt;script&gt;"));
    EXPECT_THAT(page.body, HasSubstr("<style nonce=\"n1\">"));
    EXPECT_THAT(std::string{*page.headers.find("Content-Security-Policy")},
                HasSubstr("default-src 'none'; style-src 'nonce-n1'"));
    const auto unknown = front_door_answer("", Reader::person, "n1");
    EXPECT_THAT(unknown.body, Not(HasSubstr("HOSTLER_API")));
    EXPECT_THAT(unknown.body, HasSubstr("hostler key create"));
    const auto program = front_door_answer("http://api", Reader::program, "n1");
    EXPECT_EQ(program.headers.find("Content-Type"), "application/json");
    EXPECT_EQ(program.body, "{\"name\":\"hostler\",\"what\":\"gateway\",\"api\":\"http://api\"}\n");
}

}  // namespace
}  // namespace hostler::gateway
