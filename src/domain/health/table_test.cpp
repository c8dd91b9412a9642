#include "domain/health/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>
#include <set>

namespace hostler::health {
namespace {

using ::testing::HasSubstr;

GpuFault fault(std::string kind, std::int64_t code) {
    return {.uuid = "GPU-1", .kind = std::move(kind), .code = code};
}

TEST(FaultTable, EachXidHasOneMeaning) {
    std::int64_t before = 0;
    for (const Row& row : xids()) {
        EXPECT_GT(row.first, before);
        EXPECT_GE(row.last, row.first);
        before = row.last;
        for (const std::int64_t code : {row.first, row.last}) {
            const Meaning means = meaning(fault("xid", code));
            EXPECT_EQ(means.severity, row.severity) << code;
            EXPECT_EQ(means.remedy, row.remedy) << code;
            EXPECT_THAT(means.sentence, HasSubstr(std::string{row.what})) << code;
        }
    }
}

TEST(FaultTable, EachSxidHasOneMeaning) {
    std::int64_t before = 0;
    for (const Row& row : sxids()) {
        EXPECT_GT(row.first, before);
        before = row.last;
        GpuFault said = fault("sxid", row.first);
        EXPECT_EQ(meaning(said).severity == Severity::faulty, row.severity == Severity::faulty) << row.first;
        said.status = 1;
        EXPECT_EQ(meaning(said).severity == Severity::faulty, row.severity >= Severity::degraded)
            << row.first;
        EXPECT_THAT(meaning(said).sentence, HasSubstr(std::string{row.what}));
    }
}

TEST(FaultTable, EachNvlinkRowIsFoundAsOldAndNewDriversSayIt) {
    for (const NvlinkRow& row : nvlink_rows()) {
        for (const unsigned low : {row.older, row.newer}) {
            GpuFault said = fault("xid", row.xid);
            said.info = static_cast<std::int64_t>((row.sub << 20) | low);
            said.status = row.status;
            const Meaning means = meaning(said);
            EXPECT_EQ(means.severity, row.severity) << row.xid << " " << row.unit << " " << row.status;
            EXPECT_THAT(means.sentence, HasSubstr(std::string{row.unit}.substr(0, 3)));
        }
    }
    GpuFault several = fault("xid", 144);
    several.info = 1;
    several.status = 0x4 | 0x2;
    EXPECT_EQ(meaning(several).severity, Severity::faulty) << "of several bits the worst counts";
    EXPECT_EQ(meaning(fault("xid", 146)).severity, Severity::degraded) << "without numbers nobody knows";
}

TEST(FaultTable, WhatIsUnknownIsWatchedWithItsNumber) {
    for (const char* kind : {"xid", "sxid", "thunder"}) {
        const Meaning means = meaning(fault(kind, 4711));
        EXPECT_EQ(means.severity, Severity::watch);
        EXPECT_EQ(means.remedy, Remedy::watch);
        EXPECT_THAT(means.sentence, HasSubstr("4711"));
    }
    EXPECT_EQ(recovery_meaning(99).severity, Severity::faulty) << "the driver asks for something";
    EXPECT_THAT(recovery_meaning(99).sentence, HasSubstr("99"));
}

// Nothing leaves scheduling without somebody being told what to do.
TEST(FaultTable, WhatIsUnfitHasARemedy) {
    const auto check = [](Severity severity, Remedy remedy, std::int64_t code) {
        if (severity < Severity::degraded) return;
        EXPECT_GE(remedy, Remedy::drain_and_reset) << code;
        EXPECT_FALSE(sentence(remedy, "GPU-1").empty()) << code;
    };
    for (const Row& row : xids()) check(row.severity, row.remedy, row.first);
    for (const Row& row : sxids()) check(row.severity, row.remedy, row.first);
    for (std::int64_t action = 1; action < 8; ++action)
        check(recovery_meaning(action).severity, recovery_meaning(action).remedy, action);
    std::set<Condition> seen;
    for (const ConditionRow& row : conditions()) {
        EXPECT_TRUE(seen.insert(row.condition).second);
        EXPECT_GE(row.remedy, Remedy::drain_and_reset);
        EXPECT_GT(row.health, GpuHealth::healthy);
    }
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<Condition>>(
        [&](auto one) { EXPECT_TRUE(seen.contains(one.value)) << one.name; });
}

}  // namespace
}  // namespace hostler::health
