#include "domain/report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::report {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Report some() {
    Report report{.from = WallTime{std::chrono::hours{24 * 20'000}},
                  .to = WallTime{std::chrono::hours{24 * 20'001}},
                  .step = 300,
                  .by = "tenant"};
    report.total = {
        .labels = {}, .gpus = 3, .measured_hours = 1234.5, .claimed_hours = 600, .idle_hours = 20};
    report.usage = {{.labels = {{"tenant", "acme"}},
                     .gpus = 2,
                     .measured_hours = 48,
                     .claimed_hours = 48,
                     .busy_hours = 30,
                     .idle_hours = 10,
                     .utilization_percent = 62.5}};
    report.waste = {{.labels = {{"tenant", "acme"}},
                     .claimed_hours = 48,
                     .idle_hours = 10,
                     .idle_percent = 20.8,
                     .advice = "Stop it, \"now\".",
                     .idle_costs = {{"12.50", "USD"}}}};
    report.idle_costs = {{"12.50", "USD"}};
    report.bottlenecks = {{.labels = {{"tenant", "acme"}},
                           .verdict = Verdict::input_bound,
                           .hours = 7,
                           .percent = 14.6,
                           .evidence = {{"GPU busy", 12.34, "%"}},
                           .advice = "More CPUs."}};
    report.timeline = {{.from = report.from, .gpus = 3, .claimed = 2, .busy = 1, .idle = 0.5}};
    return report;
}

TEST(Csv, HasALineForEachOfASection) {
    EXPECT_EQ(csv(some(), Section::usage),
              "tenant,gpus,measured_hours,claimed_hours,other_hours,free_hours,busy_hours,idle_hours,"
              "unknown_hours,utilization_percent,memory_used_percent,energy_kwh\n"
              "acme,2,48,48,0,0,30,10,0,62.5,,0\n");
    EXPECT_THAT(csv(some(), Section::waste),
                HasSubstr("acme,0,48,10,20.8,0,,,0,12.50 USD,\"Stop it, \"\"now\"\".\"\n"));
    EXPECT_THAT(csv(some(), Section::bottlenecks), HasSubstr("acme,input_bound,7,14.6,GPU busy 12.3 %,More"));
    EXPECT_THAT(csv({}, Section::usage), StartsWith("gpus,")) << "a head, even of nothing";
}

TEST(Csv, NamesAreNoFormulas) {
    Report report = some();
    report.usage[0].labels["tenant"] = "=HYPERLINK(\"x\")";
    EXPECT_THAT(csv(report, Section::usage), HasSubstr("\"'=HYPERLINK(\"\"x\"\")\","));
    report.usage[0].labels["tenant"] = "a\x1b[2Jb\u202e";
    EXPECT_THAT(csv(report, Section::usage), HasSubstr("a\\x1b[2Jb\\u202e,"));
}

TEST(Page, IsWholeAndStandsAlone) {
    const std::string html = page(some(), "GPU report");
    EXPECT_THAT(html, StartsWith("<!doctype html>"));
    for (const char* part : {"GPU report", "1,234", "acme", "Claimed and idle", "input-bound",
                             "GPU busy 12.3 %", "<svg", "@media print", "12.50 USD", "their price"})
        EXPECT_THAT(html, HasSubstr(part));
    for (const char* part :
         {"<script", "http://", "https://", "url(", "@import", "\"nan", ">nan", "-nan", "\"inf", ">inf"})
        EXPECT_THAT(html, Not(HasSubstr(part)));
    const auto count = [&](std::string_view tag) {
        std::size_t many = 0;
        for (auto at = html.find(tag); at != html.npos; at = html.find(tag, at + 1)) ++many;
        return many;
    };
    for (const std::string tag : {"table", "tr", "td", "section", "svg", "div", "span"})
        EXPECT_EQ(count("<" + tag + ">") + count("<" + tag + " "), count("</" + tag + ">")) << tag;
}

TEST(Page, NamesAreShownAndNotRun) {
    Report report = some();
    report.usage[0].labels["tenant"] = "<img src=x onerror='alert(1)'>";
    report.waste[0].labels["tenant"] = "\"&\x1b";
    const std::string html = page(report, "<b>");
    EXPECT_THAT(html, Not(HasSubstr("<img")));
    EXPECT_THAT(html, HasSubstr("&lt;img src=x onerror=&#39;alert(1)&#39;&gt;"));
    EXPECT_THAT(html, HasSubstr("&quot;&amp; "));
    EXPECT_THAT(html, HasSubstr("<h1>&lt;b&gt;</h1>"));
}

TEST(Page, OfNothingSaysSo) {
    Report report;
    report.to = WallTime{std::chrono::hours{1}};
    EXPECT_THAT(page(report, "GPU report"), HasSubstr("Nothing was measured"));
}

TEST(Summary, NamesWhatIsWorst) {
    EXPECT_THAT(summary(some()), HasSubstr("3 GPUs were measured for 1234.5 GPU-hours"));
    EXPECT_THAT(summary(some()), HasSubstr("- acme: 10.0 idle GPU-hours (21 %)"));
}

}  // namespace

}  // namespace hostler::report
