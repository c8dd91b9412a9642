// A report is acknowledged once its samples are durable, and the estate waits for nothing.
#include "roles/master/series/recorder.h"

#include <gtest/gtest.h>

#include "roles/master/series/parts.h"
#include "roles/master/testing/host_rig.h"

namespace hostler::master {
namespace {

using namespace std::chrono_literals;
using hostler::testing::ManualTimers;

struct RecorderTest : ::testing::Test {
    RecorderTest() { tasks.start("recorder", recorder.run()); }
    ~RecorderTest() override {
        (void)hostler::testing::try_run(loop, tasks.close());
        timers.settle();
    }
    static SeriesDevicePtr device(const std::string& id, const SeriesLabels& labels = {}) {
        return std::make_shared<const SeriesDevice>(SeriesDevice{Measured::host, id, labels});
    }
    static Measurement sample(const std::string& host, series::Millis time, std::int64_t value = 1,
                              const series::Labels& labels = {}, series::Millis from = 0) {
        Measurement made{.time = time};
        made.devices.push_back(device(series_host(host), {.labels = labels, .from = from}));
        HostSample sample;
        sample.load_milli = value;
        add_cells(sample, made.cells);
        return made;
    }
    bool take(const std::string& host, series::Millis time, const series::Labels& labels = {},
              series::Millis from = 0) {
        const bool taken = recorder.take(host, sample(host, time, 1, labels, from),
                                         [this, host, time] { done.emplace_back(host, time); });
        timers.settle();
        return taken;
    }
    const testing::FakeSeries::Kept& kept(const std::string& host) { return *store.find(series_host(host)); }

    Loop loop;
    ManualTimers timers{loop};
    testing::FakeSeries store;
    Recorder recorder{timers, store};
    TaskGroup tasks{loop};
    std::vector<std::pair<std::string, series::Millis>> done;
};

using Done = std::vector<std::pair<std::string, series::Millis>>;

TEST_F(RecorderTest, TellsWhenSamplesAreDurableAndNotSooner) {
    store.hang = true;
    EXPECT_TRUE(take("a", 1));
    EXPECT_TRUE(take("b", 2));
    EXPECT_TRUE(take("a", 3));
    EXPECT_EQ(done, Done{});
    EXPECT_EQ(store.appends, 1);
    EXPECT_GT(recorder.count().cells_waiting, 0u);
    store.let_go();
    timers.advance(Recorder::round_least);
    EXPECT_EQ(done, (Done{{"a", 1}, {"b", 2}, {"a", 3}}));
    EXPECT_EQ(store.appends, 2) << "what came meanwhile is stored together";
    EXPECT_EQ(recorder.count().cells_waiting, 0u);
    EXPECT_EQ(recorder.count().rows, 3u);
    EXPECT_EQ(kept("a").rows.size(), 2u);
}

// A sync of the disk costs as much for one report as for those of a whole fleet.
TEST_F(RecorderTest, WhatComesSoonAfterARoundIsStoredInOne) {
    EXPECT_TRUE(take("a", 1));
    EXPECT_EQ(done.size(), 1u) << "who comes alone does not wait";
    constexpr int soon = 20;
    for (int i = 0; i < soon; ++i) {
        timers.advance(Duration{Recorder::round_least} / (2 * soon));
        EXPECT_TRUE(take(fmt::format("b{}", i), 2));
    }
    EXPECT_EQ(done.size(), 1u);
    timers.advance(Recorder::round_least / 2);
    EXPECT_EQ(done.size(), 1u + soon);
    EXPECT_EQ(store.appends, 2);
    timers.advance(Recorder::round_least);
    EXPECT_TRUE(take("a", 3));
    EXPECT_EQ(done.size(), 2u + soon);
}

TEST_F(RecorderTest, AReportWithoutSamplesWaitsForThoseBefore) {
    store.hang = true;
    EXPECT_TRUE(take("a", 1));
    recorder.take("a", {}, [this] { done.emplace_back("a", 2); });
    recorder.take("b", {}, [this] { done.emplace_back("b", 1); });
    EXPECT_EQ(done, (Done{{"b", 1}}));
    store.let_go();
    timers.advance(Recorder::round_least);
    EXPECT_EQ(done, (Done{{"b", 1}, {"a", 1}, {"a", 2}}));
}

TEST_F(RecorderTest, AFullDiskIsTriedAgainUntilItHasRoom) {
    store.failure = Error{Code::exhausted, "the disk is full"};
    EXPECT_TRUE(take("a", 1));
    EXPECT_FALSE(recorder.behind());
    timers.advance(5s);
    EXPECT_TRUE(recorder.behind());
    EXPECT_TRUE(take("a", 2)) << "there is room yet";
    EXPECT_EQ(done, Done{});
    EXPECT_GT(recorder.count().failures, 2u);
    store.failure.reset();
    timers.advance(2s);
    EXPECT_EQ(done, (Done{{"a", 1}, {"a", 2}}));
    EXPECT_FALSE(recorder.behind());
}

TEST_F(RecorderTest, WhatHasNoRoomIsTurnedAwayAndNothingOfItsHostIsTakenBehindIt) {
    store.hang = true;
    Measurement large = sample("a", 1);
    large.cells.resize(Recorder::cells_max);
    EXPECT_TRUE(recorder.take("a", std::move(large), nullptr));
    EXPECT_FALSE(take("b", 1));
    EXPECT_TRUE(recorder.turned_away("b"));
    EXPECT_FALSE(recorder.take("b", {}, [this] { done.emplace_back("b", 2); }))
        << "an answer to it would settle the one before";
    EXPECT_EQ(recorder.count().turned_away, 1u);
    EXPECT_EQ(done, Done{});
    recorder.readmit("b");
    EXPECT_FALSE(recorder.turned_away("b"));
}

TEST_F(RecorderTest, AHostWhoseReportsComeFasterThanTheyAreStoredIsHeardMoreSlowly) {
    store.hang = true;
    for (std::size_t i = 0; i <= Recorder::reports_host_max; ++i)
        take("a", static_cast<series::Millis>(i + 1));
    bool passed = false, other = false;
    const auto wait = [](Recorder& at, std::string host, bool& into) -> Task<> {
        CO_TRY(co_await at.let_pass(std::move(host)));
        into = true;
        co_return Result<>{};
    };
    tasks.start("a", wait(recorder, "a", passed));
    tasks.start("b", wait(recorder, "b", other));
    timers.settle();
    EXPECT_TRUE(other);
    EXPECT_FALSE(passed);
    store.let_go();
    timers.settle();
    EXPECT_TRUE(passed);
    // And not for long: the estate has to hear of its host.
    store.hang = true;
    for (std::size_t i = 0; i <= Recorder::reports_host_max; ++i)
        take("a", static_cast<series::Millis>(i + 99));
    passed = false;
    tasks.start("a", wait(recorder, "a", passed));
    timers.advance(3s);
    EXPECT_TRUE(passed);
}

TEST_F(RecorderTest, LabelsHoldFromTheMomentAtWhichTheirHolderCame) {
    const series::Millis t = series_millis(timers.wall());
    EXPECT_TRUE(take("a", t, {{"zone", "nj"}}));
    timers.advance(3s);
    EXPECT_TRUE(take("a", t + 3'000, {{"tenant", "acme"}, {"zone", "nj"}}, t + 2'000));
    const auto at = [&](series::Millis time) { return store.labels_at(kept("a"), time); };
    EXPECT_EQ(at(t + 3'500).at("tenant"), "acme");
    EXPECT_EQ(at(t + 2'000).at("tenant"), "acme");
    // One that comes late is of the time when it was made.
    EXPECT_TRUE(take("a", t + 1'500, {{"tenant", "acme"}, {"zone", "nj"}}, t + 2'000));
    timers.advance(Recorder::round_least);
    EXPECT_EQ(at(t + 1'500), (series::Labels{{"zone", "nj"}}));
}

// A master that has just begun to lead does not know who held a GPU before.
TEST_F(RecorderTest, WhatWasBeforeItsHolderIsNotShownAsIts) {
    EXPECT_TRUE(take("a", 1'000, {{"tenant", "acme"}, {"use", "instance"}, {"zone", "nj"}}, 2'000));
    EXPECT_EQ(store.labels_at(kept("a"), 1'000), (series::Labels{{"zone", "nj"}}));
    EXPECT_EQ(store.labels_at(kept("a"), 2'500).at("tenant"), "acme");
}

TEST_F(RecorderTest, AHostHasNoMoreDevicesThanItMay) {
    for (std::size_t i = 0; i <= Recorder::devices_host_max; ++i) {
        Measurement made = sample("a", 1);
        made.devices[0] = device(fmt::format("gpu/a/GPU-{}", i));
        recorder.take("a", std::move(made), [this] { done.emplace_back("a", 1); });
    }
    timers.advance(Recorder::round_least);
    EXPECT_EQ(store.devices.size(), Recorder::devices_host_max);
    EXPECT_EQ(recorder.count().rows_refused, 1u);
    EXPECT_EQ(done.size(), Recorder::devices_host_max + 1) << "keeping it would help nobody";
}

TEST(MeasuredAt, IsByOurClock) {
    constexpr std::int64_t s = 1'000'000;
    const WallTime now{std::chrono::seconds{1000}};
    EXPECT_EQ(measured_at(990 * s, 9 * s, now), 990'000) << "a second on its way, or off: as it says";
    EXPECT_EQ(measured_at(90 * s, 10 * s, now), 990'000) << "a clock that is 15 minutes behind";
    EXPECT_EQ(measured_at(4990 * s, 10 * s, now), 990'000) << "one that is ahead";
    EXPECT_EQ(measured_at(990 * s, {}, now), 990'000) << "an agent that does not say how old it is";
    EXPECT_EQ(measured_at(5000 * s, {}, now), 1'000'000) << "nothing was measured tomorrow";
    EXPECT_EQ(measured_at(0, {}, now), 1'000'000);
    for (const std::int64_t wild : {INT64_MIN, INT64_MAX, std::int64_t{-1}})
        for (const std::optional<std::int64_t> age :
             {std::optional<std::int64_t>{}, std::optional{INT64_MIN}, std::optional{INT64_MAX}}) {
            EXPECT_GE(measured_at(wild, age, now), 0);
            EXPECT_LE(measured_at(wild, age, now), 1'000'000);
        }
}

// ── What a host is told

struct Samples : ::testing::Test, testing::HostRig {
    Samples() {
        run_term();
        link = &access();
        up(*link, 1, "h-a");
        greet(*link, 1, 1);
        EXPECT_TRUE(told(*link).has_agent_welcome());
    }
    uplink::Frame sampled(std::uint64_t sequence, std::int64_t value = 1) {
        uplink::Frame frame;
        auto& said = *frame.mutable_report();
        said.set_sequence(sequence);
        said.set_time(timers.wall().time_since_epoch().count());
        said.set_workloads_complete(true);
        auto& gpu = *said.add_gpus();
        gpu.set_uuid("GPU-a-0");
        gpu.add_values(static_cast<double>(value));
        said.add_gpus()->set_uuid("GPU-of-another");
        said.mutable_host()->add_values(7);
        return frame;
    }
    uplink::Frame tell(std::uint64_t sequence) {
        timers.advance(1s);
        say(*link, 1, sampled(sequence));
        return told(*link);
    }
    std::size_t rows(const std::string& id) {
        const auto* device = series.find(id);
        return device ? device->rows.size() : 0;
    }
    wire::Link* link = nullptr;
};

TEST_F(Samples, AreStoredBeforeTheirReportIsAcknowledged) {
    series.hang = true;
    EXPECT_FALSE(tell(1).has_report_ack());
    EXPECT_TRUE(live().sample) << "the estate has heard it";
    series.let_go();
    timers.settle();
    EXPECT_EQ(told(*link).report_ack().sequence(), 1u);
    EXPECT_EQ(rows("gpu/h-a/GPU-a-0"), 1u);
    EXPECT_EQ(rows("host/h-a"), 1u);
    EXPECT_EQ(series.devices.size(), 2u) << "and nothing of GPUs that it has not";
    const auto& device = *series.find("gpu/h-a/GPU-a-0");
    EXPECT_EQ(device.rows.begin()->second[0], 1);
}

TEST_F(Samples, OfTheMomentAreNotStored) {
    uplink::Frame frame;
    frame.mutable_telemetry()->mutable_host()->add_values(7);
    say(*link, 1, frame);
    EXPECT_TRUE(live().sample);
    EXPECT_TRUE(series.devices.empty());
}

// The disk of the series is no reason to stop a workload, or to lose a command.
TEST_F(Samples, WhileTheyAreNotStoredTheHostIsHeardAndKeepsThem) {
    EXPECT_EQ(tell(1).report_ack().sequence(), 1u);
    series.failure = Error{Code::exhausted, "the disk is full"};
    EXPECT_FALSE(tell(2).has_report_ack());
    timers.advance(5s);
    const uplink::Frame heard = tell(3);
    ASSERT_TRUE(heard.has_report_ack()) << "it is heard, and its leases go on";
    EXPECT_EQ(heard.report_ack().sequence(), 1u) << "and nothing is settled by it";
    EXPECT_EQ(live().last_sequence, 3u) << "the estate goes on";
    series.failure.reset();
    timers.advance(2s);
    EXPECT_EQ(told(*link).report_ack().sequence(), 2u);
    EXPECT_EQ(told(*link).report_ack().sequence(), 3u);
    EXPECT_EQ(rows("host/h-a"), 3u);
}

TEST_F(Samples, OfAReportThatComesAgainAreStoredOnce) {
    const uplink::Frame same = sampled(1);
    for (int i = 0; i < 3; ++i) {
        timers.advance(1s);
        say(*link, 1, same);
        EXPECT_EQ(told(*link).report_ack().sequence(), 1u);
    }
    EXPECT_EQ(rows("host/h-a"), 1u);
}

TEST_F(Samples, ThatHadNoRoomAreAskedForAgain) {
    EXPECT_EQ(tell(1).report_ack().sequence(), 1u);
    series.hang = true;
    Measurement large;
    large.devices.push_back(
        std::make_shared<const SeriesDevice>(SeriesDevice{Measured::host, "host/other", {}}));
    large.cells.resize(Recorder::cells_max);
    ASSERT_TRUE(recorder_of(term()).take("h-other", std::move(large), nullptr));
    timers.settle();
    const uplink::Frame heard = tell(2);
    EXPECT_EQ(heard.report_ack().sequence(), 1u) << "not stored, and not waiting to be";
    series.let_go();
    timers.settle();
    EXPECT_TRUE(tell(3).has_agent_welcome()) << "it says hello, and begins where it has no answer";
    greet(*link, 1, 2, 1);
    EXPECT_TRUE(told(*link).has_agent_welcome());
    for (std::uint64_t sequence : {2, 3}) EXPECT_EQ(tell(sequence).report_ack().sequence(), sequence);
    EXPECT_EQ(rows("host/h-a"), 3u);
}

TEST_F(Samples, HaveTheLabelsOfWhoHoldsTheGpu) {
    EXPECT_EQ(tell(1).report_ack().sequence(), 1u);
    timers.advance(9s);
    desk().estate.hosts.edit("h-b").cordoned = true;
    const std::string id = started("one");
    const std::string gpu =
        term().look().estate.claims.at(term().look().estate.instances.at(id).claim).gpus.front();
    EXPECT_TRUE(commit());
    timers.settle();
    (void)told(*link);
    timers.advance(1s);
    uplink::Frame frame = sampled(2);
    frame.mutable_report()->mutable_gpus(0)->set_uuid(gpu);
    say(*link, 1, frame);
    const auto* device = series.find("gpu/h-a/" + gpu);
    ASSERT_NE(device, nullptr);
    const auto labels = testing::FakeSeries::labels_at(*device, series_millis(timers.wall()));
    EXPECT_EQ(labels.at("tenant"), "acme");
    EXPECT_EQ(labels.at("workload"), "one");
    EXPECT_EQ(labels.at("use"), "preparing") << "it has not run yet";
    EXPECT_EQ(labels.at("host"), "h-a");
    EXPECT_EQ(labels.at("zone"), "nj");
    EXPECT_EQ(labels.at("class"), "H100");
    EXPECT_EQ(labels.at("project"), "default");
}

TEST_F(Samples, OfSlicesAreKeptAsDevicesOfTheirOwn) {
    desk().estate.hosts.edit("h-a").facts.gpus.at(0).slices = {
        {.uuid = "MIG-1", .profile = "1g.10gb", .gpu_instance = 9}};
    timers.advance(1s);
    uplink::Frame frame = sampled(1);
    for (const char* uuid : {"MIG-1", "MIG-of-another"}) {
        auto& slice = *frame.mutable_report()->mutable_gpus(0)->add_slices();
        slice.set_uuid(uuid);
        slice.add_values(512);
    }
    say(*link, 1, frame);
    EXPECT_EQ(told(*link).report_ack().sequence(), 1u);
    const auto* device = series.find("slice/h-a/MIG-1");
    ASSERT_NE(device, nullptr);
    const auto labels = testing::FakeSeries::labels_at(*device, series_millis(timers.wall()));
    EXPECT_EQ(labels.at("slice"), "MIG-1");
    EXPECT_EQ(labels.at("profile"), "1g.10gb");
    EXPECT_EQ(labels.at("gpu_instance"), "9");
    EXPECT_EQ(labels.at("gpu"), "GPU-a-0");
    EXPECT_EQ(labels.at("class"), "H100");
    EXPECT_EQ(rows("slice/h-a/MIG-1"), 1u);
    EXPECT_EQ(rows("gpu/h-a/GPU-a-0"), 1u);
    EXPECT_EQ(rows("host/h-a"), 1u);
    EXPECT_EQ(series.find("slice/h-a/MIG-of-another"), nullptr);
}

TEST_F(Samples, OfVolumesAndLayersAreTheirOwnersWhileTheyAreThere) {
    const auto add_volume = [&](const std::string& id, const std::string& host) {
        desk().estate.volumes.add({.id = id, .name = "name-of-" + id, .tenant = "acme", .host = host});
    };
    add_volume("v-1", "h-a"), add_volume("v-2", "h-a"), add_volume("v-far", "h-b");
    std::uint64_t sequence = 0;
    const auto tell_of = [&](const std::vector<std::string>& volumes) {
        timers.advance(1s);
        uplink::Frame frame = sampled(++sequence);
        frame.mutable_report()->mutable_disks();
        for (const auto& id : volumes) {
            auto& one = *frame.mutable_report()->mutable_disks()->add_of();
            one.set_volume(id);
            one.set_used_bytes(sequence), one.set_total_bytes(100);
            one.set_used_inodes(3), one.set_total_inodes(30);
        }
        say(*link, 1, frame);
        EXPECT_EQ(told(*link).report_ack().sequence(), sequence);
    };
    const auto owner = [&](const std::string& id) {
        const auto* device = series.find(id);
        return device ? testing::FakeSeries::labels_at(*device, series_millis(timers.wall())).at("volume")
                      : "nobody";
    };
    tell_of({"v-1", "v-far", "v-none"});
    EXPECT_EQ(owner("volume/h-a/0"), "name-of-v-1");
    EXPECT_EQ(series.find("volume/h-a/1"), nullptr) << "of what lies elsewhere it has no say";
    const auto first = series_millis(timers.wall());
    const auto labels = testing::FakeSeries::labels_at(*series.find("volume/h-a/0"), first);
    EXPECT_EQ(labels.at("tenant"), "acme");
    EXPECT_EQ(labels.at("host"), "h-a");
    tell_of({"v-1", "v-2"});
    EXPECT_EQ(owner("volume/h-a/1"), "name-of-v-2");
    // A row is used again, and what was measured before stays whose it was.
    tell_of({"v-2"});
    desk().estate.volumes.edit("v-far").host = "h-a";
    tell_of({"v-2", "v-far"});
    EXPECT_EQ(owner("volume/h-a/0"), "name-of-v-far");
    EXPECT_EQ(owner("volume/h-a/1"), "name-of-v-2");
    EXPECT_EQ(testing::FakeSeries::labels_at(*series.find("volume/h-a/0"), first).at("volume"),
              "name-of-v-1");
    EXPECT_EQ(rows("volume/h-a/0"), 3u);
    EXPECT_EQ(rows("volume/h-a/1"), 3u);
    // No more devices than the series have room for.
    std::vector<std::string> many;
    for (int i = 0; i < 2 * disk_series_host_max; ++i) many.push_back(fmt::format("v-many-{}", i));
    for (const auto& id : many) add_volume(id, "h-a");
    tell_of(many);
    EXPECT_NE(series.find(fmt::format("volume/h-a/{}", disk_series_host_max - 1)), nullptr);
    EXPECT_EQ(series.find(fmt::format("volume/h-a/{}", disk_series_host_max)), nullptr);
}

TEST_F(Samples, AreOfTheSameDevicesUntilSomethingOfThemChanges) {
    const auto named = [&](const std::vector<SeriesDevicePtr>& before) {
        return series_devices(desk(), desk().estate.hosts.at("h-a"), before, {});
    };
    const auto first = named({});
    ASSERT_EQ(first.size(), desk().estate.hosts.at("h-a").facts.gpus.size() + 1);
    EXPECT_EQ(named(first), first);
    desk().estate.hosts.edit("h-b").cordoned = true;
    const std::string id = started("one");
    const Claim& claim = desk().estate.claims.at(desk().estate.instances.at(id).claim);
    ASSERT_EQ(claim.host, "h-a");
    const auto held = named(first);
    std::set<std::string> own;
    for (std::size_t i = 0; i < held.size(); ++i) {
        EXPECT_EQ(held[i] == first[i], held[i]->labels == first[i]->labels) << held[i]->id;
        if (held[i]->labels.labels.contains("workload")) own.insert(held[i]->labels.labels.at("gpu"));
    }
    EXPECT_EQ(own, (std::set<std::string>{claim.gpus.begin(), claim.gpus.end()}));
    EXPECT_EQ(held.back(), first.back());
    desk().estate.hosts.edit("h-a").facts.hostname = "renamed";
    for (const SeriesDevicePtr& device : named(held))
        EXPECT_EQ(device->labels.labels.at("host_name"), "renamed");
    desk().estate.hosts.edit("h-a").facts.gpus.pop_back();
    const auto fewer = named(held);
    EXPECT_EQ(fewer.size(), held.size() - 1);
    EXPECT_EQ(fewer.back()->of, Measured::host);
}

}  // namespace
}  // namespace hostler::master
