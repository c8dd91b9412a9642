// The GPUs are measured and challenged when nobody uses them, and given back at once to who does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;
using ::testing::HasSubstr;

class FakeBench final : public GpuBench {
public:
    explicit FakeBench(Timers& timers) : timers_(timers) {}
    std::string unable(const HostFacts&) const override { return why_not; }
    Task<Figures> measure(std::string only) override {
        last_measured = only;
        const InUse use{*this};
        CO_TRY(co_await sleep(timers_, 10s));
        GpuFigures gpu{.uuid = "GPU-1", .product = "NVIDIA H100 80GB HBM3", .faults = {"it was wrong"}};
        gpu.fp32_gflops = 64'000;
        gpu.peers.push_back({.uuid = "GPU-2", .copy_mb_s = 300'000, .direct = true});
        co_return Figures{{gpu}, {}, complete};
    }
    Task<Proofs> prove(GpuChallenge challenge, PathSeed path_seed) override {
        const InUse use{*this};
        CO_TRY(co_await sleep(timers_, 5s));
        challenge.path_seed = CO_TRY(co_await path_seed());
        asked = challenge;
        GpuProof proof{.uuid = "GPU-1", .words = 1000, .answers = {1, 2, 3}};
        co_return Proofs{{proof}, {}, true};
    }

    struct InUse {
        explicit InUse(FakeBench& bench) : of(bench) { ++of.users; }
        ~InUse() { --of.users; }
        InUse(const InUse&) = delete;
        FakeBench& of;
    };
    std::string why_not;
    bool complete = true;
    int users = 0;
    std::string last_measured = "none";
    std::optional<GpuChallenge> asked;

private:
    Timers& timers_;
};

class FakeDiskBench final : public DiskBench {
public:
    Task<DiskFigures> measure() override { co_return DiskFigures{.write_mb_s = 2000}; }
};

struct MeasuringWorld : World {
    MeasuringWorld() {
        gpu_bench = &bench;
        disk_bench = &disk;
        serve("10.201.3.5:8080");
    }
    uplink::Command command(const std::string& id) const {
        uplink::Command made = start(id);
        made.clear_start_workload();
        made.set_subject("h-1");
        return made;
    }
    uplink::Command measuring(const std::string& id = "m-1", bool gpus = true) const {
        uplink::Command made = command(id);
        made.mutable_measure_host()->set_gpus(gpus);
        return made;
    }
    uplink::Command proving(const std::string& id = "m-1") const {
        uplink::Command made = command(id);
        made.mutable_prove_gpus()->set_rounds(4);
        made.mutable_prove_gpus()->set_steps(8);
        made.mutable_prove_gpus()->set_walkers(3);
        return made;
    }
    FakeBench bench{timers};
    FakeDiskBench disk;
};

TEST(Measuring, FiguresTravelWithTheAnswer) {
    MeasuringWorld world;
    world.join();
    EXPECT_TRUE(world.master.hellos.back().facts().measures());
    world.master.order(world.measuring());
    world.timers.advance(15s);
    const auto* answer = world.master.answer("m-1");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->state(), "done");
    ASSERT_EQ(answer->measured().gpus_size(), 1);
    const auto& gpu = answer->measured().gpus(0);
    EXPECT_EQ(gpu.fp32_gflops(), 64'000);
    EXPECT_FALSE(gpu.has_memory_copy_mb_s());
    EXPECT_EQ(gpu.faults(0), "it was wrong");
    EXPECT_EQ(gpu.peers(0).copy_mb_s(), 300'000);
    EXPECT_EQ(answer->measured().disk().write_mb_s(), 2000);
}

TEST(Measuring, WhatCannotBeMeasuredIsSaidAndTheDiskIsMeasuredAllTheSame) {
    MeasuringWorld world;
    world.bench.why_not = "Only NVIDIA GPUs are measured.";
    world.join();
    EXPECT_EQ(world.master.hellos.back().facts().unmeasurable(), "Only NVIDIA GPUs are measured.");
    world.master.order(world.measuring("m-1", false));
    world.timers.advance(2s);
    const auto* answer = world.master.answer("m-1");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->measured().gpus_size(), 0);
    EXPECT_EQ(answer->measured().disk().write_mb_s(), 2000);
}

TEST(Measuring, AMeasurementThatDidNotEndHasNoFigures) {
    MeasuringWorld world;
    world.bench.complete = false;
    world.join();
    world.master.order(world.measuring());
    world.timers.advance(15s);
    ASSERT_TRUE(world.master.answer("m-1"));
    EXPECT_EQ(world.master.answer("m-1")->code(), "unavailable");
}

TEST(Measuring, AnInstanceIsNotDisturbed) {
    MeasuringWorld world;
    world.join();
    world.master.order(world.start());
    world.timers.advance(5s);
    ASSERT_EQ(world.master.answer("c-1")->state(), "done");
    world.master.order(world.measuring());
    world.timers.advance(1s);
    ASSERT_TRUE(world.master.answer("m-1"));
    EXPECT_EQ(world.master.answer("m-1")->reason(), "in_use");
    EXPECT_THAT(world.master.answer("m-1")->message(), HasSubstr("instance i-1 has GPUs"));
}

TEST(Measuring, AProcessThatNobodyKnowsIsNotDisturbed) {
    MeasuringWorld world;
    world.telemetry.processes = std::vector<GpuProcess>{{.pid = 4711}};
    world.join();
    world.timers.advance(15s);
    world.master.order(world.measuring());
    world.timers.advance(1s);
    ASSERT_TRUE(world.master.answer("m-1"));
    EXPECT_THAT(world.master.answer("m-1")->message(), HasSubstr("process 4711 has GPU GPU-1"));
}

TEST(Measuring, AnInstanceThatStartsGetsTheGpusAtOnce) {
    MeasuringWorld world;
    world.join();
    world.master.order(world.measuring());
    world.timers.advance(3s);
    EXPECT_EQ(world.bench.users, 1);
    world.master.order(world.start());
    world.timers.advance(3s);
    EXPECT_EQ(world.bench.users, 0);
    ASSERT_TRUE(world.master.answer("m-1"));
    EXPECT_EQ(world.master.answer("m-1")->reason(), "in_use");
    ASSERT_TRUE(world.master.answer("c-1"));
    EXPECT_EQ(world.master.answer("c-1")->state(), "done");
}

TEST(Measuring, AChallengeIsAnsweredFromWhereTheMasterSays) {
    MeasuringWorld world;
    world.join();
    world.master.order(world.proving());
    world.timers.advance(6s);
    EXPECT_EQ(world.master.phases("m-1").back(), "filled");
    EXPECT_FALSE(world.bench.asked) << "where the paths begin is not known yet";
    uplink::Frame frame;
    frame.mutable_challenge_path()->set_command("m-1");
    frame.mutable_challenge_path()->set_path_seed(77);
    world.master.send(frame);
    world.timers.advance(1s);
    ASSERT_TRUE(world.bench.asked);
    EXPECT_EQ(world.bench.asked->path_seed, 77U);
    EXPECT_EQ(world.bench.asked->steps, 8U);
    EXPECT_EQ(world.master.phases("m-1").back(), "walked");
    for (const auto& update : world.master.updates)
        if (update.phase() == "walked") {
            ASSERT_EQ(update.proofs_size(), 1);
            EXPECT_EQ(update.proofs(0).words(), 1000U);
            EXPECT_EQ(update.proofs(0).answers(2), 3U);
        }
    EXPECT_EQ(world.master.answer("m-1")->state(), "done");
}

TEST(Measuring, AMasterThatDoesNotSayItIsNotWaitedForForEver) {
    MeasuringWorld world;
    world.join();
    world.master.order(world.proving());
    world.timers.advance(2min);
    ASSERT_TRUE(world.master.answer("m-1"));
    EXPECT_EQ(world.master.answer("m-1")->code(), "timeout");
    EXPECT_EQ(world.bench.users, 0);
}

}  // namespace
}  // namespace hostler::agent
