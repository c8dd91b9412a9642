#include "domain/health/retest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::health {
namespace {

using ::testing::HasSubstr;
using Outcome = Retest::Outcome;

struct Bench {
    GpuFacts gpu{.uuid = "GPU-1",
                 .vendor = GpuVendor::nvidia,
                 .model = "H100 SXM5 80GB",
                 .product = "NVIDIA H100 80GB HBM3",
                 .pci_id = "10de:2330",
                 .memory_bytes = 85'520'809'984};
    std::vector<GpuFigures> gpus = {figures(100)};
    std::vector<std::string> problems;
    bool complete = true, absent = false;

    static GpuFigures figures(int percent) {
        GpuFigures made{.uuid = "GPU-1"};
        made.memory_checked_bytes = 76'000'000'000;
        made.memory_copy_mb_s = 30'039 * percent;
        made.fp32_gflops = 644 * percent;
        made.tensor_gflops = 6'662 * percent;
        return made;
    }
    Retest judged() const { return judge_retest(gpu, {gpus, problems, complete, absent}); }
};

TEST(Retest, OneThatComputesRightAndFastPasses) {
    const Bench bench;
    const Retest retest = bench.judged();
    EXPECT_EQ(retest.outcome, Outcome::passed) << retest.sentence;
    EXPECT_THAT(retest.sentence, HasSubstr("as_expected"));
    EXPECT_THAT(retest.sentence, HasSubstr("matrix units 666 TFLOPS"));
}

TEST(Retest, OneThatComputesWronglyFails) {
    Bench bench;
    bench.gpus.front().faults = {"fp32: 1 of 1024 words were wrong"};
    const Retest retest = bench.judged();
    EXPECT_EQ(retest.outcome, Outcome::failed);
    EXPECT_EQ(retest.remedy, Remedy::replace);
    EXPECT_THAT(retest.sentence, HasSubstr("1 of 1024 words"));
}

TEST(Retest, OneThatIsSlowFails) {
    Bench bench;
    bench.gpus = {Bench::figures(30)};
    EXPECT_EQ(bench.judged().outcome, Outcome::failed);
    EXPECT_EQ(bench.judged().remedy, Remedy::service);
}

TEST(Retest, OneThatIsNotSeenOrDoesNotEndFails) {
    Bench bench;
    bench.complete = false;
    bench.problems = {"the process that measures hangs"};
    EXPECT_EQ(bench.judged().outcome, Outcome::failed);
    EXPECT_THAT(bench.judged().sentence, HasSubstr("hangs"));
    bench = {};
    bench.gpus.clear();
    EXPECT_EQ(bench.judged().outcome, Outcome::failed);
    EXPECT_THAT(bench.judged().sentence, HasSubstr("does not see it"));
}

TEST(Retest, WithoutCudaItIsSkippedAndSaysSo) {
    Bench bench;
    bench.gpus.clear();
    bench.problems = {"there is no libcuda.so.1 on this machine"};
    bench.absent = true;
    EXPECT_EQ(bench.judged().outcome, Outcome::skipped);
    EXPECT_THAT(bench.judged().sentence, HasSubstr("skipped: there is no libcuda.so.1"));
}

TEST(Retest, AModelWithoutADataSheetPassesByItsResultsAlone) {
    Bench bench;
    bench.gpu.model = bench.gpu.product = "Prototype";
    bench.gpu.pci_id.clear();
    const Retest retest = bench.judged();
    EXPECT_EQ(retest.outcome, Outcome::passed);
    EXPECT_THAT(retest.sentence, HasSubstr("unrated"));
}

}  // namespace
}  // namespace hostler::health
