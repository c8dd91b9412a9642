#include "domain/health/book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace hostler::health {
namespace {

using namespace std::chrono_literals;

struct Rig {
    Book book{5min};
    Moment now{Instant{1h}, WallTime{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}}};
    GpuFacts facts{
        .uuid = "GPU-1", .vendor = GpuVendor::nvidia, .pcie_generation_max = 5, .pcie_width_max = 16};
    Metric energy;

    void pass(Duration time) {
        now.at += time;
        now.wall += std::chrono::duration_cast<std::chrono::microseconds>(time);
    }
    void fault(std::string kind, std::int64_t code) {
        book.note(GpuFault{.uuid = "GPU-1", .kind = std::move(kind), .code = code}, now);
    }
    // As the kernel's line tells it; without numbers, as the driver's event does.
    void nvlink(std::int64_t code, std::int64_t info = 0, std::int64_t status = 0) {
        book.note(GpuFault{.uuid = "GPU-1", .kind = "xid", .code = code, .info = info, .status = status},
                  now);
    }
    GpuSample sample() const {
        GpuSample made;
        made.uuid = "GPU-1";
        made.energy_mj = energy;
        return made;
    }
    void note(const GpuSample& sample) { book.note(sample, &facts, now); }
    void note(GpuCondition condition) {
        GpuSample made = sample();
        made.energy_mj.reset();
        made.condition = condition;
        note(made);
    }
    // Samples every 10 s.
    void samples(GpuSample sample, Duration time) {
        for (Duration passed{}; passed <= time; passed += 10s) note(sample), pass(10s);
    }
    GpuState state() const { return book.of("GPU-1"); }
    GpuHealth health() const { return state().health; }
};

TEST(HealthBook, AnApplicationsMistakeIsNotTheGpus) {
    Rig rig;
    rig.fault("xid", 13), rig.fault("xid", 43);
    EXPECT_EQ(rig.health(), GpuHealth::healthy);
    EXPECT_EQ(rig.state().evidence.size(), 2u) << "but it is told";
    rig.pass(61min);
    rig.note(rig.sample());
    EXPECT_TRUE(rig.state().evidence.empty()) << "and forgotten";
    EXPECT_EQ(rig.book.of("GPU-never-seen").health, GpuHealth::healthy);
}

TEST(HealthBook, TheWorstCountsAndSilenceDoesNotHeal) {
    Rig rig;
    rig.fault("xid", 79), rig.fault("xid", 63);
    rig.energy = 5000;
    rig.samples(rig.sample(), 2h);
    EXPECT_EQ(rig.health(), GpuHealth::faulty);
    EXPECT_EQ(rig.state().reason, "XID 79: the GPU has fallen off the bus");
    EXPECT_EQ(rig.state().remedy, Remedy::reboot);
    EXPECT_EQ(rig.state().evidence.size(), 2u);
    EXPECT_EQ(rig.book.of("GPU-2").health, GpuHealth::healthy);
}

TEST(HealthBook, ABurstCountsOnceAndTheNextAgain) {
    Rig rig;
    for (int i = 0; i < 20; ++i) rig.fault("xid", 48), rig.pass(100ms);
    EXPECT_EQ(rig.state().evidence.at(0).count, 1);
    rig.pass(10s);
    rig.fault("xid", 48);
    EXPECT_EQ(rig.state().evidence.at(0).count, 2);
    for (std::int64_t code = 1000; code < 1100; ++code) rig.fault("xid", code);
    EXPECT_EQ(rig.state().evidence.size(), Book::evidence_max);
    EXPECT_EQ(rig.state().evidence.at(0).code, 48) << "the worst stays";
}

TEST(HealthBook, AnNvlinkErrorThatIsToldTwiceIsOne) {
    for (const bool event_first : {true, false}) {
        SCOPED_TRACE(event_first);
        Rig rig;
        if (event_first) rig.nvlink(149);
        EXPECT_EQ(rig.health(), event_first ? GpuHealth::degraded : GpuHealth::healthy)
            << "what has no numbers yet counts at once";
        rig.pass(1s);
        rig.nvlink(149, 0x226, 0x0);  // NETIR_BER_EVENT: to be watched.
        rig.pass(1s);
        if (!event_first) rig.nvlink(149);
        ASSERT_EQ(rig.state().evidence.size(), 1u);
        EXPECT_THAT(rig.state().evidence[0].sentence, ::testing::HasSubstr("NETIR_BER_EVENT"));
        EXPECT_EQ(rig.state().evidence[0].count, 1);
    }
}

TEST(HealthBook, TheNumbersOfAnNvlinkErrorDecide) {
    Rig rig;
    rig.nvlink(144);
    EXPECT_EQ(rig.health(), GpuHealth::degraded);
    rig.nvlink(144, 0x21, 0x20);  // Nothing happened that matters.
    EXPECT_EQ(rig.health(), GpuHealth::healthy);
    EXPECT_TRUE(rig.state().evidence.empty());
    rig.nvlink(144);
    EXPECT_EQ(rig.health(), GpuHealth::healthy) << "the event of what is explained";
    rig.pass(10s);
    rig.nvlink(144);
    EXPECT_EQ(rig.health(), GpuHealth::degraded) << "another one, which nothing explains";
    rig.pass(10s);
    rig.nvlink(144);
    rig.nvlink(144, 0x21, 0x2);
    EXPECT_EQ(rig.health(), GpuHealth::faulty);
    ASSERT_EQ(rig.state().evidence.size(), 2u) << "the one before stays";
    EXPECT_EQ(rig.state().evidence[1].count, 1);
}

TEST(HealthBook, AnNvlinkErrorThatIsNoneEndsNoTest) {
    for (const bool another : {false, true}) {
        Rig rig;
        rig.energy = 5000;
        rig.note(rig.sample());
        rig.fault("xid", 48);
        rig.note(rig.sample());
        rig.energy = 4, rig.note(rig.sample());
        rig.energy = 3, rig.note(rig.sample());
        ASSERT_GT(rig.state().testing_until, 0);
        rig.pass(10s);
        rig.nvlink(144);
        EXPECT_EQ(rig.state().testing_until, 0);
        if (another) rig.fault("xid", 48);
        rig.nvlink(144, 0x21, 0x20);
        EXPECT_EQ(rig.state().testing_until > 0, !another);
    }
}

TEST(HealthBook, AfterAResetItIsTestedAndReturns) {
    Rig rig;
    rig.energy = 5000;
    rig.note(rig.sample());
    rig.fault("xid", 48);
    rig.energy = 5001;
    rig.note(rig.sample());
    EXPECT_EQ(rig.health(), GpuHealth::faulty);
    EXPECT_EQ(rig.state().testing_until, 0);
    rig.energy = 3;
    rig.note(rig.sample());
    EXPECT_EQ(rig.health(), GpuHealth::faulty) << "not before it has shown that it is well";
    EXPECT_GT(rig.state().testing_until, 0);
    EXPECT_EQ(rig.state().remedy, Remedy::none);
    rig.pass(4min);
    rig.note(rig.sample());
    EXPECT_EQ(rig.health(), GpuHealth::faulty);
    rig.pass(1min);
    rig.note(rig.sample());
    EXPECT_EQ(rig.health(), GpuHealth::healthy);
    EXPECT_TRUE(rig.state().evidence.empty());
}

// After a reset, and five quiet minutes.
struct Benched : Rig {
    Benched() {
        book = Book{5min, true};
        energy = 5000;
        note(sample());
        fault("xid", 48);
        reset();
    }
    void reset() {
        energy = 5000 + ++resets, note(sample());
        energy = 3, note(sample());
        samples(sample(), 6min);
    }
    bool due() const { return !book.due(now).empty(); }
    void benchmarked(Retest::Outcome outcome) {
        book.note("GPU-1", {outcome, Remedy::replace, "the benchmark says so"}, now);
    }
    int resets = 0;
};

TEST(HealthBook, WhereThereIsABenchSilenceAloneDoesNotReturnIt) {
    Benched rig;
    EXPECT_TRUE(rig.due());
    rig.samples(rig.sample(), 1h);
    EXPECT_EQ(rig.health(), GpuHealth::faulty);
    EXPECT_GT(rig.state().testing_until, 0);
    rig.benchmarked(Retest::Outcome::passed);
    EXPECT_EQ(rig.health(), GpuHealth::healthy);
    EXPECT_FALSE(rig.due());
    ASSERT_EQ(rig.state().evidence.size(), 1u);
    EXPECT_EQ(rig.state().evidence.front().sentence, "the benchmark says so");
    rig.pass(25h);
    rig.note(rig.sample());
    EXPECT_TRUE(rig.state().evidence.empty());
}

TEST(HealthBook, AGpuThatFailsItsRetestStaysOutUntilItIsReset) {
    Benched rig;
    rig.benchmarked(Retest::Outcome::failed);
    EXPECT_FALSE(rig.due());
    rig.samples(rig.sample(), 1h);
    EXPECT_EQ(rig.health(), GpuHealth::faulty);
    EXPECT_EQ(rig.state().testing_until, 0);
    EXPECT_EQ(rig.state().remedy, Remedy::replace);
    EXPECT_EQ(rig.state().evidence.size(), 2u) << "what it was out for is still there";
    rig.benchmarked(Retest::Outcome::passed);
    EXPECT_EQ(rig.health(), GpuHealth::faulty) << "nobody asked";
    Rig same;
    same.book = Book{5min, true};
    same.book.recall("GPU-1", *rig.book.memory("GPU-1", "boot-1"), "boot-1", same.now);
    same.samples(same.sample(), 1h);
    EXPECT_EQ(same.health(), GpuHealth::faulty);
    EXPECT_TRUE(same.book.due(same.now).empty());
    rig.reset();
    ASSERT_TRUE(rig.due());
    rig.benchmarked(Retest::Outcome::passed);
    EXPECT_EQ(rig.health(), GpuHealth::healthy);
    EXPECT_EQ(rig.state().evidence.size(), 1u);
}

TEST(HealthBook, WhatOnlySamplesShowedStaysOutTooWhenItsRetestFails) {
    Rig rig;
    rig.book = Book{5min, true};
    GpuSample hot = rig.sample();
    hot.temperature_celsius = 95, hot.temperature_shutdown_celsius = 92;
    rig.note(hot);
    rig.samples(rig.sample(), 6min);
    ASSERT_FALSE(rig.book.due(rig.now).empty());
    rig.book.note("GPU-1", {Retest::Outcome::failed, Remedy::service, "slow"}, rig.now);
    rig.samples(rig.sample(), 1h);
    EXPECT_EQ(rig.health(), GpuHealth::faulty);
    EXPECT_EQ(rig.state().testing_until, 0);
}

TEST(HealthBook, AFaultWhileItWaitsForItsBenchmarkCounts) {
    Benched rig;
    rig.fault("xid", 48);
    EXPECT_FALSE(rig.due());
    rig.benchmarked(Retest::Outcome::passed);
    EXPECT_EQ(rig.health(), GpuHealth::faulty);
}

TEST(HealthBook, AFaultEndsTheTest) {
    Rig rig;
    rig.energy = 5000;
    rig.note(rig.sample());
    rig.fault("xid", 48);
    rig.energy = 4;
    rig.note(rig.sample()), rig.energy = 3, rig.note(rig.sample());
    ASSERT_GT(rig.state().testing_until, 0);
    rig.pass(1min);
    rig.fault("xid", 48);
    EXPECT_EQ(rig.state().testing_until, 0);
    rig.energy = 6000;
    rig.samples(rig.sample(), 1h);
    EXPECT_EQ(rig.health(), GpuHealth::faulty);
}

TEST(HealthBook, ALateReadingOfTheEnergyDoesNotClearAFaultSinceTheReset) {
    Rig rig;
    rig.energy = 5000;
    rig.note(rig.sample());
    rig.fault("xid", 48);
    rig.note(rig.sample());  // Kept from before, not read.
    rig.energy = 3;
    rig.note(rig.sample());
    EXPECT_EQ(rig.state().testing_until, 0);
    rig.energy = 4, rig.note(rig.sample());
    rig.energy = 2, rig.note(rig.sample());
    EXPECT_GT(rig.state().testing_until, 0);
}

TEST(HealthBook, AGpuThatWasAwayAfterItsFaultWasReset) {
    for (const GpuCondition away : {GpuCondition::lost, GpuCondition::gone}) {
        Rig rig;
        rig.note(rig.sample());
        rig.fault("xid", 79);
        rig.note(away);
        EXPECT_FALSE(is_fit(rig.health()));
        rig.note(rig.sample());
        EXPECT_GT(rig.state().testing_until, 0);
        rig.pass(5min);
        rig.note(rig.sample());
        EXPECT_EQ(rig.health(), GpuHealth::healthy);
    }
}

TEST(HealthBook, AnAnswerEndsSilence) {
    Rig rig;
    rig.note(GpuCondition::unresponsive);
    EXPECT_EQ(rig.health(), GpuHealth::unresponsive);
    rig.note(rig.sample());
    EXPECT_EQ(rig.health(), GpuHealth::healthy);
}

TEST(HealthBook, TheDriversAdviceIsTakenBackByTheDriver) {
    Rig rig;
    rig.fault("recovery_action", 2);
    EXPECT_EQ(rig.state().remedy, Remedy::reboot);
    rig.fault("recovery_action", 0);
    EXPECT_EQ(rig.health(), GpuHealth::healthy);
}

TEST(HealthBook, OutlivesItsKeeper) {
    Rig rig;
    rig.note(rig.sample());
    EXPECT_FALSE(rig.book.memory("GPU-1", "boot-1")) << "of a healthy one there is nothing to keep";
    rig.fault("xid", 48), rig.fault("xid", 13);
    const auto memory = rig.book.memory("GPU-1", "boot-1");
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->state.evidence.size(), 1u);
    Rig same, other;
    same.book.recall("GPU-1", *memory, "boot-1", same.now);
    same.samples(same.sample(), 1h);
    EXPECT_EQ(same.health(), GpuHealth::faulty) << "an agent that starts anew heals nothing";
    EXPECT_EQ(same.state().reason, rig.state().reason);
    other.book.recall("GPU-1", *memory, "boot-2", other.now);
    EXPECT_GT(other.state().testing_until, 0);
    other.samples(other.sample(), 5min);
    EXPECT_EQ(other.health(), GpuHealth::healthy);
}

TEST(HealthBook, WhoSawToItAsksForTheTest) {
    Rig rig;
    rig.fault("xid", 74);
    rig.book.test("GPU-1", rig.now);
    rig.samples(rig.sample(), 5min);
    EXPECT_EQ(rig.health(), GpuHealth::healthy);
    rig.book.test("GPU-7", rig.now);
    EXPECT_EQ(rig.book.of("GPU-7"), GpuState{});
}

struct Shown {
    const char* name;
    std::function<void(GpuSample&, int)> is;  // The n-th sample.
    Condition condition;
};

TEST(HealthBook, EachConditionIsSeenAndEnds) {
    const std::vector<Shown> all = {
        {"rows failed", [](GpuSample& s, int) { s.rows_failed = 1; }, Condition::rows_failed},
        {"no spare rows", [](GpuSample& s, int) { s.rows_remapped_uncorrected = 512; },
         Condition::rows_exhausted},
        {"no spare pages", [](GpuSample& s, int) { s.pages_retired = 63; }, Condition::pages_exhausted},
        {"rows pending", [](GpuSample& s, int) { s.rows_pending = 1; }, Condition::rows_pending},
        {"pages pending", [](GpuSample& s, int) { s.pages_pending = 1; }, Condition::pages_pending},
        {"driver asks", [](GpuSample& s, int) { s.recovery_action = 4; }, Condition::recovery_action},
        {"hot", [](GpuSample& s, int) { s.temperature_celsius = 88, s.temperature_slowdown_celsius = 87; },
         Condition::hot},
        {"very hot",
         [](GpuSample& s, int) { s.temperature_celsius = 93, s.temperature_shutdown_celsius = 92; },
         Condition::overheated},
        {"slowed", [](GpuSample& s, int) { s.throttle_reasons = throttle_thermal_hardware; },
         Condition::thermal_slowdown},
        {"narrow",
         [](GpuSample& s, int) { s.utilisation_percent = 90, s.pcie_width = 8, s.pcie_generation = 5; },
         Condition::pcie_link},
        {"slow",
         [](GpuSample& s, int) { s.utilisation_percent = 90, s.pcie_width = 16, s.pcie_generation = 1; },
         Condition::pcie_link},
        {"replays", [](GpuSample& s, int n) { s.pcie_replays = n * 11; }, Condition::pcie_replays},
        {"link errors", [](GpuSample& s, int n) { s.nvlink_errors = n * 1100; }, Condition::nvlink_errors},
        {"links down", [](GpuSample& s, int n) { s.nvlinks_active = n == 0 ? 18 : 17; },
         Condition::nvlinks_down},
        {"memory error", [](GpuSample& s, int n) { s.ecc_uncorrected = n == 0 ? 0 : 1; },
         Condition::ecc_uncorrected},
    };
    for (const Shown& shown : all) {
        Rig rig;
        const ConditionRow& row = row_of(shown.condition);
        for (int n = 0; n < 20; ++n) {
            GpuSample made = rig.sample();
            shown.is(made, n);
            rig.note(made), rig.pass(10s);
        }
        EXPECT_EQ(rig.health(), row.health) << shown.name;
        EXPECT_EQ(rig.state().remedy, row.remedy) << shown.name;
        ASSERT_EQ(rig.state().evidence.size(), 1u) << shown.name;
        EXPECT_EQ(rig.state().evidence[0].kind, boost::describe::enum_to_string(shown.condition, ""));
        // It is over, with a reset where one is due; then the test, if it was as bad as a fault.
        GpuSample well = rig.sample();
        well.rows_failed = well.rows_pending = well.pages_pending = well.recovery_action =
            well.pages_retired = well.rows_remapped_uncorrected = well.throttle_reasons =
                well.ecc_uncorrected = 0;
        well.temperature_celsius = 40, well.temperature_slowdown_celsius = 87;
        well.utilisation_percent = 90, well.pcie_width = 16, well.pcie_generation = 5;
        well.pcie_replays = 300, well.nvlink_errors = 30000, well.nvlinks_active = 18;
        well.energy_mj = 10;
        rig.note(well), rig.pass(10s);
        well.energy_mj = 5;
        rig.samples(well, 9min);
        EXPECT_EQ(rig.health(), GpuHealth::healthy) << shown.name << ": " << rig.state().reason;
    }
}

TEST(HealthBook, AMomentIsNoAlarm) {
    Rig rig;
    GpuSample hot = rig.sample();
    hot.temperature_celsius = 88, hot.temperature_slowdown_celsius = 87;
    GpuSample cool = hot;
    cool.temperature_celsius = 80;
    GpuSample idle = rig.sample();  // Its link rests.
    idle.utilisation_percent = 0, idle.pcie_generation = 1, idle.pcie_width = 16;
    for (int i = 0; i < 60; ++i) {
        rig.samples(hot, 30s), rig.samples(cool, 30s), rig.samples(idle, 30s);
        ASSERT_EQ(rig.health(), GpuHealth::healthy);
    }
}

TEST(HealthBook, OnlyNvidiasBoardsRunOutOfPages) {
    Rig rig;
    GpuSample retired = rig.sample();
    retired.pages_retired = pages_retired_max;
    rig.facts.vendor = GpuVendor::amd;
    rig.note(retired);
    EXPECT_EQ(rig.health(), GpuHealth::healthy);
    rig.facts.vendor = GpuVendor::nvidia;
    rig.note(retired);
    EXPECT_EQ(rig.health(), GpuHealth::faulty);
}

TEST(HealthBook, AGpuThatOnlyTheBusHasIsFaulty) {
    Rig rig;
    rig.book.note_unseen("GPU-1", true, rig.now);
    EXPECT_EQ(rig.health(), GpuHealth::faulty);
    EXPECT_EQ(rig.state().remedy, Remedy::service) << "its neighbours go on";
    rig.book.note_unseen("GPU-1", false, rig.now);
    rig.samples(rig.sample(), 5min);
    EXPECT_EQ(rig.health(), GpuHealth::healthy);
}

}  // namespace
}  // namespace hostler::health
