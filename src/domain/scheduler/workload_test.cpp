#include "domain/scheduler/workload.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

Shape shape(std::int64_t cpus, int gpus = 1, int milli = gpu_whole) {
    return {.cpu_milli = cpus * 1000, .gpus = gpus, .gpu_milli = milli};
}

float share_of(const Workload& workload, const Shape& wanted) {
    for (const auto& [typical, share] : workload.sketch())
        if (typical == TypicalShape{wanted.cpu_milli, wanted.gpus, wanted.gpu_milli}) return share;
    return 0;
}

TEST(Workload, BeginsWithAPriorAndLearnsWhatArrives) {
    Workload workload;
    ASSERT_EQ(workload.sketch().size(), 1u);
    EXPECT_EQ(workload.generation(), 1u);
    for (int i = 0; i < 4096; ++i) workload.arrive(i % 4 ? shape(12) : shape(4, 1, 500));
    EXPECT_NEAR(share_of(workload, shape(12)), 0.75, 0.01);
    EXPECT_NEAR(share_of(workload, shape(4, 1, 500)), 0.25, 0.01);
}

TEST(Workload, AsksForNoNewSketchWhileTheSameArrives) {
    Workload workload;
    for (int i = 0; i < 2048; ++i) workload.arrive(shape(i % 3));
    const auto generation = workload.generation();
    EXPECT_LT(generation, 8u);
    for (int i = 0; i < 20 * 1024; ++i) workload.arrive(shape(i % 3));
    EXPECT_EQ(workload.generation(), generation);
}

TEST(Workload, ForgetsWhatNoLongerArrives) {
    Workload workload;
    for (int i = 0; i < 2 * Workload::remembered; ++i) workload.arrive(shape(2));
    for (int i = 0; i < 4 * Workload::remembered; ++i) workload.arrive(shape(20));
    EXPECT_EQ(share_of(workload, shape(2)), 0);
    EXPECT_EQ(share_of(workload, shape(20)), 1);
}

TEST(Workload, LeavesOutTheRareAndWhatHasNoGpu) {
    Workload workload;
    for (int i = 0; i < 2048; ++i) {
        workload.arrive(shape(1));
        workload.arrive({.cpu_milli = 64'000});
        if (i % 50 == 0) workload.arrive(shape(50));
    }
    ASSERT_EQ(workload.sketch().size(), 1u);
    EXPECT_EQ(share_of(workload, shape(1)), 1);
}

TEST(Workload, HoldsItsLimits) {
    Workload workload;
    for (int i = 0; i < 3 * Workload::shapes_max; ++i) {
        Shape made = shape(i);
        made.models = static_cast<std::uint64_t>(i) + 1;
        workload.arrive(made);
    }
    EXPECT_LE(workload.sketch().size(), std::size_t{Workload::typical_max});
    EXPECT_LE(workload.by_models().size(), std::size_t{Workload::model_sets_max});
    std::int64_t sum = 0;
    for (const auto& [models, milli] : workload.by_models()) sum += milli;
    EXPECT_EQ(sum, workload.gpu_milli());
}

}  // namespace
}  // namespace hostler
