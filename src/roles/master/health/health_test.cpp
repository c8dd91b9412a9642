#include "roles/master/health/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types_host.h"
#include "roles/master/host/view.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GpuState broken(Remedy remedy = Remedy::drain_and_reset, GpuHealth health = GpuHealth::faulty) {
    GpuState state{.health = health, .reason = "XID 48: an uncorrectable memory error", .remedy = remedy};
    state.since = 1'000'000;
    state.evidence.push_back({.kind = "xid", .code = 48, .count = 2, .health = health, .remedy = remedy});
    state.evidence.back().sentence = state.reason;
    return state;
}

struct HealthRig : DeskRig {
    void say(const std::string& id, std::map<std::string, GpuState> states,
             std::vector<GpuFault> faults = {}) {
        HostReport report{.sequence = ++sequences, .facts = estate.hosts.at(id).facts};
        report.gpu_states = std::move(states);
        report.faults = std::move(faults);
        note_report(desk, id, std::move(report), now);
    }
    std::vector<std::string> events_of(const std::string& kind) {
        std::vector<std::string> found;
        for (const auto& event : take().events)
            if (event.kind == kind) found.push_back(event.reason + ": " + event.message);
        return found;
    }
    std::string gpu_of(const std::string& instance_id) {
        return estate.claims.at(instance(instance_id).claim).gpus.front();
    }
};

TEST(HealthRules, WhatIsUnfitTakesNothingNewAtOnce) {
    HealthRig rig;
    const auto a = rig.host("a", "nj", 2);
    rig.say(a, {{"GPU-a-0", broken()}});
    ASSERT_TRUE(rig.stock(1));
    EXPECT_EQ(rig.estate.claims.all().begin()->second.gpus, (std::vector<std::string>{"GPU-a-1"}));
    EXPECT_FALSE(rig.stock(1));
    rig.say(a, {{"GPU-a-0", broken(Remedy::drain_and_reset, GpuHealth::degraded)}});
    EXPECT_TRUE(rig.stock(1)) << "what is only degraded works";
}

TEST(HealthRules, AnIdleSlotLeavesABrokenGpu) {
    HealthRig rig;
    const auto a = rig.host("a", "nj", 2);
    ASSERT_TRUE(rig.stock(1));
    const std::string held = rig.estate.claims.all().begin()->second.gpus.front();
    rig.say(a, {{held, broken()}});
    ASSERT_EQ(rig.estate.claims.all().size(), 1u);
    EXPECT_NE(rig.estate.claims.all().begin()->second.gpus.front(), held);
    const std::string id = rig.started("one");
    EXPECT_NE(rig.gpu_of(id), held);
}

TEST(HealthRules, WhoHoldsItIsToldAndLeftAlone) {
    HealthRig rig;
    const auto a = rig.host("a", "nj", 2);
    ASSERT_TRUE(rig.stock(1));
    const std::string id = rig.running("one");
    const std::string gpu = rig.gpu_of(id);
    (void)rig.take();
    rig.say(a, {{gpu, broken()}});
    const auto told = rig.events_of("instance");
    ASSERT_EQ(told.size(), 1u);
    EXPECT_THAT(told[0], HasSubstr("gpu_faulty: GPU " + gpu + " is faulty: XID 48"));
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running);
    auto counted = broken();
    counted.evidence[0].count = 3;
    rig.say(a, {{gpu, counted}});
    EXPECT_THAT(rig.events_of("instance"), IsEmpty()) << "a count is no news";
    rig.say(a, {});
    EXPECT_THAT(rig.events_of("instance"), ElementsAre(HasSubstr("gpu_back")));
}

TEST(HealthRules, AnApplicationHearsOfItsOwnFault) {
    HealthRig rig;
    const auto a = rig.host("a", "nj", 2);
    ASSERT_TRUE(rig.stock(1));
    const std::string id = rig.running("one");
    const std::string gpu = rig.gpu_of(id), other = gpu == "GPU-a-0" ? "GPU-a-1" : "GPU-a-0";
    (void)rig.take();
    const GpuFault fault{.uuid = gpu, .kind = "xid", .code = 31};
    rig.say(
        a, {},
        {fault, fault, {.uuid = other, .kind = "xid", .code = 31}, {.uuid = gpu, .kind = "xid", .code = 92}});
    EXPECT_THAT(rig.events_of("instance"), ElementsAre(HasSubstr("gpu_xid: XID 31: ")));
    rig.pass(9 * 60);
    rig.say(a, {}, {fault});
    EXPECT_THAT(rig.events_of("instance"), IsEmpty()) << "it knows";
    rig.pass(60);
    rig.say(a, {}, {fault, {.uuid = gpu, .kind = "xid", .code = 13}});
    EXPECT_THAT(rig.events_of("instance"), ElementsAre(HasSubstr("XID 31: "), HasSubstr("XID 13: ")));
}

TEST(HealthRules, ARebootIsForTheWholeHost) {
    HealthRig rig;
    const auto a = rig.host("a", "nj", 2);
    EXPECT_EQ(view(rig.desk, rig.estate.hosts.at(a)).state, api::HostState::ready);
    rig.say(a, {{"GPU-a-0", broken(Remedy::reboot)}});
    EXPECT_EQ(view(rig.desk, rig.estate.hosts.at(a)).state, api::HostState::faulty);
    EXPECT_THAT(view(rig.desk, rig.estate.hosts.at(a)).message, HasSubstr("GPU-a-0"));
    EXPECT_FALSE(rig.stock(1));
    auto tested = broken(Remedy::none);
    tested.testing_until = 5;
    rig.say(a, {{"GPU-a-0", tested}});
    EXPECT_EQ(view(rig.desk, rig.estate.hosts.at(a)).state, api::HostState::ready) << "it was rebooted";
    EXPECT_TRUE(rig.stock(1));
    EXPECT_FALSE(rig.stock(1)) << "the GPU is still being tested";
}

TEST(HealthRules, ExplainSaysAllThatIsKnown) {
    HealthRig rig;
    const auto a = rig.host("a", "nj", 2);
    ASSERT_TRUE(rig.stock(1));
    const std::string id = rig.running("one");
    const std::string gpu = rig.gpu_of(id);
    rig.say(a, {{gpu, broken()}});
    const auto found = gpu_named(rig.desk, gpu);
    ASSERT_TRUE(found);
    auto shown = explain_gpu(rig.desk, *found->host, *found->gpu);
    EXPECT_EQ(shown.state, api::GpuState::faulty);
    EXPECT_THAT(shown.sentence, HasSubstr("XID 48"));
    EXPECT_EQ(shown.remedy, "drain_and_reset");
    EXPECT_THAT(shown.would_help.value_or(""), HasSubstr("nvidia-smi --gpu-reset -i " + gpu));
    EXPECT_THAT(shown.way_back, HasSubstr("hostler gpu return " + gpu));
    EXPECT_THAT(shown.running, ElementsAre(id));
    ASSERT_EQ(shown.evidence.size(), 1u);
    EXPECT_EQ(shown.evidence[0].code, 48);
    EXPECT_EQ(shown.evidence[0].count, 2);
    EXPECT_EQ(gpu_named(rig.desk, "GPU-none").error().reason, "gpu_not_found");
    rig.say(a, {});
    shown = explain_gpu(rig.desk, *gpu_named(rig.desk, gpu)->host, *gpu_named(rig.desk, gpu)->gpu);
    EXPECT_EQ(shown.state, api::GpuState::healthy);
    EXPECT_EQ(shown.remedy, "");
    EXPECT_FALSE(shown.would_help);
    EXPECT_THAT(shown.evidence, IsEmpty());
}

TEST(HealthRules, OfTwoHostsThatHaveOneGpuNoneIsMeant) {
    HealthRig rig;
    const auto a = rig.host("a", "nj", 1);
    const auto b = rig.host("b", "nj", 1);
    HostReport report{.sequence = ++rig.sequences, .facts = rig.estate.hosts.at(b).facts};
    report.facts->gpus = rig.estate.hosts.at(a).facts.gpus;
    note_report(rig.desk, b, std::move(report), rig.now);
    EXPECT_EQ(gpu_named(rig.desk, "GPU-a-0").error().reason, "gpu_ambiguous");
    ASSERT_TRUE(remove_host(rig.desk, b, true));
    EXPECT_EQ(gpu_named(rig.desk, "GPU-a-0").value().host->id, a);
}

TEST(HealthRules, OneThatIsBeingTestedIsNotTestedAgain) {
    HealthRig rig;
    const auto a = rig.host("a", "nj", 1);
    GpuState tested = broken();
    tested.testing_until = rig.estate.micros() + 60'000'000;
    rig.say(a, {{"GPU-a-0", tested}});
    const auto gpu = gpu_named(rig.desk, "GPU-a-0").value();
    (void)rig.take();
    for (int i = 0; i < 3; ++i) {
        const auto refused = return_gpu(rig.desk, *gpu.host, *gpu.gpu);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().reason, "gpu_under_test");
        EXPECT_THAT(refused.error().help, HasSubstr("hostler gpu explain GPU-a-0"));
    }
    EXPECT_FALSE(rig.command_of("GPU-a-0"));
    EXPECT_THAT(rig.events_of("gpu"), IsEmpty());
    rig.pass(61);
    EXPECT_TRUE(return_gpu(rig.desk, *gpu.host, *gpu.gpu)) << "it did not get well by then";
    EXPECT_TRUE(rig.command_of("GPU-a-0"));
}

TEST(HealthRules, WhoSawToItHasItTestedOnce) {
    HealthRig rig;
    const auto a = rig.host("a", "nj", 1);
    const auto gpu = [&] { return gpu_named(rig.desk, "GPU-a-0").value(); };
    EXPECT_TRUE(return_gpu(rig.desk, *gpu().host, *gpu().gpu));
    EXPECT_FALSE(rig.command_of("GPU-a-0")) << "it is healthy";
    rig.say(a, {{"GPU-a-0", broken()}});
    EXPECT_TRUE(return_gpu(rig.desk, *gpu().host, *gpu().gpu));
    EXPECT_TRUE(return_gpu(rig.desk, *gpu().host, *gpu().gpu));
    ASSERT_TRUE(rig.command_of("GPU-a-0"));
    EXPECT_EQ(rig.command_of("GPU-a-0")->verb, Verb::test_gpu);
    (void)rig.take();
    rig.answer("GPU-a-0", {.done = false, .reason = "unknown_action", .message = "upgrade the agent"});
    EXPECT_THAT(rig.events_of("gpu"),
                ElementsAre(HasSubstr("test_failed: Its host did not test it: upgrade")));
    EXPECT_FALSE(rig.command_of("GPU-a-0"));
}

}  // namespace
}  // namespace hostler::master
