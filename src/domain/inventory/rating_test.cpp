#include "domain/inventory/rating.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/inventory/model.h"
#include "domain/inventory/speeds.h"

namespace hostler {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// As an H100 SXM5 of the catalogue says of itself, and as one measured in November 2026 (driver 580.159.04).
GpuFacts h100() {
    return {.uuid = "GPU-1",
            .vendor = GpuVendor::nvidia,
            .model = "H100 SXM5 80GB",
            .product = "NVIDIA H100 80GB HBM3",
            .pci_id = "10de:2330",
            .memory_bytes = 85'520'809'984,
            .core_count = 16896,
            .compute_capability = "9.0",
            .pcie_generation_max = 5,
            .pcie_width_max = 16};
}
GpuFigures h100_figures() {
    GpuFigures figures{.uuid = "GPU-1", .product = "NVIDIA H100 80GB HBM3"};
    figures.memory_checked_bytes = 76'000'788'480;
    figures.memory_copy_mb_s = 3'003'857;
    figures.fp32_gflops = 64'364;
    figures.tensor_gflops = 666'206;
    figures.host_to_gpu_mb_s = 55'036;
    figures.gpu_to_host_mb_s = 55'019;
    return figures;
}

TEST(Rating, WhatWasMeasuredOnAnH100IsAnH100) {
    const GpuRating rating = rate_gpu(h100(), h100_figures());
    EXPECT_EQ(rating.verdict, GpuVerdict::as_expected);
    EXPECT_EQ(rating.gpu_class, "H100 SXM5 80GB");
    EXPECT_EQ(rating.tier, GpuTier::frontier);
    EXPECT_THAT(rating.evidence, SizeIs(5));
    EXPECT_THAT(rating.evidence,
                Contains("memory: 3004 GB/s is 90 % of the data sheet's 3350 (expected 75 to 105 %)"));
}

TEST(Rating, AThrottledGpuIsSlowAndWhatIsSlowComesFirst) {
    auto figures = h100_figures();
    figures.fp32_gflops = 40'000;
    const GpuRating rating = rate_gpu(h100(), figures);
    EXPECT_EQ(rating.verdict, GpuVerdict::slow);
    EXPECT_EQ(rating.gpu_class, "H100 SXM5 80GB");
    EXPECT_THAT(rating.evidence.front(), HasSubstr("fp32: 40 TFLOPS is 60 %"));
    // However slow: figures that are no other model's do not make it one.
    figures.fp32_gflops = 4'000;
    EXPECT_EQ(rate_gpu(h100(), figures).verdict, GpuVerdict::slow);
}

TEST(Rating, ASlowLinkIsSlow) {
    auto figures = h100_figures();
    figures.host_to_gpu_mb_s = 26'000;  // As a gen4 link carries.
    const GpuRating rating = rate_gpu(h100(), figures);
    EXPECT_EQ(rating.verdict, GpuVerdict::slow);
    EXPECT_THAT(rating.evidence.front(), HasSubstr("host to GPU: 26 GB/s is 41 % of PCIe gen5 x16"));
    auto facts = h100();
    facts.pcie_generation_max = 4;
    figures.gpu_to_host_mb_s = 26'000;
    EXPECT_EQ(rate_gpu(facts, figures).verdict, GpuVerdict::as_expected);
    facts.pcie_generation_max = 0;  // Not told: not judged.
    EXPECT_EQ(rate_gpu(facts, figures).verdict, GpuVerdict::as_expected);
}

TEST(Rating, AnA100ThatSaysItIsAnH100IsFound) {
    auto figures = h100_figures();
    figures.memory_copy_mb_s = 1'750'000;
    figures.fp32_gflops = 18'900;
    figures.tensor_gflops = 290'000;
    figures.host_to_gpu_mb_s = figures.gpu_to_host_mb_s = 25'000;
    const GpuRating rating = rate_gpu(h100(), figures);
    EXPECT_EQ(rating.verdict, GpuVerdict::wrong_model);
    EXPECT_THAT(rating.gpu_class, HasSubstr("A100"));
    EXPECT_EQ(rating.tier, GpuTier::training);
    EXPECT_THAT(rating.evidence.back(), HasSubstr("its figures are those of a A"));
}

TEST(Rating, MoreThanADataSheetAllowsIsAnotherModelOrAWrongClock) {
    auto figures = h100_figures();
    figures.memory_copy_mb_s = 4'400'000;
    EXPECT_EQ(rate_gpu(h100(), figures).verdict, GpuVerdict::wrong_model);
}

TEST(Rating, WhatItSaysOfItselfMustFitItsModel) {
    auto facts = h100();
    facts.core_count = 14592;
    EXPECT_EQ(rate_gpu(facts, h100_figures()).verdict, GpuVerdict::wrong_model);
    facts = h100();
    facts.memory_bytes /= 2;
    EXPECT_THAT(rate_gpu(facts, h100_figures()).evidence.front(),
                HasSubstr("memory: it has 39.8 GiB, a H100"));
    facts = h100();
    facts.compute_capability = "8.0";
    EXPECT_EQ(rate_gpu(facts, h100_figures()).verdict, GpuVerdict::wrong_model);
}

TEST(Rating, AFaultIsWorseThanAllElse) {
    auto figures = h100_figures();
    figures.faults = {"fp32: 1 of 2048 words were wrong"};
    figures.memory_copy_mb_s = 100;
    const GpuRating rating = rate_gpu(h100(), figures);
    EXPECT_EQ(rating.verdict, GpuVerdict::faulty);
    EXPECT_EQ(rating.evidence.front(), figures.faults.front());
}

TEST(Rating, WhatIsNotKnownIsNotJudged) {
    const GpuFigures nothing{.uuid = "GPU-1"};
    EXPECT_EQ(rate_gpu(h100(), nothing).verdict, GpuVerdict::unrated);
    EXPECT_EQ(rate_gpu(h100(), nothing).tier, GpuTier::unrated);
    GpuFacts foo{.uuid = "GPU-1",
                 .vendor = GpuVendor::nvidia,
                 .model = "Foo 9 24GB",
                 .product = "NVIDIA Foo 9",
                 .memory_bytes = std::int64_t{24} << 30};
    auto figures = h100_figures();
    figures.tensor_gflops.reset();
    const GpuRating rating = rate_gpu(foo, figures);
    EXPECT_EQ(rating.verdict, GpuVerdict::unrated);
    EXPECT_THAT(rating.evidence, ElementsAre("no data sheet of \"Foo 9 24GB\" is known here"));
    EXPECT_EQ(rating.tier, GpuTier::inference) << "by its memory; what it does is measured";
}

TEST(Rating, WhatACrashLeftUnmeasuredIsNotAsExpected) {
    for (const auto missing : {&GpuFigures::memory_copy_mb_s, &GpuFigures::fp32_gflops}) {
        auto figures = h100_figures();
        (figures.*missing).reset();
        const GpuRating rating = rate_gpu(h100(), figures);
        EXPECT_EQ(rating.verdict, GpuVerdict::unrated);
        EXPECT_EQ(rating.evidence.front(), "its memory or its fp32 was not measured");
    }
}

TEST(Rating, EveryDataSheetIsOfAModelAndRatesItselfAsExpected) {
    for (const GpuSpeeds& sheet : gpu_speeds()) {
        const auto* model = find_gpu_model(sheet.model);
        ASSERT_TRUE(model) << sheet.model;
        ASSERT_EQ(model->name, sheet.model);
        const GpuFacts facts{.uuid = "GPU-1",
                             .vendor = model->vendor,
                             .model = std::string{model->name},
                             .product = std::string{model->product},
                             .memory_bytes = std::int64_t{model->memory_gib} << 30,
                             .core_count = model->cores,
                             .compute_capability = std::string{model->capability}};
        GpuFigures figures{.uuid = "GPU-1"};
        figures.memory_copy_mb_s = sheet.memory_gb_s * 900;
        figures.fp32_gflops =
            sheet.fp32_tflops > 0 ? static_cast<std::int64_t>(sheet.fp32_tflops * 900) : 1000;
        EXPECT_EQ(rate_gpu(facts, figures).verdict, GpuVerdict::as_expected) << sheet.model;
        EXPECT_EQ(rate_gpu(facts, figures).gpu_class, sheet.model);
    }
}

}  // namespace
}  // namespace hostler
