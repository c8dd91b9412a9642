// Reports as the API answers them, and those that schedules make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "roles/master/alert/alerts.h"
#include "roles/master/report/maker.h"
#include "roles/master/report/schedules.h"
#include "roles/master/report/watch.h"
#include "roles/master/testing/callers.h"
#include "roles/master/testing/term_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using hostler::testing::try_run;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// One GPU that acme's notebook has and does not use.
struct ReportRig : ::testing::Test, testing::TermRig {
    ReportRig() {
        Desk& now = desk();
        now.estate.zones.add({.name = "nj"});
        now.estate.hosts.add({.id = "h-a",
                              .zone = "nj",
                              .phase = HostPhase::ready,
                              .facts = testing::DeskRig::facts_of("a", 2)});
        now.estate.alert_receivers.add({.id = alert::receiver_id("", "finance"),
                                        .name = "finance",
                                        .kind = alert::ReceiverKind::email,
                                        .url = "smtps://mail.example",
                                        .from = "cloud@example.com",
                                        .to = {"finance@example.com"}});
        now.estate.alert_receivers.add({.id = alert::receiver_id("", "hook"), .name = "hook"});
        (void)commit();
        outgoing.mail_servers["smtps://mail.example"] = [](const Mail&) { return Result<>{}; };
        series.answer = {{.labels = {{"device", "gpu/a"},
                                     {"host", "h-a"},
                                     {"use", "instance"},
                                     {"tenant", "acme"},
                                     {"workload", "notebook"}},
                          .values = std::vector<double>(24, 3)}};
    }
    static Task<api::Reply> wrapped(const api::Handlers& handlers, api::Inquiry inquiry, api::Caller caller) {
        co_return co_await handlers.answer(std::move(inquiry), std::move(caller), nullptr);
    }
    static Task<> told(Task<api::Reply> task, std::shared_ptr<std::optional<Result<api::Reply>>> into) {
        into->emplace(co_await std::move(task));
        co_return Result<>{};
    }
    // What is answered once all that has to pass has passed.
    json::value ask(const std::string& method, const std::string& target, const std::string& body = "",
                    const std::string& tenant = "", int status = 200) {
        auto caller = caller_for(tenant);
        const auto answer = std::make_shared<std::optional<Result<api::Reply>>>();
        auto task = wrapped(api.handlers(), {.method = method, .target = target, .body = body}, caller);
        term().tasks().start("ask", told(std::move(task), answer));
        for (int i = 0; i < 100 && !*answer; ++i) timers.advance(1ms);
        if (!*answer) return nullptr;
        const api::Reply& reply = (*answer)->value();
        EXPECT_EQ(reply.status, status) << reply.body;
        return json::parse(reply.body);
    }
    std::vector<std::string> wrong(const std::string& method, const std::string& target,
                                   const std::string& body = "") {
        std::vector<std::string> fields;
        const json::value problem = ask(method, target, body, "", 400);
        for (const auto& error : problem.at("errors").as_array())
            fields.push_back(std::string{error.at("field").as_string()});
        return fields;
    }
    void take_over(std::uint64_t epoch) {
        finish();
        begin(epoch);
        const auto stored = try_run(loop, store.load());
        ASSERT_TRUE(stored && *stored && term().estate().load((*stored)->live));
        start_reports(term());
    }
    void pass(Duration time) {
        for (Duration at{}; at < time; at += 30min) timers.advance(30min);
    }
    template <class Until>
    void pass_until(Until until) {
        for (int i = 0; i < 100 && !until(); ++i) pass(30min);
        EXPECT_TRUE(until());
    }
    Api api{lead};
};

TEST_F(ReportRig, AnOperatorAsksByTenantAndATenantByInstance) {
    const auto all = ask("GET", "/v1/reports/usage?since=7200&step=300");
    EXPECT_EQ(all.at("by"), "tenant");
    EXPECT_EQ(all.at_pointer("/usage/0/labels/tenant"), "acme");
    for (const series::Query& query : series.asked) EXPECT_TRUE(query.where.empty());
    series.asked.clear();
    const auto own = ask("GET", "/v1/reports/waste?since=7200&step=300&where=tenant%3Dglobex", "", "acme");
    EXPECT_EQ(own.at("by"), "instance");
    EXPECT_TRUE(own.at("usage").as_array().empty()) << "its own section alone";
    ASSERT_FALSE(series.asked.empty());
    for (const series::Query& query : series.asked) {
        EXPECT_FALSE(series::matches(query, {{"tenant", "globex"}})) << query.metric;
        EXPECT_FALSE(series::matches(query, {})) << query.metric;
        EXPECT_EQ(query.across, series::Across::none);
    }
    EXPECT_EQ(ask("GET", "/v1/reports/usage?by=instance&since=7200&step=300").at("by"), "tenant,instance");
}

TEST_F(ReportRig, AZoneAndAClassNarrowItDown) {
    (void)ask("GET", "/v1/reports/usage?since=7200&step=300&zone=nj&gpuClass=h100");
    ASSERT_FALSE(series.asked.empty());
    for (const series::Query& query : series.asked) {
        EXPECT_TRUE(series::matches(query, {{"zone", "nj"}, {"class", "H100"}}));
        EXPECT_FALSE(series::matches(query, {{"zone", "lon"}, {"class", "H100"}}));
        EXPECT_FALSE(series::matches(query, {{"zone", "nj"}, {"class", "A100"}}));
    }
}

TEST_F(ReportRig, WasteHasItsPrice) {
    const auto waste = [&] {
        return ask("GET", "/v1/reports/waste?since=7200&step=300").at("waste").as_array().at(0).as_object();
    };
    EXPECT_TRUE(waste().at("idleCosts").as_array().empty());
    series.answer[0].labels["model"] = "H100 SXM5 80GB";
    desk().estate.prices.add({.id = "p-1",
                              .terms = {.gpu_type = "H100"},
                              .amount_micros = 2'000'000,
                              .currency = "USD",
                              .version = 1});
    desk().estate.prices.add({.id = "p-0",
                              .terms = {.gpu_type = "H100", .zone = "lon"},
                              .amount_micros = 9'000'000,
                              .currency = "USD",
                              .version = 2});
    (void)commit();
    const auto line = waste();
    EXPECT_GT(line.at("idleHours").to_number<double>(), 0);
    const auto& cost = line.at("idleCosts").as_array().at(0).as_object();
    EXPECT_EQ(cost.at("currency"), "USD");
    EXPECT_NEAR(std::stod(std::string{cost.at("amount").as_string()}),
                2 * line.at("idleHours").to_number<double>(), 0.01);
}

TEST_F(ReportRig, OfHostsOnlyThoseAreAskedThatCount) {
    (void)ask("GET", "/v1/reports/bottlenecks?since=7200&step=300", "", "acme");
    std::size_t hosts = 0;
    for (const series::Query& query : series.asked) {
        if (!query.metric.starts_with("host_")) continue;
        ++hosts;
        ASSERT_EQ(query.where.size(), 1u);
        EXPECT_EQ(query.where[0].label, "host");
        EXPECT_THAT(query.where[0].values, ::testing::ElementsAre("h-a"));
    }
    EXPECT_EQ(hosts, 3u);
}

TEST_F(ReportRig, ALongTimeIsAskedStretchByStretch) {
    Desk& now = desk();
    for (int i = 0; i < 400; ++i)
        now.estate.hosts.add({.id = fmt::format("h-{:03}", i),
                              .phase = HostPhase::ready,
                              .facts = testing::DeskRig::facts_of(fmt::format("{:03}", i), 2)});
    (void)commit();
    series.answer.clear();
    (void)ask("GET", "/v1/reports/usage?since=2592000");
    std::set<std::pair<series::Millis, series::Millis>> stretches;
    for (const series::Query& query : series.asked) stretches.emplace(query.from, query.to);
    ASSERT_GT(stretches.size(), 1u);
    series::Millis at = stretches.begin()->first;
    for (const auto& [from, to] : stretches) {
        EXPECT_EQ(from, at) << "one behind the other";
        EXPECT_LE(static_cast<std::size_t>((to - from) / 3'600'000) * 800, report::cells_max);
        at = to;
    }
    EXPECT_EQ(at, series.asked.back().to);
}

TEST_F(ReportRig, NamesEachWrongField) {
    EXPECT_THAT(
        wrong("GET", "/v1/reports/usage?by=colour&where=size%3D3&since=7200&from=2026-01-01T00:00:00Z"),
        UnorderedElementsAre("by", "where", "since"));
    EXPECT_THAT(wrong("GET", "/v1/reports/all?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z"),
                UnorderedElementsAre("to"));
    EXPECT_THAT(wrong("GET", "/v1/reports/all?from=1971-01-02T00:00:00Z&to=2026-01-01T00:00:00Z"),
                UnorderedElementsAre("to"));
    EXPECT_THAT(wrong("POST", "/v1/report-schedules", R"({"name":"w","by":"colour","at":"25:00"})"),
                UnorderedElementsAre("by", "at"));
    EXPECT_THAT(wrong("POST", "/v1/report-schedules", R"({"name":"w","to":"hook"})"),
                UnorderedElementsAre("to"))
        << "not by e-mail";
    EXPECT_THAT(wrong("POST", "/v1/report-schedules", R"({"name":"w","to":"nobody"})"),
                UnorderedElementsAre("to"));
    EXPECT_TRUE(series.asked.empty());
}

TEST_F(ReportRig, OnlySoManyAreMadeAtOnce) {
    series.hang = true;
    (void)ask("GET", "/v1/reports/usage");
    (void)ask("GET", "/v1/reports/usage", "", "acme");
    EXPECT_EQ(ask("GET", "/v1/reports/usage", "", "globex", 429).at("code"), "too_many_reports");
    series.let_go();
    timers.advance(1s);
    EXPECT_TRUE(
        ask("GET", "/v1/reports/usage?since=7200&step=300", "", "globex").as_object().contains("usage"));
}

TEST_F(ReportRig, AScheduleMakesOneReportOfEachPeriodWhoeverLeads) {
    start_reports(term());
    (void)ask("POST", "/v1/report-schedules", R"({"name":"daily","every":"day","at":"06:00","keep":5})", "",
              201);
    const std::int64_t begun = desk().estate.report_schedules.at("/daily").done_until;
    pass(26h);
    for (std::uint64_t epoch = 2; epoch < 8; ++epoch) {
        take_over(epoch);
        pass(13h);
        take_over(epoch + 10);
        pass(13h);
    }
    std::vector<std::int64_t> ends;
    for (const EventRecord& event : store.log) ends.push_back(event.reason == "made" ? 1 : 0);
    const auto made = std::ranges::count(ends, 1);
    const std::int64_t passed =
        (desk().estate.report_schedules.at("/daily").done_until - begun) / 86'400'000'000;
    EXPECT_GE(passed, 7);
    EXPECT_EQ(made, passed) << "one each, and none twice";
    std::set<std::int64_t> periods;
    for (const auto& [id, kept] : desk().estate.reports.all()) {
        EXPECT_EQ(kept.to - kept.from, 86'400'000'000);
        EXPECT_TRUE(periods.insert(kept.from).second);
    }
    EXPECT_EQ(periods.size(), 5u) << "the oldest make room";
    EXPECT_EQ(*periods.rbegin() + 86'400'000'000, desk().estate.report_schedules.at("/daily").done_until);
    const auto list = ask("GET", "/v1/kept-reports");
    EXPECT_EQ(list.at("items").as_array().size(), 5u);
    const std::string id{list.at_pointer("/items/0/id").as_string()};
    EXPECT_EQ(ask("GET", "/v1/kept-reports/" + id).at_pointer("/usage/0/labels/tenant"), "acme");
    EXPECT_THAT(std::string{ask("GET", "/v1/kept-reports/" + id + "/document").at("text").as_string()},
                HasSubstr("<!doctype html>"));
    EXPECT_THAT(std::string{ask("GET", "/v1/kept-reports/" + id + "/document?format=csv&section=waste")
                                .at("text")
                                .as_string()},
                HasSubstr("acme,1,"));
    (void)ask("GET", "/v1/kept-reports/" + id, "", "acme", 404);
    (void)ask("DELETE", "/v1/report-schedules/daily");
    EXPECT_TRUE(desk().estate.reports.all().empty());
}

TEST_F(ReportRig, ALetterIsSentUntilItArrivesUnderOneId) {
    start_reports(term());
    (void)ask("POST", "/v1/report-schedules", R"({"name":"daily","every":"day","to":"finance"})", "", 201);
    bool lost = true;
    outgoing.lose_answer = [&] { return lost; };
    pass_until([&] { return outgoing.mailed.size() >= 2; });  // It arrived, and nobody knows.
    lost = false;
    take_over(2);
    pass(2h);
    const std::size_t sent = outgoing.mailed.size();
    for (const Mail& mail : outgoing.mailed) EXPECT_EQ(mail.id, outgoing.mailed.front().id);
    EXPECT_THAT(outgoing.mailed.front().subject, HasSubstr("GPU report daily"));
    EXPECT_THAT(outgoing.mailed.front().html, HasSubstr("acme"));
    pass(3h);
    EXPECT_EQ(outgoing.mailed.size(), sent) << "and no more once it has arrived";
    ASSERT_EQ(desk().estate.reports.all().size(), 1u);
    EXPECT_NE(desk().estate.reports.all().begin()->second.sent_at, 0);
}

TEST_F(ReportRig, WhatCannotBeMadeIsTriedAgainForADay) {
    start_reports(term());
    (void)ask("POST", "/v1/report-schedules", R"({"name":"daily","every":"day"})", "", 201);
    const std::int64_t begun = desk().estate.report_schedules.at("/daily").done_until;
    series.failure = Error{Code::unavailable, "the disk is away"};
    pass_until([&] { return !desk().estate.report_schedules.at("/daily").error.empty(); });
    EXPECT_TRUE(desk().estate.reports.all().empty());
    EXPECT_EQ(ask("GET", "/v1/report-schedules/daily").at("lastError"), "the disk is away");
    EXPECT_EQ(desk().estate.report_schedules.at("/daily").done_until, begun);
    pass(26h);
    EXPECT_GT(desk().estate.report_schedules.at("/daily").done_until, begun) << "given up";
    series.failure.reset();
    pass(3h);
    EXPECT_EQ(desk().estate.reports.all().size(), 1u) << "the next one is made";
    EXPECT_FALSE(ask("GET", "/v1/report-schedules/daily").as_object().contains("lastError"));
}

TEST_F(ReportRig, ThereIsABoundToSchedules) {
    for (std::size_t i = 0; i < report::schedules_tenant_max; ++i)
        (void)ask("POST", "/v1/report-schedules", fmt::format(R"({{"name":"s-{}"}})", i), "acme", 201);
    EXPECT_EQ(ask("POST", "/v1/report-schedules", R"({"name":"more"})", "acme", 429).at("code"),
              "too_many_report_schedules");
    EXPECT_EQ(ask("POST", "/v1/report-schedules", R"({"name":"s-0"})", "acme", 409).at("code"),
              "report_schedule_exists");
    (void)ask("GET", "/v1/report-schedules/s-0", "", "globex", 404);
}

}  // namespace
}  // namespace hostler::master
