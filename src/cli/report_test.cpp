// `hostler report`: what is asked, and how the answer is shown.
#include "cli/report.h"

#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ReportTest : public CliTest {
protected:
    ReportTest() {
        api.handlers.on<api::ops::report_all>(
            [this](api::Call, api::AskReport request) -> Task<report::Report> {
                asked = request;
                co_return some();
            });
        api.handlers.on<api::ops::report_waste>(
            [this](api::Call, api::AskReport request) -> Task<report::Report> {
                asked = request;
                auto report = some();
                report.usage.clear(), report.bottlenecks.clear();
                co_return report;
            });
    }
    report::Report some() const {
        report::Report report{.from = timers.wall(), .to = timers.wall() + 24h, .step = 300, .by = "tenant"};
        report.total = {
            .gpus = 2, .measured_hours = 48, .claimed_hours = 24, .free_hours = 24, .idle_hours = 6};
        report.usage = {{.labels = {{"tenant", "acme"}},
                         .gpus = 1,
                         .measured_hours = 24,
                         .claimed_hours = 24,
                         .busy_hours = 12,
                         .idle_hours = 6,
                         .utilization_percent = 50},
                        {.labels = {{"tenant", ""}}, .gpus = 1, .measured_hours = 24, .free_hours = 24}};
        report.waste = {{.labels = {{"tenant", "ac\x1bme"}},
                         .gpus = 1,
                         .claimed_hours = 24,
                         .idle_hours = 6,
                         .idle_percent = 25,
                         .longest_hours = 4,
                         .advice = "Stop it."}};
        report.bottlenecks = {{.labels = {{"tenant", "acme"}},
                               .verdict = report::Verdict::input_bound,
                               .hours = 3,
                               .percent = 12.5,
                               .evidence = {{"GPU busy", 20, "%"}},
                               .advice = "More CPUs."}};
        return report;
    }
    api::AskReport asked;
};

TEST_F(ReportTest, AReportIsALine) {
    EXPECT_EQ(
        run({"report", "waste", "--by", "tenant,class", "--where", "zone=nj", "--since", "7d", "--top", "5"}),
        0)
        << err;
    EXPECT_EQ(asked.by, "tenant,class");
    EXPECT_EQ(asked.where, "zone=nj");
    EXPECT_EQ(asked.since, 7 * 86'400);
    EXPECT_EQ(asked.top, 5);
    EXPECT_EQ(out,
              "TENANT  GPUS  CLAIMED  IDLE  PART  LONGEST  MEMORY  KWH  ADVICE\n"
              "ac me      1     24.0   6.0   25%     4.0h       -  0.0  Stop it.\n");
}

TEST_F(ReportTest, ATableHasWhatThereIs) {
    EXPECT_EQ(run({"report", "all"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("acme       1   24.0     24.0  12.0   6.0   0.0   50%"));
    EXPECT_THAT(out, HasSubstr("-          1   24.0      0.0"));
    EXPECT_THAT(out, HasSubstr("all        2   48.0     24.0"));
    EXPECT_THAT(out, HasSubstr("input_bound    3.0   12%  GPU busy 20 %\n"));
    EXPECT_THAT(out, HasSubstr("input_bound: More CPUs.\n"));
}

TEST_F(ReportTest, OtherFormsAreForFiles) {
    EXPECT_EQ(run({"report", "waste", "-o", "csv"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("tenant,gpus,claimed_hours,idle_hours"));
    EXPECT_EQ(run({"report", "all", "-o", "html"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("<!doctype html>"));
    EXPECT_THAT(out, HasSubstr("GPU report"));
    EXPECT_EQ(run({"report", "all", "-o", "json"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("\"bottlenecks\""));
    EXPECT_EQ(run({"zone", "list", "-o", "html"}), 2);
    EXPECT_THAT(err, HasSubstr("only reports are pages"));
}

TEST_F(ReportTest, ADocumentIsWrittenAsItIs) {
    api.handlers.on<api::ops::download_report>(
        [](api::Call, api::DownloadReport request) -> Task<api::ReportDocument> {
            EXPECT_EQ(request.format, api::ReportFormat::csv);
            EXPECT_EQ(request.section, report::Section::waste);
            co_return api::ReportDocument{.name = "w.csv", .content_type = "text/csv", .text = "a,b\n1,2\n"};
        });
    EXPECT_EQ(run({"report", "download", "rp-1", "--format", "csv", "--section", "waste"}), 0) << err;
    EXPECT_EQ(out, "a,b\n1,2\n");
}

}  // namespace
}  // namespace hostler::cli
