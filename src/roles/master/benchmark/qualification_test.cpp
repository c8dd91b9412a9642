#include "roles/master/benchmark/qualification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types_host.h"
#include "roles/master/host/view.h"
#include "roles/master/placement/placement.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using ::testing::Contains;
using testing::DeskRig;
using ::testing::HasSubstr;

struct MeasureRig : DeskRig {
    // Joined by a token, with an agent that measures.
    std::string join(const std::string& name, int gpus = 1) {
        const std::string id = "h-" + name;
        Host row{.id = id, .zone = "nj", .joined_at = estate.micros()};
        row.admission.state = hostler::Admission::unmeasured;
        estate.hosts.add(std::move(row));
        connect(id);
        say(id, facts_with(name, gpus));
        return id;
    }
    static HostFacts facts_with(const std::string& name, int gpus) {
        HostFacts facts = facts_of(name, gpus);
        facts.measures = true;
        for (GpuFacts& gpu : facts.gpus) {
            gpu.vendor = GpuVendor::nvidia;
            gpu.product = "NVIDIA H100 80GB HBM3";
            gpu.pci_id = "10de:2330";
            gpu.memory_bytes = 85'520'809'984;
        }
        return facts;
    }
    void say(const std::string& id, HostFacts facts) {
        HostReport report{.sequence = ++sequences, .facts = std::move(facts), .workloads = said[id]};
        report.complete = true;
        note_report(desk, id, std::move(report), now);
        pass(1);
    }
    HostFigures figures(const std::string& id, int percent = 100) const {
        HostFigures made;
        for (const GpuFacts& gpu : row(id).facts.gpus) {
            GpuFigures& one = made.gpus.emplace_back(GpuFigures{.uuid = gpu.uuid, .product = gpu.product});
            one.memory_copy_mb_s = 30'039 * percent;
            one.fp32_gflops = 644 * percent;
            one.tensor_gflops = 6'662 * percent;
        }
        made.disk.write_mb_s = 2000;
        return made;
    }
    void watch() { watch_measuring(desk, true); }
    // As a second of the term: asked, and answered with such a share of what an H100 does.
    void measured(const std::string& id, int percent = 100) {
        watch();
        answer(id, {.done = true, .measured = figures(id, percent)});
    }
    const Host& row(const std::string& id) const { return estate.hosts.at(id); }
    hostler::Admission state(const std::string& id) const { return row(id).admission.state; }
    bool sells(const std::string& id) { return room(desk).hosts().at(id).free.unavailable.empty(); }
};

TEST(MeasureRules, AHostSellsOnceItWasMeasured) {
    MeasureRig rig;
    const auto a = rig.join("a");
    EXPECT_FALSE(rig.sells(a));
    EXPECT_EQ(closed_by(rig.desk, rig.row(a)), Obstacle::refused);
    EXPECT_EQ(view(rig.desk, rig.row(a)).state, api::HostState::unmeasured);
    rig.watch();
    rig.watch();
    ASSERT_TRUE(rig.command_of(a)) << "once";
    EXPECT_EQ(rig.command_of(a)->verb, Verb::measure_host);
    rig.answer(a, {.done = true, .measured = rig.figures(a)});
    EXPECT_TRUE(rig.sells(a));
    const auto shown = view(rig.desk, rig.row(a));
    EXPECT_EQ(shown.state, api::HostState::ready);
    EXPECT_EQ(shown.tier, "frontier");
    EXPECT_EQ(shown.disk_write_mb_s, 2000.0);
    EXPECT_EQ(view(rig.desk, rig.row(a), rig.row(a).facts.gpus[0]).verdict, "as_expected");
    rig.watch();
    EXPECT_FALSE(rig.command_of(a));
}

TEST(MeasureRules, WhoFailsSellsNothingUntilItIsMendedOrAnOperatorSaysSo) {
    MeasureRig rig;
    const auto a = rig.join("a");
    rig.measured(a, 50);
    EXPECT_FALSE(rig.sells(a));
    EXPECT_EQ(view(rig.desk, rig.row(a)).state, api::HostState::refused);
    EXPECT_THAT(view(rig.desk, rig.row(a)).message, HasSubstr("it is slow"));
    rig.watch();
    EXPECT_FALSE(rig.command_of(a)) << "nothing is measured for ever";
    admit_host(rig.desk, a);
    EXPECT_TRUE(rig.sells(a));
    ASSERT_TRUE(ask_measuring(rig.desk, a));
    EXPECT_FALSE(rig.sells(a)) << "the word is forgotten";
    rig.measured(a);
    EXPECT_TRUE(rig.sells(a));
}

TEST(MeasureRules, WhatRunsIsNotDisturbed) {
    MeasureRig rig;
    const auto a = rig.join("a", 2);
    rig.measured(a);
    ASSERT_TRUE(rig.stock(1));
    ASSERT_TRUE(ask_measuring(rig.desk, a));
    rig.watch();
    ASSERT_TRUE(rig.command_of(a)) << "stock runs nowhere";
    rig.answer(
        a, {.done = false, .code = "conflict", .reason = "in_use", .message = "an instance needs the GPUs"});
    rig.watch();
    EXPECT_FALSE(rig.command_of(a)) << "it is given a moment";
    (void)rig.running("job");
    rig.pass(100);
    rig.watch();
    EXPECT_FALSE(rig.command_of(a));
    EXPECT_TRUE(rig.sells(a));
}

TEST(MeasureRules, OfTwoThatHaveOneGpuTheLaterIsRefused) {
    MeasureRig rig;
    const auto a = rig.join("a"), b = rig.join("b");
    rig.measured(a);
    HostFacts facts = MeasureRig::facts_with("b", 1);
    facts.gpus[0] = rig.row(a).facts.gpus[0];
    rig.say(b, facts);
    EXPECT_EQ(rig.state(b), hostler::Admission::refused);
    EXPECT_THAT(rig.row(b).admission.reasons, Contains(HasSubstr("Host h-a, which joined before")));
    EXPECT_TRUE(rig.sells(a));
    // Another term knows nothing of them but what is stored.
    rig.live.hosts[a].judged = rig.live.hosts[b].judged = false;
    rig.live.gpu_marks.clear(), rig.live.gpu_marks_known = false;
    rig.live.hosts[a].gpu_marks.clear(), rig.live.hosts[b].gpu_marks.clear();
    judge_host(rig.desk, b);
    EXPECT_EQ(rig.state(b), hostler::Admission::refused);
    // A serial number will do.
    facts.gpus[0].uuid = "GPU-other", facts.gpus[0].serial = "1652822001234";
    rig.say(b, facts);
    EXPECT_EQ(rig.state(b), hostler::Admission::unmeasured);
    HostFacts first = rig.row(a).facts;
    first.gpus[0].serial = "1652822001234";
    rig.say(a, first);
    rig.watch();
    EXPECT_EQ(rig.state(b), hostler::Admission::refused);
    ASSERT_TRUE(remove_host(rig.desk, a, true));
    rig.watch();
    EXPECT_EQ(rig.state(b), hostler::Admission::unmeasured) << "the other is gone";
}

TEST(MeasureRules, TrustChangesWhatIsWrongWithAHostThatCannotBeMeasured) {
    MeasureRig rig;
    const auto a = rig.host("a", "nj", 1);
    EXPECT_TRUE(rig.sells(a)) << "its agent measures nothing, and the operator owns it";
    ASSERT_TRUE(ask_measuring(rig.desk, a).error().reason == "cannot_measure");
    api::UpdateHost community{.host = a, .trust = api::Trust::community};
    ASSERT_TRUE(update_host(rig.desk, a, community));
    rig.watch();
    EXPECT_FALSE(rig.sells(a));
}

// ── Challenges

struct ProofRig : MeasureRig {
    ProofRig() {
        settings.challenge = {.rounds = 4, .steps = 8, .walkers = 4};
        a = join("a");
        measured(a);
        pass(601);
        watch();
    }
    std::string command() const { return command_of(a) ? command_of(a)->id : ""; }
    GpuProof proof(std::uint32_t path_seed, std::uint32_t wrong = 0) const {
        GpuProof made{.uuid = "GPU-a-0", .words = 19'000'000'000};
        GpuChallenge own = challenge_of(desk, command());
        own.path_seed = path_seed;
        own = own_challenge(own, made.uuid);
        own.words = made.words;
        for (std::uint32_t walker = 0; walker < 4; ++walker)
            made.answers.push_back(challenge_answer(own, walker) + wrong);
        return made;
    }
    // All of it, the answers so long after the word.
    void prove(std::chrono::milliseconds took, std::uint32_t wrong = 0) {
        const auto path = path_for(desk, a, command(), now);
        ASSERT_TRUE(path);
        EXPECT_FALSE(path_for(desk, a, command(), now)) << "it is told once";
        const auto check = note_walked(desk, a, command(), {proof(*path, wrong)}, now + took);
        ASSERT_TRUE(check);
        note_checked(desk, a, check->took,
                     doubts(check->gpus, check->challenge, check->proofs, check->asked));
        answer(a, {.done = true});
    }
    std::string a;
};

TEST(Proofs, WhoHasItsMemoryIsAskedAgainAtARandomTime) {
    ProofRig rig;
    ASSERT_TRUE(rig.command_of(rig.a));
    EXPECT_EQ(rig.command_of(rig.a)->verb, Verb::prove_gpus);
    rig.prove(std::chrono::milliseconds{150});
    const HostAdmission& known = rig.row(rig.a).admission;
    EXPECT_EQ(known.proved_at, rig.estate.micros());
    EXPECT_TRUE(rig.sells(rig.a));
    const auto wait = (known.prove_next - rig.estate.micros()) / 3'600'000'000;
    EXPECT_GE(wait, 12);
    EXPECT_LT(wait, 36);
    rig.watch();
    EXPECT_FALSE(rig.command_of(rig.a));
}

TEST(Proofs, AWrongAnswerEndsItAndLateOnesDoAfterSome) {
    ProofRig wrong;
    wrong.prove(std::chrono::milliseconds{150}, 1);
    EXPECT_FALSE(wrong.sells(wrong.a));
    EXPECT_THAT(wrong.row(wrong.a).admission.reasons, Contains(HasSubstr("answer to a challenge is wrong")));
    ProofRig late;
    for (int times = 1; times <= 3; ++times) {
        late.prove(std::chrono::milliseconds{1500});
        EXPECT_EQ(late.sells(late.a), times < 3) << times;
        late.pass(1201);
        late.watch();
    }
    EXPECT_THAT(late.row(late.a).admission.reasons, Contains(HasSubstr("took 1500 ms")));
    late.prove(std::chrono::milliseconds{100});
    EXPECT_TRUE(late.sells(late.a)) << "a good answer makes up for them";
}

TEST(Proofs, WhoKeepsSilentIsRefusedInTheEnd) {
    ProofRig rig;
    for (int times = 1; times <= 3; ++times) {
        ASSERT_TRUE(path_for(rig.desk, rig.a, rig.command(), rig.now));
        rig.answer(rig.a, {.done = false, .code = "unavailable", .message = "the challenge did not end"});
        EXPECT_EQ(rig.sells(rig.a), times < 3) << times;
        rig.pass(1201);
        rig.watch();
    }
}

}  // namespace
}  // namespace hostler::master
