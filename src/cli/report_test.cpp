// `hostler report`: what is asked, and how the answer is shown.
#include "cli/report.h"

#include "api/operations_report.h"
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
                         .advice = "Stop it.",
                         .idle_costs = {{"15.00", "USD"}}}};
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

TEST_F(ReportTest, TheColumnsOfUsageAddUp) {
    api.handlers.on<api::ops::report_usage>([this](api::Call, api::AskReport) -> Task<report::Report> {
        auto report = some();
        report.usage[0] = {.labels = {{"tenant", "acme"}},
                           .gpus = 1,
                           .measured_hours = 6.6,
                           .other_hours = 1.8,
                           .free_hours = 4.8};
        co_return report;
    });
    EXPECT_EQ(run({"report", "usage"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("GPUS  HOURS  CLAIMED  BUSY  IDLE  OTHER  FREE"));
    EXPECT_THAT(out, HasSubstr("1    6.6      0.0   0.0   0.0    1.8   4.8"));
}

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
              "TENANT    GPUS  CLAIMED  IDLE  PART  LONGEST  MEMORY  KWH       COST  ADVICE\n"
              "ac\\x1bme     1     24.0   6.0   25%     4.0h       -  0.0  15.00 USD  Stop it.\n");
    EXPECT_EQ(run({"report", "waste", "--zone", "lon", "--gpu-class", "H100"}), 0) << err;
    EXPECT_EQ(asked.zone, "lon");
    EXPECT_EQ(asked.gpu_class, "H100");
}

TEST_F(ReportTest, ATableHasWhatThereIs) {
    EXPECT_EQ(run({"report", "all"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("acme       1   24.0     24.0  12.0   6.0    0.0   0.0   50%"));
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

TEST_F(ReportTest, AScheduleIsAppliedFromAFile) {
    std::optional<api::ReportSchedule> kept;
    int created = 0;
    api.handlers.on<api::ops::get_report_schedule>(
        [&](api::Call, api::NameReportSchedule asked) -> Task<api::ReportSchedule> {
            if (!kept || kept->name != asked.schedule) co_return fail(Code::not_found, "there is none");
            co_return *kept;
        });
    api.handlers.on<api::ops::create_report_schedule>(
        [&](api::Call call, api::CreateReportSchedule asked) -> Task<api::ReportSchedule> {
            if (!call.dry_run) ++created;
            api::ReportSchedule made{.name = asked.name,
                                     .by = asked.by,
                                     .where = asked.where,
                                     .every = asked.every,
                                     .at = asked.at,
                                     .keep = asked.keep,
                                     .to = asked.to.value_or("")};
            if (!call.dry_run) kept = made;
            co_return made;
        });
    const auto apply = [&](const char* every) {
        return run({"apply", "-f",
                    file("reports.yaml", fmt::format("kind: report schedule\nname: weekly\nby: tenant,class\n"
                                                     "every: {}\nat: \"06:00\"\nto: finance\n",
                                                     every))});
    };
    EXPECT_EQ(apply("week"), 0) << err;
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->at, "06:00");
    EXPECT_EQ(kept->to, "finance");
    EXPECT_EQ(apply("week"), 0) << err;
    EXPECT_EQ(out, "report schedule/weekly unchanged\n");
    EXPECT_EQ(apply("month"), 5) << "what differs is not replaced";
    EXPECT_EQ(created, 1);
}

}  // namespace
}  // namespace hostler::cli
