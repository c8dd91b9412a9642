#include "adapters/cuda/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/real_timers.h"

namespace hostler::cuda {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class CudaBenchTest : public ::testing::Test {
protected:
    Loop loop{1};
    testing::RealTimers timers{loop};
    CudaBench bench{timers,
                    {.measure = {CUDA_MEASURE, "measure"},
                     .prove = {CUDA_MEASURE, "prove"},
                     .library = SIMULATED_CUDA,
                     .each = std::chrono::milliseconds{200}}};
};

TEST_F(CudaBenchTest, SaysWhatCannotBeMeasured) {
    const CudaBench real{timers, {}};
    HostFacts facts;
    EXPECT_EQ(real.unable(facts), "It has no GPUs.");
    facts.gpus.push_back({.vendor = GpuVendor::amd});
    EXPECT_EQ(real.unable(facts), "Only NVIDIA GPUs are measured.");
    facts.gpus.push_back({.vendor = GpuVendor::nvidia});
    EXPECT_EQ(real.unable(facts), "");
    facts.simulated = true;
    EXPECT_EQ(real.unable(facts), "Its GPUs are simulated.");
    EXPECT_EQ(bench.unable(facts), "") << "a library was named for them";
}

TEST_F(CudaBenchTest, AsksWhereThePathsBeginOnceAllIsFilled) {
    const GpuChallenge challenge{.words = 1 << 18, .seed = 11, .rounds = 8, .steps = 20, .walkers = 300};
    int asked = 0;
    const auto proofs = testing::run_real(loop, bench.prove(challenge, [&]() -> Task<std::uint32_t> {
        ++asked;
        co_return std::uint32_t{12};
    }));
    ASSERT_TRUE(proofs);
    EXPECT_EQ(asked, 1);
    EXPECT_TRUE(proofs->complete);
    EXPECT_THAT(proofs->problems, IsEmpty());
    ASSERT_THAT(proofs->gpus, SizeIs(2));
    for (const GpuProof& proof : proofs->gpus) {
        GpuChallenge own = challenge;
        own.path_seed = 12;
        own = own_challenge(own, proof.uuid);
        own.words = proof.words;
        const std::uint32_t walkers[] = {0, 299};
        EXPECT_TRUE(answers_challenge(own, proof.answers, walkers));
    }
}

TEST_F(CudaBenchTest, EndsWhereNobodySaysWhereThePathsBegin) {
    const auto proofs = testing::run_real(
        loop, bench.prove({.words = 1 << 18, .rounds = 8, .steps = 20, .walkers = 30},
                          []() -> Task<std::uint32_t> { co_return fail(Code::timeout, "nobody says"); }));
    ASSERT_FALSE(proofs);
    EXPECT_EQ(proofs.error().code, Code::timeout);
}

}  // namespace
}  // namespace hostler::cuda
