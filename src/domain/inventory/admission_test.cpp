#include "domain/inventory/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GpuFacts h100(const std::string& uuid = "GPU-1") {
    GpuFacts gpu{.uuid = uuid,
                 .vendor = GpuVendor::nvidia,
                 .model = "H100 SXM5 80GB",
                 .product = "NVIDIA H100 80GB HBM3",
                 .pci_id = "10de:2330",
                 .memory_bytes = 85'520'809'984};
    gpu.cdi_name = "nvidia.com/gpu=" + uuid;
    return gpu;
}
// As one was measured, and a share of that.
GpuFigures figures(const std::string& uuid = "GPU-1", int percent = 100) {
    GpuFigures made{.uuid = uuid, .product = "NVIDIA H100 80GB HBM3"};
    made.memory_copy_mb_s = 30'039 * percent;
    made.fp32_gflops = 644 * percent;
    made.tensor_gflops = 6'662 * percent;
    return made;
}

struct Rig {
    HostFacts facts{.measures = true, .gpus = {h100()}};
    HostAdmission known{.state = Admission::unmeasured};
    AdmissionRule rule = AdmissionRule::standard;
    bool trusted = true;
    std::string twin;

    void measure(HostFigures what) {
        known.gpus = rate_host(facts, what);
        known.measured_at = 1;
    }
    Admitted judged() const { return judge_admission(facts, known, rule, trusted, twin); }
    Admission state() const { return judged().state; }
    std::string first_reason() const {
        const auto reasons = judged().reasons;
        return reasons.empty() ? "" : reasons.front();
    }
};

TEST(Admission, WhoIsWhatItSaysSellsAndNotBeforeThat) {
    Rig rig;
    EXPECT_EQ(rig.state(), Admission::unmeasured);
    EXPECT_EQ(rig.first_reason(), "It was not measured so far.");
    rig.known.failure = "the driver hangs";
    EXPECT_EQ(rig.first_reason(), "It could not be measured: the driver hangs");
    rig.measure({.gpus = {figures()}});
    EXPECT_EQ(rig.state(), Admission::admitted);
    EXPECT_THAT(rig.judged().reasons, IsEmpty());
    EXPECT_EQ(tier_of(rig.facts, rig.known), GpuTier::frontier);
}

TEST(Admission, WhatIsSlowOrBrokenSellsNothingWhoeverItsOwner) {
    Rig rig;
    rig.measure({.gpus = {figures("GPU-1", 60)}});
    EXPECT_EQ(rig.state(), Admission::refused);
    EXPECT_THAT(rig.first_reason(), HasSubstr("GPU GPU-1 (H100 SXM5 80GB): it is slow: "));
    EXPECT_EQ(tier_of(rig.facts, rig.known), GpuTier::unrated) << "its word for what it is does not count";
    GpuFigures broken = figures();
    broken.faults = {"3 words of its memory were wrong"};
    rig.measure({.gpus = {broken}});
    EXPECT_THAT(rig.first_reason(), HasSubstr("it is faulty: 3 words of its memory were wrong"));
    rig.rule = AdmissionRule::off;
    EXPECT_EQ(rig.state(), Admission::admitted);
}

TEST(Admission, WhatItSaysOfItselfMustFit) {
    Rig rig;
    rig.measure({.gpus = {figures()}});
    rig.facts.gpus[0].pci_id = "10de:1eb8";  // A T4.
    EXPECT_EQ(rig.state(), Admission::refused);
    EXPECT_THAT(rig.first_reason(), HasSubstr("10de:1eb8 is a T4 16GB, and it says that it is a H100"));
    rig.facts.gpus[0] = h100();
    rig.facts.gpus[0].memory_bytes /= 2;
    EXPECT_THAT(rig.first_reason(), HasSubstr("memory: it has"));
    rig.facts.gpus[0] = h100();
    rig.twin = "Host h-a, which joined before, says too that it has GPU GPU-1.";
    EXPECT_EQ(rig.first_reason(), rig.twin);
    EXPECT_EQ(rig.state(), Admission::refused);
    rig.twin.clear();
    rig.known.unproven = {"its answer to a challenge is wrong"};
    EXPECT_EQ(rig.state(), Admission::refused);
}

TEST(Admission, WhereNothingCanBeMeasuredTrustDecides) {
    Rig rig;
    const auto expect = [&](Admission trusted, Admission community, std::string_view why) {
        rig.trusted = true;
        EXPECT_EQ(rig.state(), trusted) << why;
        EXPECT_THAT(rig.judged().reasons, Contains(HasSubstr(std::string{why})));
        rig.trusted = false;
        EXPECT_EQ(rig.state(), community) << why;
    };
    rig.facts.measures = false;
    expect(Admission::admitted, Admission::refused, "measures nothing: upgrade");
    rig.facts.measures = true;
    rig.facts.unmeasurable = "Its GPUs are simulated.";
    expect(Admission::admitted, Admission::refused, "simulated");
    rig.facts.unmeasurable.clear();
    rig.measure({.problems = {"libcuda.so.1 is not there"}});
    expect(Admission::admitted, Admission::refused, "libcuda.so.1 is not there");
    rig.rule = AdmissionRule::required;
    expect(Admission::refused, Admission::refused, "libcuda.so.1 is not there");
    rig.facts.gpus.clear();
    EXPECT_EQ(rig.state(), Admission::admitted) << "there is nothing to be measured";
}

TEST(Admission, AnOperatorsWordHoldsForTheGpusOfWhichItWasSaid) {
    Rig rig;
    rig.measure({.gpus = {figures("GPU-1", 30)}});
    rig.known.let_in = {"GPU-1"};
    EXPECT_EQ(rig.state(), Admission::admitted);
    EXPECT_THAT(rig.judged().reasons, ElementsAre("An operator has let it in.", HasSubstr("it is slow")));
    rig.facts.gpus.push_back(h100("GPU-2"));
    EXPECT_EQ(rig.state(), Admission::refused);
}

TEST(Admission, WhoSoldBeforeItCouldBeMeasuredGoesOnAndANewGpuIsMeasuredFirst) {
    Rig rig;
    rig.known.state = Admission::admitted;
    EXPECT_EQ(rig.state(), Admission::admitted);
    EXPECT_TRUE(measuring_due(rig.facts, rig.known));
    rig.measure({.gpus = {figures()}});
    EXPECT_FALSE(measuring_due(rig.facts, rig.known));
    rig.facts.gpus.push_back(h100("GPU-2"));
    EXPECT_EQ(rig.state(), Admission::unmeasured);
    EXPECT_TRUE(measuring_due(rig.facts, rig.known));
    rig.facts.gpus.pop_back();
    rig.facts.driver_version = "580.1";
    EXPECT_EQ(rig.state(), Admission::admitted);
    EXPECT_TRUE(measuring_due(rig.facts, rig.known)) << "another driver may be slower";
}

TEST(Admission, AnswersToAChallengeAreWalkedAgain) {
    const GpuChallenge challenge{.seed = 7, .rounds = 8, .path_seed = 9, .steps = 20, .walkers = 8};
    const std::vector<GpuFacts> gpus{h100()};
    GpuProof proof{.uuid = "GPU-1", .words = 19'000'000'000};
    GpuChallenge own = own_challenge(challenge, "GPU-1");
    own.words = proof.words;
    for (std::uint32_t walker = 0; walker < 8; ++walker)
        proof.answers.push_back(challenge_answer(own, walker));
    const std::uint32_t asked[] = {3, 5};
    EXPECT_THAT(doubts(gpus, challenge, {proof}, asked), IsEmpty());
    EXPECT_THAT(doubts(gpus, challenge, {}, asked), ElementsAre(HasSubstr("gave no answer")));
    GpuProof wrong = proof;
    wrong.answers[5] ^= 1;
    EXPECT_THAT(doubts(gpus, challenge, {wrong}, asked), ElementsAre(HasSubstr("is wrong")));
    GpuProof small = proof;
    small.words = own.words = 4'000'000'000;
    for (std::uint32_t walker = 0; walker < 8; ++walker)
        small.answers[walker] = challenge_answer(own, walker);
    EXPECT_THAT(doubts(gpus, challenge, {small}, asked), ElementsAre(HasSubstr("14.9 GiB of the 79.6")));
}

}  // namespace
}  // namespace hostler
