#include "adapters/cuda/challenge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/testing/real_timers.h"

namespace hostler::cuda {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CudaChallenge : public ::testing::Test {
protected:
    ~CudaChallenge() override { ::unsetenv("HOSTLER_SIMULATED_CUDA"); }

    ChallengeReport run(const std::string& faults) {
        ::setenv("HOSTLER_SIMULATED_CUDA", faults.c_str(), 1);
        auto report = testing::run_real(loop, run_challenge(timers, settings));
        EXPECT_TRUE(report) << report.error().message;
        return report.value_or(ChallengeReport{});
    }
    bool right(const GpuProof& proof) const {
        GpuChallenge own = own_challenge(settings.challenge, proof.uuid);
        own.words = proof.words;
        const std::uint32_t asked[] = {0, 5, 299};
        return answers_challenge(own, proof.answers, asked);
    }

    Loop loop{1};
    testing::RealTimers timers{loop};
    ChallengeSettings settings{
        .program = {CUDA_MEASURE, "prove"},
        .library = SIMULATED_CUDA,
        .challenge = {
            .words = 1 << 18, .seed = 11, .rounds = 8, .path_seed = 12, .steps = 20, .walkers = 300}};
};

TEST_F(CudaChallenge, AllGpusAnswerEachForItself) {
    const auto report = run("");
    EXPECT_TRUE(report.complete);
    EXPECT_THAT(report.problems, IsEmpty());
    ASSERT_THAT(report.gpus, SizeIs(2));
    for (const GpuProof& proof : report.gpus) {
        EXPECT_EQ(proof.words, 1u << 18);
        EXPECT_GE(proof.fill_us, 0);
        EXPECT_GE(proof.walk_us, 0);
        EXPECT_THAT(proof.answers, SizeIs(300));
        EXPECT_TRUE(right(proof));
    }
    EXPECT_NE(report.gpus[0].answers, report.gpus[1].answers) << "one cannot answer for the other";
}

TEST_F(CudaChallenge, WhoHasNotTheMemoryIsFound) {
    const auto cheat = run("cheat");
    ASSERT_THAT(cheat.gpus, SizeIs(2));
    EXPECT_FALSE(right(cheat.gpus[0]));
    settings.challenge.words = 1 << 23;  // 32 MiB, of 5 that it has.
    const auto small = run("");
    EXPECT_TRUE(small.complete);
    ASSERT_THAT(small.gpus, SizeIs(2));
    EXPECT_THAT(small.gpus[0].problems, ElementsAre(HasSubstr("no 32 MiB of its memory")));
    EXPECT_FALSE(right(small.gpus[0]));
}

TEST_F(CudaChallenge, WithoutAGpuItSaysWhy) {
    EXPECT_THAT(run("none").problems, Contains("CUDA finds no GPU"));
}

TEST(CudaProofLines, WhatCannotBeReadIsLeftOut) {
    ChallengeReport report;
    for (const char* line : {"", "GPU-1", "GPU-1 answers 0123456", "GPU-1 answers 0123456g", "GPU-1 words -4",
                             "GPU-1 fill_us x"})
        take_line(line, report);
    EXPECT_THAT(report.gpus, ElementsAre(GpuProof{.uuid = "GPU-1"}));
    take_line("GPU-1 answers 0000000a000000ff", report);
    EXPECT_THAT(report.gpus[0].answers, ElementsAre(10, 255));
}

}  // namespace
}  // namespace hostler::cuda
