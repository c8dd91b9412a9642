#include "roles/agent/health.h"

#include <gtest/gtest.h>

namespace hostler::agent {
namespace {

GpuSample sample(Metric energy = std::nullopt) {
    GpuSample made;
    made.uuid = "GPU-1";
    made.energy_mj = energy;
    return made;
}

TEST(Health, AnApplicationsMistakeIsNotTheGpus) {
    HealthBook book;
    book.note(GpuFault{"GPU-1", "xid", 13});
    book.note(GpuFault{"GPU-1", "xid", 43});
    EXPECT_EQ(book.of("GPU-1").health, Health::healthy);
    EXPECT_EQ(book.of("GPU-never-seen").health, Health::healthy);
}

TEST(Health, TheWorstCountsAndSilenceDoesNotHeal) {
    HealthBook book;
    book.note(GpuFault{"GPU-1", "xid", 79});
    book.note(GpuFault{"GPU-1", "xid", 63});
    book.note(sample(5000));
    EXPECT_EQ(book.of("GPU-1").health, Health::faulty);
    EXPECT_EQ(book.of("GPU-1").reason, "XID 79: the GPU has fallen off the bus");
    EXPECT_EQ(book.of("GPU-2").health, Health::healthy);
}

TEST(Health, AResetClearsFaults) {
    HealthBook book;
    book.note(sample(5000));
    book.note(GpuFault{"GPU-1", "xid", 48});
    book.note(sample(5001));
    EXPECT_EQ(book.of("GPU-1").health, Health::faulty);
    book.note(sample(3));
    EXPECT_EQ(book.of("GPU-1").health, Health::healthy);
}

TEST(Health, ALateReadingOfTheEnergyDoesNotClearAFaultSinceTheReset) {
    HealthBook book;
    book.note(sample(5000));
    book.note(GpuFault{"GPU-1", "xid", 48});
    book.note(sample(5000));  // Kept from before, not read.
    book.note(sample(3));
    EXPECT_EQ(book.of("GPU-1").health, Health::faulty);
    book.note(sample(4));
    book.note(sample(2));
    EXPECT_EQ(book.of("GPU-1").health, Health::healthy);
}

TEST(Health, AGpuThatWasAwayAfterItsFaultWasReset) {
    HealthBook book;
    book.note(sample(5000));
    book.note(GpuFault{"GPU-1", "xid", 79});
    GpuSample lost = sample();
    lost.condition = GpuCondition::lost;
    book.note(lost);
    book.note(sample(3));
    EXPECT_EQ(book.of("GPU-1").health, Health::healthy);
}

TEST(Health, ASampleSpeaksForItself) {
    HealthBook book;
    GpuSample hung = sample();
    hung.condition = GpuCondition::unresponsive;
    book.note(hung);
    EXPECT_EQ(book.of("GPU-1").health, Health::unresponsive);
    book.note(sample());
    EXPECT_EQ(book.of("GPU-1").health, Health::healthy);  // It answers again.
    GpuSample worn = sample();
    worn.rows_pending = 1;
    EXPECT_EQ(meaning(worn).health, Health::degraded);
    worn.rows_failed = 1;
    EXPECT_EQ(meaning(worn).health, Health::faulty);
}

TEST(Health, TheDriversAdviceIsTakenBackByTheDriver) {
    HealthBook book;
    book.note(GpuFault{"GPU-1", "recovery_action", 1});
    EXPECT_EQ(book.of("GPU-1").health, Health::faulty);
    book.note(GpuFault{"GPU-1", "recovery_action", 0});
    EXPECT_EQ(book.of("GPU-1").health, Health::healthy);
}

}  // namespace
}  // namespace hostler::agent
