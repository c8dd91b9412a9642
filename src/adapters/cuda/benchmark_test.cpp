#include "adapters/cuda/benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "adapters/cuda/child.h"
#include "core/testing/real_timers.h"

namespace hostler::cuda {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

class CudaBenchmark : public ::testing::Test {
protected:
    ~CudaBenchmark() override { ::unsetenv("HOSTLER_SIMULATED_CUDA"); }

    // With the faults that `faults` names.
    BenchmarkReport run(const std::string& faults) {
        ::setenv("HOSTLER_SIMULATED_CUDA", faults.c_str(), 1);
        auto report = testing::run_real(loop, run_benchmark(timers, settings));
        EXPECT_TRUE(report) << report.error().message;
        return report.value_or(BenchmarkReport{});
    }

    Loop loop{1};
    testing::RealTimers timers{loop};
    BenchmarkSettings settings{.program = {CUDA_MEASURE}, .library = SIMULATED_CUDA, .each = 50ms};
};

TEST_F(CudaBenchmark, MeasuresEveryGpu) {
    const auto report = run("");
    EXPECT_TRUE(report.complete);
    EXPECT_THAT(report.problems, IsEmpty());
    ASSERT_THAT(report.gpus, SizeIs(2));
    const GpuFigures& gpu = report.gpus[0];
    EXPECT_EQ(gpu.uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    EXPECT_EQ(gpu.product, "Simulated GPU");
    EXPECT_THAT(gpu.memory_checked_bytes, Optional(4 << 20)) << "nine tenths of 5 MiB, in whole MiB";
    for (const Metric& figure : {gpu.memory_copy_mb_s, gpu.fp32_gflops, gpu.tensor_gflops,
                                 gpu.host_to_gpu_mb_s, gpu.gpu_to_host_mb_s})
        EXPECT_THAT(figure, Optional(Gt(0)));
    EXPECT_THAT(gpu.skipped, IsEmpty());
    EXPECT_THAT(gpu.faults, IsEmpty());
    ASSERT_THAT(gpu.peers, SizeIs(1));
    EXPECT_EQ(gpu.peers[0].uuid, report.gpus[1].uuid);
    EXPECT_THAT(gpu.peers[0].copy_mb_s, Optional(Gt(0)));
    EXPECT_TRUE(gpu.peers[0].direct);
    ASSERT_THAT(report.gpus[1].peers, SizeIs(1));
    EXPECT_FALSE(report.gpus[1].peers[0].direct);
    EXPECT_EQ(report.gpus[1].tensor_gflops, std::nullopt);
    EXPECT_THAT(report.gpus[1].skipped,
                ElementsAre(HasSubstr("bf16 needs compute capability 8.0, this GPU has 7.5")));
}

struct Wrong {
    const char* fault;
    const char* said;
    Metric GpuFigures::* missing;
    Metric GpuFigures::* there;  // Of what is measured after it.
};

class CudaWrongResult : public CudaBenchmark, public ::testing::WithParamInterface<Wrong> {};

TEST_P(CudaWrongResult, IsAFaultAndNoSpeed) {
    const auto report = run(GetParam().fault);
    EXPECT_TRUE(report.complete);
    ASSERT_THAT(report.gpus, SizeIs(2));
    const GpuFigures& gpu = report.gpus[0];
    EXPECT_THAT(gpu.faults, Contains(HasSubstr(GetParam().said)));
    EXPECT_EQ(gpu.*GetParam().missing, std::nullopt);
    if (GetParam().there) EXPECT_NE(gpu.*GetParam().there, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(All, CudaWrongResult,
                         ::testing::Values(Wrong{"wrong-memory", "memory: 1 of ",
                                                 &GpuFigures::memory_checked_bytes, &GpuFigures::fp32_gflops},
                                           Wrong{"wrong-copy", "copying in memory: 1 of ",
                                                 &GpuFigures::memory_copy_mb_s, &GpuFigures::fp32_gflops},
                                           Wrong{"wrong-fma", "fp32: 1 of 2048 words were wrong",
                                                 &GpuFigures::fp32_gflops, &GpuFigures::tensor_gflops},
                                           Wrong{"wrong-tensor", "matrix units: 1 of 1024 ",
                                                 &GpuFigures::tensor_gflops, &GpuFigures::gpu_to_host_mb_s},
                                           Wrong{"wrong-transfer", "transfer to the GPU: 1 of ",
                                                 &GpuFigures::host_to_gpu_mb_s, nullptr}),
                         [](const auto& info) {
                             std::string name = info.param.fault;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

TEST_F(CudaBenchmark, WhatHasNoRoomIsSkippedAndTheRestGoesOn) {
    const auto report = run("no-room-for-two");
    EXPECT_TRUE(report.complete);
    ASSERT_THAT(report.gpus, SizeIs(2));
    EXPECT_THAT(report.gpus[0].skipped, Contains(HasSubstr("copying in memory: no ")));
    EXPECT_THAT(report.gpus[0].faults, IsEmpty());
    EXPECT_NE(report.gpus[0].memory_checked_bytes, std::nullopt);
    EXPECT_NE(report.gpus[0].host_to_gpu_mb_s, std::nullopt);

    EXPECT_THAT(run("full").gpus[0].skipped,
                Contains(HasSubstr("memory: less than 1 MiB of its memory is free")));
}

TEST_F(CudaBenchmark, AGpuWhoseKernelsFailIsAskedNothingMore) {
    const auto report = run("sticky");
    EXPECT_TRUE(report.complete);
    ASSERT_THAT(report.gpus, SizeIs(2));
    EXPECT_THAT(report.gpus[0].faults,
                ElementsAre(HasSubstr("fp32: a kernel does not start: an illegal memory access")));
    EXPECT_NE(report.gpus[0].memory_copy_mb_s, std::nullopt);
    EXPECT_EQ(report.gpus[0].tensor_gflops, std::nullopt);
}

TEST_F(CudaBenchmark, ACopyBetweenGpusThatFailsIsNoFaultOfEither) {
    const auto report = run("no-peer");
    EXPECT_TRUE(report.complete);
    ASSERT_THAT(report.gpus, SizeIs(2));
    EXPECT_THAT(report.problems,
                ElementsAre(HasSubstr("copying from GPU-00010203-0405-0607-0809-0a0b0c0d0e0f to "
                                      "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f: no copy "
                                      "between GPUs")))
        << "the first is the last";
    for (const auto& gpu : report.gpus) {
        EXPECT_THAT(gpu.faults, IsEmpty());
        EXPECT_THAT(gpu.peers, IsEmpty());
    }
}

TEST_F(CudaBenchmark, ACrashTakesNothingWithItThatWasSaid) {
    const auto report = run("crash");
    EXPECT_FALSE(report.complete);
    EXPECT_THAT(report.problems, ElementsAre(HasSubstr("it ended early: signal 6")));
    ASSERT_THAT(report.gpus, SizeIs(1));
    EXPECT_NE(report.gpus[0].memory_copy_mb_s, std::nullopt);
}

TEST_F(CudaBenchmark, AHangIsEnded) {
    settings.silence_max = 500ms;
    const auto report = run("hang");
    EXPECT_FALSE(report.complete);
    EXPECT_THAT(report.problems, ElementsAre(HasSubstr("the driver hangs")));
}

TEST_F(CudaBenchmark, TalkWithoutEndIsEnded) {
    settings.program = {CUDA_MEASURE, "--play", "chatter"};
    settings.lines_max = 2000;
    const auto report = run("");
    EXPECT_FALSE(report.complete);
    EXPECT_THAT(report.problems, ElementsAre(HasSubstr("talks without end")));
    EXPECT_THAT(report.gpus, ElementsAre(::testing::Field(&GpuFigures::faults, SizeIs(64))));
}

TEST_F(CudaBenchmark, WithoutCudaItSaysWhy) {
    EXPECT_THAT(run("none").problems, Contains("CUDA finds no GPU"));
    EXPECT_THAT(run("refuse").problems, Contains("CUDA does not start: system not yet initialized (802)"));
    settings.library = "/nowhere/libcuda.so.1";
    EXPECT_THAT(run("").problems, Contains(HasSubstr("cannot load /nowhere/libcuda.so.1")));
    settings.library = SIMULATED_NVML;
    const auto lacking = run("");
    EXPECT_TRUE(lacking.complete);
    EXPECT_THAT(lacking.gpus, IsEmpty());
    EXPECT_THAT(lacking.problems, Contains(HasSubstr("lacks cuInit, ")));
    settings.program = {"/nowhere/measure"};
    const auto missing = testing::run_real(loop, run_benchmark(timers, settings));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Code::not_found);
}

TEST(CudaLines, WhatCannotBeReadIsLeftOut) {
    BenchmarkReport report;
    for (const char* line : {"", "x", "GPU-1", "GPU-1 ", "GPU-1 fp32_gflops", "GPU-1 fp32_gflops -5",
                             "GPU-1 fp32_gflops 5x", "GPU-1 unheard 5", "GPU-1 peer", "problem"})
        take_line(line, report);
    EXPECT_FALSE(report.complete);
    ASSERT_THAT(report.gpus, SizeIs(1));
    EXPECT_EQ(report.gpus[0].fp32_gflops, std::nullopt);
    for (int i = 0; i < 1000; ++i) {
        take_line("GPU-" + std::to_string(i) + " product x", report);
        take_line("problem x", report);
        take_line("GPU-1 skipped x", report);
    }
    EXPECT_THAT(report.gpus, SizeIs(64));
    EXPECT_THAT(report.problems, SizeIs(64));
    EXPECT_THAT(report.gpus[0].skipped, SizeIs(64));
}

TEST(CudaChild, WhatDoesNotEndIsNotWaitedForForever) {
    Child child;
    ASSERT_TRUE(child.start({"/bin/sh", "-c", "exec sleep 1000"}));
    EXPECT_EQ(child.end(), "it does not end");
}

}  // namespace
}  // namespace hostler::cuda
