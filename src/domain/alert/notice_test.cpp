#include "domain/alert/notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::alert {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr WallTime at(std::int64_t seconds) { return WallTime{std::chrono::seconds{seconds}}; }

Notice sample() {
    return {.id = "n-1",
            .group = "GpuHot zone=lon",
            .status = NoticeStatus::firing,
            .alerts = {{.fingerprint = "f1",
                        .status = NoticeStatus::firing,
                        .labels = {{"alertname", "GpuHot"}, {"gpu", "GPU-\"1\""}},
                        .annotations = {{"summary", "A GPU is <hot> & loud"}, {"description", "line\nline"}},
                        .starts_at = at(1'800'000'000),
                        .ends_at = {},
                        .value = 91.5},
                       {.fingerprint = "f2",
                        .status = NoticeStatus::resolved,
                        .labels = {{"alertname", "GpuHot"}, {"host.name", "h"}, {"1st", "x"}, {"empty", ""}},
                        .annotations = {},
                        .starts_at = at(1'800'000'000),
                        .ends_at = at(1'800'000'060),
                        .value = {}}},
            .link = "https://cloud.example/alerts?a=1&b=2"};
}

TEST(Notice, AWebhookGetsAllOfIt) {
    EXPECT_EQ(
        webhook_body(sample()),
        R"({"version":"1","id":"n-1","group":"GpuHot zone=lon","status":"firing",)"
        R"("link":"https://cloud.example/alerts?a=1&b=2","alerts":[)"
        R"({"fingerprint":"f1","status":"firing","labels":{"alertname":"GpuHot","gpu":"GPU-\"1\""},)"
        R"("annotations":{"description":"line\u000aline","summary":"A GPU is <hot> & loud"},)"
        R"("startsAt":"2027-01-15T08:00:00.000000Z","value":91.5},)"
        R"({"fingerprint":"f2","status":"resolved","labels":{"1st":"x","alertname":"GpuHot","empty":"",)"
        R"("host.name":"h"},"annotations":{},"startsAt":"2027-01-15T08:00:00.000000Z",)"
        R"("endsAt":"2027-01-15T08:01:00.000000Z"}]})");
    EXPECT_EQ(webhook_body(sample()), webhook_body(sample())) << "sent again it is the same";
}

TEST(Notice, ASignatureCoversItsTime) {
    EXPECT_EQ(signed_text(at(1'800'000'000), "{}"), "1800000000.{}");
    EXPECT_EQ(signature_header(at(1'800'000'000), "ab12"), "t=1800000000,v1=ab12");
}

TEST(Notice, AnAlertmanagerGetsNamesThatItTakes) {
    const std::string body = alertmanager_body(sample(), at(1'800'000'300));
    EXPECT_THAT(body, HasSubstr(R"("labels":{"_1st":"x","alertname":"GpuHot","host_name":"h"})"));
    EXPECT_THAT(
        body, HasSubstr(R"("startsAt":"2027-01-15T08:00:00.000000Z","endsAt":"2027-01-15T08:05:00.000000Z")"))
        << "a firing one is believed until then";
    EXPECT_THAT(body, HasSubstr(R"("endsAt":"2027-01-15T08:01:00.000000Z")")) << "a resolved one has ended";
    EXPECT_THAT(body, HasSubstr(R"("generatorURL":"https://cloud.example/alerts?a=1&b=2")"));
}

TEST(Notice, ALetterShowsWhatOthersWroteAsText) {
    Notice notice = sample();
    notice.group = "Hot\r\nBcc: everyone@example.com";
    const Letter written = letter(notice);
    EXPECT_EQ(written.subject, "[FIRING:1] Hot  Bcc: everyone@example.com");
    EXPECT_THAT(written.text, HasSubstr("firing: A GPU is <hot> & loud\nline\nline\n"));
    EXPECT_THAT(written.text, HasSubstr("since 2027-01-15 08:00:00 UTC, value 91.5"));
    EXPECT_THAT(written.text, HasSubstr("until 2027-01-15 08:01:00 UTC"));
    EXPECT_THAT(written.html, HasSubstr("A GPU is &lt;hot&gt; &amp; loud"));
    EXPECT_THAT(written.html, HasSubstr("href=\"https://cloud.example/alerts?a=1&amp;b=2\""));
    EXPECT_THAT(written.html, Not(HasSubstr("<hot>")));
    notice.status = NoticeStatus::resolved;
    EXPECT_TRUE(letter(notice).subject.starts_with("[RESOLVED] "));
}

}  // namespace
}  // namespace hostler::alert
