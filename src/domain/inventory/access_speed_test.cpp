#include "domain/inventory/access_speed.h"

#include <gtest/gtest.h>

#include <set>

namespace hostler {
namespace {

constexpr std::int64_t hour = 3'600'000'000, every = 12 * hour;

TEST(AccessSpeed, WhatWasNeverMeasuredOrIsWantedIsDueAtOnce) {
    EXPECT_EQ(speed_due(nullptr, "h-1", every), 0);
    AccessSpeed known{.access = "nj-1", .failure = "its link was in use"};
    EXPECT_EQ(speed_due(&known, "h-1", every), 0);
    known.measured_at = 100 * hour;
    EXPECT_GT(speed_due(&known, "h-1", every), known.measured_at);
    known.wanted = true;
    EXPECT_EQ(speed_due(&known, "h-1", every), 0);
}

TEST(AccessSpeed, ManyThatWereMeasuredTogetherAreDueApart) {
    const AccessSpeed known{.access = "nj-1", .measured_at = 100 * hour};
    std::set<std::int64_t> moments;
    for (int i = 0; i < 100; ++i) {
        const std::int64_t due = speed_due(&known, "h-" + std::to_string(i), every);
        EXPECT_GE(due, known.measured_at + every / 4 * 3);
        EXPECT_LE(due, known.measured_at + every / 4 * 5);
        moments.insert(due);
    }
    EXPECT_GT(moments.size(), 80u);
    const AccessSpeed other{.access = "nj-2", .measured_at = 100 * hour};
    EXPECT_NE(speed_due(&known, "h-1", every), speed_due(&other, "h-1", every));
}

TEST(AccessSpeed, ALinkIsInUseByItsOwnMeasure) {
    EXPECT_EQ(busy_kbit_s(nullptr), 8'000u);
    AccessSpeed known{.access = "nj-1"};
    EXPECT_EQ(busy_kbit_s(&known), 8'000u);
    known.figures.down_kbit_s = 900'000;
    known.figures.up_kbit_s = 100'000;
    EXPECT_EQ(busy_kbit_s(&known), 50'000u);
}

TEST(AccessSpeed, OfManyAccessPointsTheOldestGoes) {
    std::vector<AccessSpeed> known;
    for (std::size_t i = 0; i < access_speeds_max; ++i)
        speed_row(known, "a-" + std::to_string(i)).measured_at = static_cast<std::int64_t>(100 - i);
    speed_row(known, "new").measured_at = 200;
    EXPECT_EQ(known.size(), access_speeds_max);
    EXPECT_FALSE(speed_to(known, "a-7"));
    EXPECT_TRUE(speed_to(known, "a-0"));
    EXPECT_EQ(&speed_row(known, "new"), speed_to(known, "new"));
}

}  // namespace
}  // namespace hostler
