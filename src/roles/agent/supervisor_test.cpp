#include "roles/agent/supervisor.h"

#include <gtest/gtest.h>

#include "core/testing/run.h"
#include "proto/uplink.pb.h"
#include "roles/agent/testing/world.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {
namespace {

using testing::FakeEngine;
using namespace std::chrono_literals;

constexpr std::int64_t second_us = 1'000'000;

struct SlowEngine : FakeEngine {
    explicit SlowEngine(Timers& with) : timers(with) {}
    Task<std::vector<Container>> list(std::string label, std::string value) override {
        if (takes > 0s) CO_TRY(co_await sleep(timers, takes));
        co_return co_await FakeEngine::list(std::move(label), std::move(value));
    }
    Timers& timers;
    Duration takes{};
};

struct FullLeases : testing::FakeLeases {
    Task<> watch(std::vector<WatchedLease> all) override {
        if (full) co_return fail(Code::exhausted, "the disk is full");
        co_return co_await FakeLeases::watch(std::move(all));
    }
    bool full = false;
};

struct Rig {
    Rig() {
        warnings = 0;
        set_log_sink([](Level level, std::string_view) { warnings += level == Level::warn ? 1 : 0; });
    }
    ~Rig() {
        end();
        set_log_sink(nullptr);
    }
    void begin(const std::string& boot = "boot-1") {
        ended = false;
        tasks = std::make_unique<TaskGroup>(loop);
        tasks->start("supervisor", [](Rig& rig, std::string of) -> Task<> {
            Supervisor one{rig.loop, rig.timers, rig.engine, rig.leases, {.boot = std::move(of)}};
            const auto done = co_await one.run();
            rig.ended = done.has_value();
            co_return Result<>{};
        }(*this, boot));
        timers.settle();
    }
    void end() {
        if (!tasks) return;
        tasks->cancel();
        timers.settle();
        tasks.reset();
    }
    void grant(std::int64_t seconds, std::uint64_t generation = 1, const std::string& boot = "boot-1") {
        leases.granted_ = {{"i-1", generation, boot, seconds * second_us, 60 * second_us}};
    }
    void run(std::uint64_t generation = 1) {
        Container made{container_name("i-1"), {}, ContainerState::running};
        made.labels[std::string{label::instance}] = "i-1";
        made.labels[std::string{label::generation}] = std::to_string(generation);
        engine.containers[made.name] = made;
    }
    bool runs() { return engine.containers.at(container_name("i-1")).state == ContainerState::running; }

    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    SlowEngine engine{timers};
    FullLeases leases;
    std::unique_ptr<TaskGroup> tasks;
    bool ended = false;
    static inline int warnings = 0;
};

TEST(Lease, IsOverAtItsEndAndWithItsBoot) {
    const RunLease lease{"i-1", 1, "boot-1", 100, 50};
    EXPECT_FALSE(has_run_out(lease, "boot-1", 99));
    EXPECT_TRUE(has_run_out(lease, "boot-1", 100));
    EXPECT_TRUE(has_run_out(lease, "boot-2", 0)) << "nothing of another boot runs on";
}

TEST(Supervisor, StopsWhatRunsWhenItsLeaseHasRunOut) {
    Rig rig;
    rig.run();
    rig.grant(60);
    rig.begin();
    rig.timers.advance(59s);
    EXPECT_TRUE(rig.runs());
    ASSERT_EQ(rig.leases.watched_.size(), 1u) << "it says what it watches over";
    EXPECT_EQ(rig.leases.watched_.front().generation, 1u);
    rig.timers.advance(2s);
    EXPECT_FALSE(rig.runs());
    EXPECT_EQ(rig.leases.watched_.front().saw, "it was stopped");
}

TEST(Supervisor, LeavesAloneWhatIsRenewedOrOfALaterRun) {
    Rig rig;
    rig.run(2);
    rig.grant(60, 2);
    rig.begin();
    for (int minute = 1; minute < 10; ++minute) {
        rig.timers.advance(50s);
        rig.grant(minute * 50 + 60, 2);
    }
    EXPECT_TRUE(rig.runs());
    rig.grant(0, 1);  // Of the run before.
    rig.timers.advance(5s);
    EXPECT_TRUE(rig.runs());
}

TEST(Supervisor, StopsWhatAnotherBootWasGranted) {
    Rig rig;
    rig.run();
    rig.grant(3600);
    rig.begin("boot-2");
    rig.timers.advance(1s);
    EXPECT_FALSE(rig.runs());
}

TEST(Supervisor, AsksAnEngineUntilItAnswers) {
    Rig rig;
    rig.run();
    rig.grant(10);
    rig.engine.down = true;  // Right after the start, and for longer than the lease.
    rig.begin();
    rig.timers.advance(60s);
    EXPECT_TRUE(rig.runs());
    rig.engine.down = false;
    rig.timers.advance(2s);
    EXPECT_FALSE(rig.runs());
}

TEST(Supervisor, FindsALaunchThatWasUnderWay) {
    Rig rig;
    rig.grant(10);
    rig.begin();
    rig.timers.advance(30s);
    EXPECT_EQ(rig.leases.watched_.front().saw, "nothing of it runs");
    rig.run();
    rig.timers.advance(2s);
    EXPECT_FALSE(rig.runs());
}

TEST(Supervisor, EndsWhenThereIsNothingToWatchOver) {
    Rig rig;
    rig.grant(1000);
    rig.begin();
    rig.timers.advance(900s);
    EXPECT_FALSE(rig.ended);
    rig.leases.granted_.clear();
    rig.timers.advance(61s);
    EXPECT_TRUE(rig.ended);
}

TEST(Supervisor, WatchesOverANewLeaseWhileAnEngineTakesLong) {
    Rig rig;
    rig.run();
    rig.grant(10);
    rig.engine.takes = 25s;
    rig.begin();
    rig.timers.advance(12s);
    rig.leases.granted_.push_back({"i-2", 1, "boot-1", 3600 * second_us, 60 * second_us});
    rig.timers.advance(1s);
    EXPECT_EQ(rig.leases.watched_.size(), 2u);
    EXPECT_TRUE(rig.runs());
    rig.timers.advance(60s);
    EXPECT_FALSE(rig.runs());
}

TEST(Supervisor, StopsAndWarnsOnceWhenTheDiskIsFull) {
    Rig rig;
    rig.run();
    rig.grant(10);
    rig.leases.full = true;
    rig.begin();
    rig.timers.advance(60s);
    EXPECT_FALSE(rig.runs());
    EXPECT_EQ(rig.warnings, 1);
    EXPECT_TRUE(rig.leases.watched_.empty());
    rig.leases.full = false;
    rig.timers.advance(1s);
    ASSERT_EQ(rig.leases.watched_.size(), 1u);
    EXPECT_EQ(rig.leases.watched_.front().saw, "it was stopped");
}

TEST(Supervisor, EndsLongAfterAllLeasesHaveRunOutAndNothingRuns) {
    Rig rig;
    rig.run();
    rig.grant(10);
    rig.begin();
    rig.timers.advance(600s);
    EXPECT_FALSE(rig.ended);
    rig.timers.advance(30s);
    EXPECT_TRUE(rig.ended);
}

TEST(Supervisor, GoesOnWhileAnEngineDoesNotSayThatNothingRuns) {
    Rig rig;
    rig.run();
    rig.grant(10);
    rig.engine.down = true;
    rig.begin();
    rig.timers.advance(3000s);
    EXPECT_FALSE(rig.ended);
    rig.engine.down = false;
    rig.timers.advance(2s);
    EXPECT_FALSE(rig.runs());
}

// ── What the agent does with leases

struct MovingHost : testing::World {
    MovingHost() {
        leases = &book;
        book.answers = true;
        join();
        engine.images.insert("demo");
        serve("10.201.3.5:8080");
    }
    uplink::Command leased(const std::string& id, std::uint64_t generation, std::uint64_t stamp_s,
                           const std::string& boot = "boot-1") {
        uplink::Command command = start(id, generation);
        auto& lease = *command.mutable_start_workload()->mutable_lease();
        lease.set_boot_id(boot);
        lease.set_stamp_us(stamp_s * second_us);
        lease.set_length_ms(60'000);
        return command;
    }
    std::uint64_t now_s() const { return static_cast<std::uint64_t>(since_boot_us(timers) / second_us); }
    testing::FakeLeases book;
};

TEST(Leases, AreWrittenAndWatchedBeforeTheContainerIsLaunched) {
    MovingHost host;
    EXPECT_TRUE(host.master.hellos.back().keeps_leases());
    host.book.answers = false;
    host.master.order(host.leased("c-1", 1, host.now_s()));
    host.timers.advance(5s);
    EXPECT_EQ(host.engine.launches, 0) << "no supervisor knows of it";
    ASSERT_EQ(host.book.granted_.size(), 1u);
    EXPECT_GT(host.book.supervisors, 0);
    host.book.answer();
    host.timers.advance(5s);
    EXPECT_EQ(host.engine.launches, 1);
    ASSERT_TRUE(host.master.answer("c-1"));
    EXPECT_EQ(host.master.answer("c-1")->state(), "done");
}

TEST(Leases, ACommandThatComesTooLateStartsNothing) {
    MovingHost host;
    host.timers.advance(120s);
    host.master.order(host.leased("c-1", 1, host.now_s() - 61));
    host.master.order(host.leased("c-2", 1, host.now_s(), "boot-0"));
    host.timers.advance(5s);
    EXPECT_EQ(host.engine.launches, 0);
    for (const char* id : {"c-1", "c-2"}) {
        ASSERT_TRUE(host.master.answer(id)) << id;
        EXPECT_EQ(host.master.answer(id)->state(), "failed");
    }
    EXPECT_EQ(host.master.answer("c-2")->reason(), "lease_ended");
}

TEST(Leases, AreRenewedByAMasterThatCountsOnThem) {
    MovingHost host;
    host.master.order(host.leased("c-1", 1, host.now_s()));
    host.timers.advance(2s);
    ASSERT_EQ(host.engine.launches, 1);
    host.master.confirm = {{"i-1", 1}};
    host.timers.advance(300s);
    ASSERT_EQ(host.book.granted_.size(), 1u);
    EXPECT_GT(host.book.granted_.front().until_us, since_boot_us(host.timers));
    host.master.confirm = {{"i-1", 2}};  // It counts on another run.
    host.timers.advance(61s);
    EXPECT_LE(host.book.granted_.front().until_us, since_boot_us(host.timers));
    host.master.confirm = {{"i-1", 1}};
    host.timers.advance(30s);
    EXPECT_LE(host.book.granted_.front().until_us, since_boot_us(host.timers)) << "what is over stays over";
}

TEST(Leases, AMasterOfAnEarlierEpochRenewsNothing) {
    MovingHost host;
    host.master.order(host.leased("c-1", 1, host.now_s()));
    host.timers.advance(2s);
    host.master.confirm = {{"i-1", 1}};
    host.master.confirm_epoch = 0;
    host.timers.advance(61s);
    EXPECT_LE(host.book.granted_.front().until_us, since_boot_us(host.timers));
}

// Whoever watches over it knows nothing of such a renewal.
TEST(Leases, ARenewalThatIsNotWrittenDoesNotCount) {
    MovingHost host;
    host.master.order(host.leased("c-1", 1, host.now_s()));
    host.timers.advance(2s);
    ASSERT_EQ(host.engine.launches, 1);
    const auto until_us = host.book.granted_.front().until_us;
    host.master.confirm = {{"i-1", 1}};
    host.book.full = true;
    host.timers.advance(61s);
    ASSERT_LE(until_us, since_boot_us(host.timers));
    host.engine.containers.begin()->second.state = ContainerState::exited;
    host.book.full = false;
    host.timers.advance(15s);
    EXPECT_EQ(host.book.granted_.front().until_us, until_us) << "what is over stays over";
    bool told = false;
    for (const auto& report : host.master.reports)
        for (const auto& workload : report.workloads()) told |= workload.lease_ended();
    EXPECT_TRUE(told);
}

TEST(Leases, WhatTheSupervisorStoppedIsToldApartFromWhatEnded) {
    MovingHost host;
    host.master.order(host.leased("c-1", 1, host.now_s()));
    host.timers.advance(2s);
    ASSERT_EQ(host.engine.launches, 1);
    host.timers.advance(60s);
    auto& container = host.engine.containers.begin()->second;
    container.state = ContainerState::exited;
    host.timers.advance(15s);
    bool told = false;
    for (const auto& report : host.master.reports)
        for (const auto& workload : report.workloads()) told |= workload.lease_ended();
    EXPECT_TRUE(told);
}

TEST(Leases, WhatEndedByItselfWhileItsLeaseLastedIsNotToldAsStopped) {
    MovingHost host;
    host.master.order(host.leased("c-1", 1, host.now_s()));
    host.timers.advance(2s);
    ASSERT_EQ(host.engine.launches, 1);
    host.engine.containers.begin()->second.state = ContainerState::exited;
    host.timers.advance(120s);
    ASSERT_EQ(host.book.granted_.size(), 1u);
    EXPECT_LE(host.book.granted_.front().until_us, since_boot_us(host.timers));
    bool seen = false;
    for (const auto& report : host.master.reports)
        for (const auto& workload : report.workloads()) {
            seen |= workload.state() == "exited";
            EXPECT_FALSE(workload.lease_ended());
        }
    EXPECT_TRUE(seen);
}

TEST(Leases, GoWithTheContainer) {
    MovingHost host;
    host.master.order(host.leased("c-1", 1, host.now_s()));
    host.timers.advance(2s);
    host.master.order(host.stop());
    host.timers.advance(5s);
    EXPECT_TRUE(host.engine.containers.empty());
    EXPECT_TRUE(host.book.granted_.empty());
}

TEST(Leases, AnAgentThatIsStartedAnewGoesOnWithThem) {
    MovingHost host;
    host.master.order(host.leased("c-1", 1, host.now_s()));
    host.timers.advance(2s);
    host.crash();
    host.book.supervisors = 0;
    host.boot();
    host.master.confirm = {{"i-1", 1}};
    host.timers.advance(300s);
    EXPECT_GT(host.book.supervisors, 0) << "one is there, if it had died as well";
    EXPECT_GT(host.book.granted_.front().until_us, since_boot_us(host.timers));
}

}  // namespace
}  // namespace hostler::agent
