// The last step of a GPU's way back: a benchmark, where there is something to measure it with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;
using ::testing::HasSubstr;

class PlayedBench final : public GpuBench {
public:
    explicit PlayedBench(Timers& timers) : timers_(timers) {}
    std::string unable(const HostFacts&) const override { return why_not; }
    Task<Figures> measure(std::string gpu) override {
        measured.push_back(gpu);
        CO_TRY(co_await sleep(timers_, 10s));
        if (error) co_return std::unexpected(*error);
        co_return found;
    }
    Task<Proofs> prove(GpuChallenge, PathSeed) override {
        co_return fail(Code::unavailable, "it proves nothing");
    }

    std::string why_not;
    std::optional<Error> error;
    Figures found{{good()}, {}, true};
    std::vector<std::string> measured;

    static GpuFigures good() {
        GpuFigures made{.uuid = "GPU-1"};
        made.memory_checked_bytes = 70'000'000'000;
        made.memory_copy_mb_s = 3'003'900;
        made.fp32_gflops = 64'400;
        made.tensor_gflops = 666'200;
        return made;
    }

private:
    Timers& timers_;
};

// One GPU that has a fault, and is reset when a test says so.
struct ReturningWorld : World {
    ReturningWorld() {
        gpu_bench = &bench;
        telemetry.inventory.gpus.front().memory_bytes = 85'520'809'984;
        telemetry.shown.energy_mj = 100'000;
        serve("10.201.3.5:8080");
        join();
        timers.advance(10s);
        telemetry.faults.push_back({.uuid = "GPU-1", .kind = "xid", .code = 48});
        timers.advance(10s);
    }
    void reset() {
        telemetry.shown.energy_mj = 2;
        timers.advance(30s);
        telemetry.shown.energy_mj = 100'000;
    }
    uplink::Gpu told() const {
        uplink::HostFacts facts = master.hellos.back().facts();
        for (const auto& report : master.reports)
            if (report.has_facts()) facts = report.facts();
        return facts.gpus_size() > 0 ? facts.gpus(0) : uplink::Gpu{};
    }
    std::string said() const {
        for (const auto& one : told().evidence())
            if (one.kind() == "retest") return one.message();
        return {};
    }
    PlayedBench bench{timers};
};

TEST(Retests, AGpuIsMeasuredAfterItsQuietMinutesAndReturns) {
    ReturningWorld world;
    world.reset();
    world.timers.advance(4min);
    EXPECT_TRUE(world.bench.measured.empty()) << "first it has to be quiet";
    EXPECT_GT(world.told().testing_until(), 0);
    world.timers.advance(37s);
    EXPECT_EQ(world.bench.measured, std::vector<std::string>{"GPU-1"}) << "and this one alone";
    EXPECT_EQ(world.told().health(), "faulty") << "until the figures are there";
    world.timers.advance(15s);
    EXPECT_EQ(world.told().health(), "healthy");
    EXPECT_THAT(world.said(), HasSubstr("was right"));
    world.timers.advance(10min);
    EXPECT_EQ(world.bench.measured.size(), 1u);
}

TEST(Retests, AGpuThatFailsItsRetestStaysOut) {
    ReturningWorld world;
    world.bench.found.gpus.front().faults = {"memory: 1 of 1024 words were wrong"};
    world.reset();
    world.timers.advance(1h);
    EXPECT_EQ(world.told().health(), "faulty");
    EXPECT_EQ(world.told().remedy(), "replace");
    EXPECT_EQ(world.told().testing_until(), 0);
    EXPECT_THAT(world.said(), HasSubstr("1 of 1024 words"));
    EXPECT_EQ(world.bench.measured.size(), 1u) << "time alone heals nothing";
    world.crash();
    world.master.reports.clear();
    world.join();
    world.timers.advance(1h);
    EXPECT_EQ(world.told().health(), "faulty") << "an agent that starts anew heals nothing";
    world.bench.found.gpus = {PlayedBench::good()};
    world.reset();
    world.timers.advance(6min);
    EXPECT_EQ(world.told().health(), "healthy") << world.told().health_reason();
}

TEST(Retests, WithoutCudaTheGpuReturnsAndSaysThatItWasSkipped) {
    ReturningWorld world;
    world.bench.found = {{}, {"there is no libcuda.so.1 on this machine"}, true, true};
    world.reset();
    world.timers.advance(6min);
    EXPECT_EQ(world.told().health(), "healthy");
    EXPECT_THAT(world.said(), HasSubstr("skipped: there is no libcuda.so.1"));
    ReturningWorld other;
    other.bench.why_not = "Only NVIDIA GPUs are measured.";
    other.reset();
    other.timers.advance(6min);
    EXPECT_TRUE(other.bench.measured.empty());
    EXPECT_EQ(other.told().health(), "healthy");
    EXPECT_THAT(other.said(), HasSubstr("skipped: Only NVIDIA"));
}

TEST(Retests, WhatStillUsesTheGpuIsNotDisturbed) {
    ReturningWorld world;
    world.telemetry.processes = std::vector<GpuProcess>{{.pid = 4711}};
    world.reset();
    world.timers.advance(20min);
    EXPECT_TRUE(world.bench.measured.empty());
    EXPECT_EQ(world.told().health(), "faulty");
    world.telemetry.processes = std::vector<GpuProcess>{};
    world.timers.advance(30s);
    EXPECT_EQ(world.told().health(), "healthy");
}

TEST(Retests, NeitherIsAnInstance) {
    ReturningWorld world;
    world.master.order(world.start());
    world.timers.advance(5s);
    ASSERT_EQ(world.master.answer("c-1")->state(), "done");
    world.reset();
    world.timers.advance(20min);
    EXPECT_TRUE(world.bench.measured.empty());
}

TEST(Retests, ABenchmarkThatCannotBeginIsTriedAgainInAMinute) {
    ReturningWorld world;
    world.bench.error = Error{Code::unavailable, "no process can be made"};
    world.reset();
    world.timers.advance(8min);
    EXPECT_GE(world.bench.measured.size(), 2u);
    EXPECT_LE(world.bench.measured.size(), 4u);
    EXPECT_EQ(world.told().health(), "faulty");
    world.bench.error.reset();
    world.timers.advance(2min);
    EXPECT_EQ(world.told().health(), "healthy");
}

TEST(Retests, AllGpusAreNotMeasuredMeanwhile) {
    ReturningWorld world;
    world.reset();
    world.timers.advance(4min + 37s);
    ASSERT_EQ(world.bench.measured.size(), 1u);
    uplink::Command measuring = world.start("m-1");
    measuring.clear_start_workload();
    measuring.set_subject("h-1");
    measuring.mutable_measure_host()->set_gpus(true);
    world.master.order(measuring);
    world.timers.advance(2s);
    ASSERT_TRUE(world.master.answer("m-1"));
    EXPECT_EQ(world.master.answer("m-1")->reason(), "in_use");
}

}  // namespace
}  // namespace hostler::agent
