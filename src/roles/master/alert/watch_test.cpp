#include "roles/master/alert/watch.h"

#include <gtest/gtest.h>

#include "domain/alert/defaults.h"
#include "roles/master/alert/book.h"
#include "roles/master/state/jobs_stalled.h"
#include "roles/master/testing/alert_rig.h"

namespace hostler::master {
namespace {

using testing::AlertRig;

TEST(AlertWatch, HeatIsToldOnceAndThatItIsOver) {
    AlertRig rig;
    rig.add(rig.receiver("on-call"));
    rig.pass(120);
    EXPECT_EQ(rig.words(), "") << "nothing is the matter";
    rig.heat(88);
    rig.pass(45);
    EXPECT_EQ(rig.words(), "") << "not for a minute";
    rig.pass(60);
    EXPECT_EQ(rig.words(), "firing gpu-hot");
    const auto& alert = rig.heard[0].at("alerts").as_array()[0].as_object();
    EXPECT_EQ(alert.at("labels").as_object().at("gpu"), "GPU-a-0");
    EXPECT_EQ(alert.at("labels").as_object().at("host"), "h-a");
    EXPECT_EQ(alert.at("value"), 2);
    for (const int celsius : {40, 89, 40, 89}) {
        rig.heat(celsius);
        rig.pass(60);
    }
    EXPECT_EQ(rig.words(), "firing gpu-hot") << "flapping is one firing";
    rig.heat(40);
    rig.pass(400);
    EXPECT_EQ(rig.words(), "firing gpu-hot, resolved gpu-hot");
    EXPECT_TRUE(rig.desk().estate.alerts.all().empty()) << "it is settled, and only on record";
    EXPECT_TRUE(rig.desk().estate.alert_deliveries.all().empty());
}

TEST(AlertWatch, WhoTakesOverTellsNobodyAgain) {
    AlertRig rig;
    rig.add(rig.receiver("on-call"));
    rig.heat(88);
    rig.pass(120);
    ASSERT_EQ(rig.words(), "firing gpu-hot");
    const std::string alert = rig.desk().estate.alerts.all().begin()->first;
    rig.take_over(2);
    rig.pass(300);
    EXPECT_EQ(rig.words(), "firing gpu-hot");
    EXPECT_EQ(rig.desk().estate.alerts.all().begin()->first, alert) << "it is the same firing";
    rig.heat(40);
    rig.take_over(3);
    rig.pass(500);
    EXPECT_EQ(rig.words(), "firing gpu-hot, resolved gpu-hot");
}

TEST(AlertWatch, WhatDoesNotArriveIsSentAgainUnderTheSameId) {
    AlertRig rig;
    rig.add(rig.receiver("on-call"));
    bool lost = true;
    rig.outgoing.lose_answer = [&] { return lost; };
    rig.heat(88);
    rig.pass(120);
    ASSERT_GE(rig.heard.size(), 2u) << "it arrived, and nobody knows";
    lost = false;
    rig.take_over(2);
    rig.pass(60);
    const std::size_t heard = rig.heard.size();
    ASSERT_GE(heard, 3u) << "the next one sends what is written down";
    for (std::size_t i = 1; i < heard; ++i) EXPECT_EQ(rig.id(i), rig.id(0));
    rig.pass(300);
    EXPECT_EQ(rig.heard.size(), heard) << "and no more once it has arrived";
}

TEST(AlertWatch, AReceiverThatIsAwayIsTriedLessAndLessOften) {
    AlertRig rig;
    rig.away = true;
    rig.add(rig.receiver("on-call"));
    rig.heat(88);
    rig.pass(120);
    rig.outgoing.sent.clear();
    rig.pass(3600);
    EXPECT_LE(rig.outgoing.sent.size(), 20u) << "every five minutes at last";
    EXPECT_GE(rig.outgoing.sent.size(), 10u);
    const auto& contact = rig.desk().live.part<AlertBook>().contacts.at("on-call");
    EXPECT_NE(contact.error.find("503"), std::string::npos);
    rig.away = false;
    rig.pass(300);
    EXPECT_EQ(rig.words(), "firing gpu-hot, firing notices-delayed") << "the oldest first";
    EXPECT_EQ(contact.error, "");
}

TEST(AlertWatch, JobsThatAreNotAdmittedForHoursAreAnAlert) {
    AlertRig rig;
    const std::int64_t hour = 3600 * std::int64_t{1'000'000};
    rig.timers.advance(std::chrono::hours{8});
    JobsStalled& stalled = rig.desk().live.part<JobsStalled>();
    stalled.since = rig.desk().estate.micros() - 5 * hour;
    rig.pass(30);
    EXPECT_TRUE(rig.desk().estate.alerts.all().empty()) << "six hours are not over";
    stalled.since -= 2 * hour;
    rig.pass(30);
    const auto fires = [&] {
        return std::ranges::any_of(rig.desk().estate.alerts.all(), [](const auto& row) {
            return row.second.rule == "jobs-stalled" && row.second.resolved_at == 0;
        });
    };
    EXPECT_TRUE(fires());
    rig.desk().live.part<JobsStalled>() = {};
    rig.pass(120);
    EXPECT_FALSE(fires());
}

TEST(AlertWatch, NothingIsSentBeforeItIsWrittenDown) {
    AlertRig rig;
    rig.add(rig.receiver("on-call"));
    rig.heat(88);
    rig.pass(75);
    rig.store.hang = true;
    rig.pass(120);
    EXPECT_TRUE(rig.outgoing.sent.empty());
    rig.store.let_go();
    rig.pass(5);
    EXPECT_EQ(rig.words(), "firing gpu-hot");
}

TEST(AlertWatch, ASilenceAlsoStopsWhatIsOnItsWay) {
    AlertRig rig;
    rig.away = true;
    rig.add(rig.receiver("on-call"));
    rig.heat(88);
    rig.pass(120);
    ASSERT_FALSE(rig.desk().estate.alert_deliveries.all().empty());
    Desk& desk = rig.desk();
    const std::int64_t until = desk.estate.micros() + 1000 * std::int64_t{1'000'000};
    ASSERT_TRUE(add_silence(desk, {.id = "si-1", .matchers = {"gpu=GPU-a-0"}, .until = until}));
    (void)rig.commit();
    rig.away = false;
    rig.pass(900);
    EXPECT_EQ(rig.words(), "");
    rig.pass(200);
    EXPECT_EQ(rig.words(), "firing gpu-hot") << "it ended, and the GPU is still hot";
}

TEST(AlertWatch, ARuleOverSeriesAsksThem) {
    AlertRig rig;
    rig.add(rig.receiver("on-call"));
    rig.series.answer = {
        {.labels = {{"device", "gpu/h-a/GPU-a-0"}, {"tenant", "acme"}, {"gpu", "GPU-a-0"}}, .values = {0}}};
    rig.pass(120);
    ASSERT_FALSE(rig.series.asked.empty());
    EXPECT_EQ(rig.series.asked[0].metric, "utilisation_percent");
    EXPECT_EQ(rig.series.asked[0].to - rig.series.asked[0].from, 600'000);
    EXPECT_EQ(rig.words(), "");
    rig.pass(3000);
    EXPECT_EQ(rig.words(), "firing gpu-idle-held");
    EXPECT_EQ(rig.desk().estate.alerts.all().begin()->second.tenant, "acme") << "it is told, too";
}

TEST(AlertWatch, SeriesThatCannotBeReadAreAnAlertAndHoldUpNothing) {
    AlertRig rig;
    rig.add(rig.receiver("on-call"));
    rig.series.hang = true;
    rig.heat(88);
    rig.pass(300);
    EXPECT_NE(rig.words().find("firing gpu-hot"), std::string::npos);
    EXPECT_NE(rig.words().find("firing series-unavailable"), std::string::npos);
    rig.series.let_go();
    rig.series.failure = Error{Code::unavailable, "the disk has gone"};
    rig.pass(300);
    EXPECT_EQ(rig.words().find("resolved series-unavailable"), std::string::npos);
    rig.series.failure.reset();
    rig.pass(300);
    EXPECT_NE(rig.words().find("resolved series-unavailable"), std::string::npos);
}

TEST(AlertWatch, WhatTheEstateKnowsFires) {
    AlertRig rig;
    rig.add(rig.receiver("on-call"));
    Desk& desk = rig.desk();
    Host& host = desk.estate.hosts.edit("h-a");
    host.gpu_states["GPU-a-1"] = {.health = GpuHealth::faulty, .reason = "XID 79"};
    host.engine_error = "no answer";
    desk.estate.access_points.add({.name = "access-nj", .zone = "nj"});
    (void)rig.commit();
    rig.pass(240);
    for (const char* name : {"gpu-faulty", "host-engine-down", "access-down"})
        EXPECT_NE(rig.words().find(std::string{"firing "} + name), std::string::npos) << rig.words();
    rig.desk().estate.hosts.edit("h-a").phase = HostPhase::unreachable;
    (void)rig.commit();
    rig.pass(60);
    EXPECT_NE(rig.words().find("firing host-silent"), std::string::npos) << rig.words();
}

TEST(AlertWatch, ADiskThatFillsAndSamplesThatDoNotLeaveAreTold) {
    AlertRig rig;
    rig.add(rig.receiver("on-call"));
    SeriesStats& stats = rig.series.told;
    stats.volume_bytes = 100, stats.volume_free_bytes = 11;
    stats.forwarding = SeriesForwarding{.bytes = 79, .bytes_max = 100};
    rig.pass(600);
    EXPECT_EQ(rig.words(), "") << "all is well so far";
    stats.volume_free_bytes = 9;
    stats.forwarding->bytes = 81;
    stats.forwarding->oldest = rig.desk().estate.micros() / 1000;
    rig.pass(240);
    EXPECT_EQ(rig.words(), "firing remote-write-backlog") << "the others have not lasted";
    rig.pass(240);
    for (const char* name : {"remote-write-behind", "series-disk-nearly-full"})
        EXPECT_NE(rig.words().find(std::string{"firing "} + name), std::string::npos) << rig.words();
    stats.volume_free_bytes = 50;
    stats.forwarding = SeriesForwarding{.bytes = 0, .bytes_max = 100};
    rig.pass(400);
    for (const char* name : {"remote-write-behind", "remote-write-backlog", "series-disk-nearly-full"})
        EXPECT_NE(rig.words().find(std::string{"resolved "} + name), std::string::npos) << rig.words();
}

TEST(AlertWatch, AVolumeThatFillsIsToldToItsTenant) {
    AlertRig rig;
    std::map<std::string, int> told;
    rig.outgoing.servers["https://hooks.example"] = [&](const HttpCall& call) -> Result<HttpAnswer> {
        ++told[call.url.substr(call.url.rfind('/') + 1)];
        rig.heard.push_back(boost::json::parse(call.body).as_object());
        return HttpAnswer{.status = 200};
    };
    rig.add(rig.receiver("on-call"));
    rig.add(rig.receiver("acme-call", "acme"));
    rig.add(rig.receiver("globex-call", "globex"));
    rig.desk().estate.volumes.add({.id = "v-1", .name = "data", .tenant = "acme", .host = "h-a"});
    HostLive& live = rig.desk().live.hosts["h-a"];
    live.connected = true;
    live.disks = DiskUses{.volumes = {{"v-1", {89, 100, 10, 10}}}};
    rig.pass(300);
    EXPECT_NE(rig.words().find("firing volume-inodes-nearly-full"), std::string::npos) << rig.words();
    EXPECT_EQ(rig.words().find("firing volume-nearly-full"), std::string::npos) << rig.words();
    EXPECT_EQ(told, (std::map<std::string, int>{{"on-call", 1}, {"acme-call", 1}}));
    rig.desk().live.hosts["h-a"].disks->volumes["v-1"] = {89, 100, 1, 10};
    rig.pass(400);
    EXPECT_NE(rig.words().find("resolved volume-inodes-nearly-full"), std::string::npos) << rig.words();
}

// Every live metric is one that the samples have.
TEST(AlertSamples, HaveEachMetric) {
    AlertRig rig;
    rig.add(rig.receiver("on-call"));
    Desk& desk = rig.desk();
    desk.estate.access_points.add({.name = "access-nj", .zone = "nj"});
    HostLive& live = desk.live.hosts["h-a"];
    live.sampled_at = desk.estate.micros();
    GpuSample sample{.uuid = "GPU-a-0"};
    sample.temperature_celsius = 80;
    sample.memory_used_bytes = 97, sample.memory_total_bytes = 100;
    sample.throttle_reasons = throttle_power_brake;
    live.samples["GPU-a-0"] = sample;
    live.sample = HostSample{};
    live.sample->disk_free_bytes = 1, live.sample->disk_total_bytes = 10;
    live.sample->memory_available_bytes = 1, live.sample->memory_total_bytes = 20;
    live.connected = true;
    desk.estate.volumes.add({.id = "v-1", .name = "data", .tenant = "acme", .host = "h-a"});
    desk.estate.instances.add({.id = "i-9", .caller_id = "nine", .tenant = "globex", .host = "h-a"});
    live.disks = DiskUses{.volumes = {{"v-1", {95, 100, 1, 10}}}, .layers = {{"i-9", {1, 100, 10, 10}}}};
    AlertFacts facts{.authority_days_left = {{"f00d", 12}}, .commits_waiting = 3};
    facts.series.emplace();
    facts.series->volume_bytes = 100, facts.series->volume_free_bytes = 50;
    facts.series->forwarding = SeriesForwarding{.oldest = 1, .bytes = 1, .bytes_max = 100};
    AlertSamples samples{desk, facts};
    for (const alert::LiveMetric& metric : alert::live_metrics()) {
        SCOPED_TRACE(metric.name);
        alert::Rule rule{.name = "any"};
        rule.metric = metric.name;
        rule.comparison = alert::Comparison::at_least;
        rule.threshold = -1000;
        const auto found = samples.of(rule, {});
        ASSERT_FALSE(found.empty());
        for (std::string_view labels = metric.labels; !labels.empty();) {
            const auto label = labels.substr(0, labels.find(' '));
            labels.remove_prefix(std::min(labels.size(), label.size() + 1));
            const bool held = label == "use" || label == "tenant" || label == "workload" || label == "owner";
            EXPECT_TRUE(held || found[0].labels.contains(std::string{label})) << label;
        }
    }
    alert::Rule full{.name = "full"};
    full.metric = "volume_used_percent";
    full.threshold = 90;
    ASSERT_EQ(samples.of(full, {}).size(), 1u);
    EXPECT_EQ(samples.of(full, {})[0].value, 95);
    EXPECT_EQ(samples.of(full, {})[0].labels.at("volume"), "data");
    EXPECT_EQ(samples.of(full, {})[0].labels.at("tenant"), "acme");
    full.tenant = "globex";
    EXPECT_TRUE(samples.of(full, {}).empty()) << "it is another tenant's";
    full.metric = "layer_inodes_used_percent";
    ASSERT_EQ(samples.of(full, {}).size(), 1u);
    EXPECT_EQ(samples.of(full, {})[0].labels.at("workload"), "nine");
    full.metric = "layer_used_percent";
    EXPECT_TRUE(samples.of(full, {}).empty()) << "it has room for bytes";
    alert::Rule margin{.name = "margin"};
    margin.metric = "gpu_heat_margin_celsius";
    margin.comparison = alert::Comparison::at_most;
    margin.threshold = 10;
    ASSERT_EQ(samples.of(margin, {}).size(), 1u);
    EXPECT_EQ(samples.of(margin, {})[0].value, alert::slowdown_celsius - 80);
    margin.threshold = 9;
    EXPECT_TRUE(samples.of(margin, {}).empty()) << "what breaches nothing has no labels to be looked up";
    margin.tenant = "acme";
    margin.threshold = 10;
    EXPECT_TRUE(samples.of(margin, {}).empty()) << "acme holds none";
    desk.estate.claims.add({.id = "c-1",
                            .host = "h-a",
                            .use = ClaimUse::instance,
                            .tenant = "acme",
                            .holder = "i-1",
                            .gpus = {"GPU-a-0"}});
    AlertSamples held{desk, {}};
    EXPECT_EQ(held.of(margin, {}).size(), 1u);
}

}  // namespace
}  // namespace hostler::master
