#include "domain/scheduler/consolidate.h"

#include <gtest/gtest.h>

#include <random>

namespace hostler {
namespace {

Machine machine(int gpus) {
    Machine made{.cpu_milli = 96'000, .memory_bytes = std::int64_t{1} << 39, .gpus = gpus};
    for (int i = 0; i < gpus; ++i) made.free[static_cast<std::size_t>(i)] = gpu_whole;
    return made;
}

Need gpus(int count) { return {.shape = {.cpu_milli = 1000, .gpus = count, .gpu_milli = gpu_whole}}; }

Movable held(Fleet& fleet, HostNumber host, std::vector<int> which) {
    Movable made{gpus(static_cast<int>(which.size())),
                 {.host = host, .cpu_milli = 1000, .gpus = std::move(which), .gpu_milli = gpu_whole}};
    HOSTLER_ASSERT(fleet.claim(made.held));
    return made;
}

TEST(Consolidate, FreesTheHostWithTheFewestWorkloads) {
    Fleet fleet;
    const auto a = fleet.add(machine(8)), b = fleet.add(machine(8)), empty = fleet.add(machine(8));
    const std::vector<Movable> workloads{held(fleet, a, {0, 1}), held(fleet, a, {2}),
                                         held(fleet, b, {0, 1, 2, 3})};
    const auto plan = consolidate(fleet, workloads, 10);
    EXPECT_EQ(plan.freed, std::vector<HostNumber>{b});
    EXPECT_EQ(plan.gpus, 8);
    ASSERT_EQ(plan.moves.size(), 1u);
    EXPECT_EQ(plan.moves[0].workload, 2u);
    EXPECT_EQ(plan.moves[0].to.host, a);
    EXPECT_EQ(fleet.at(empty), machine(8));
    EXPECT_TRUE(consolidate(fleet, workloads, 0).moves.empty()) << "no more moves than allowed";
}

TEST(Consolidate, LeavesAHostWhereSomethingMustStay) {
    Fleet fleet;
    const auto a = fleet.add(machine(8)), b = fleet.add(machine(8));
    held(fleet, a, {0}), held(fleet, b, {0});
    const std::vector<Movable> workloads{held(fleet, a, {1}), held(fleet, b, {1})};
    EXPECT_TRUE(consolidate(fleet, workloads, 10).freed.empty());
}

TEST(Consolidate, LeavesAllWhereNotAllFitElsewhere) {
    Fleet fleet;
    const auto a = fleet.add(machine(4)), b = fleet.add(machine(4));
    const std::vector<Movable> workloads{held(fleet, a, {0}), held(fleet, a, {1, 2}), held(fleet, b, {0, 1})};
    const auto plan = consolidate(fleet, workloads, 10);
    EXPECT_TRUE(plan.freed.empty() && plan.moves.empty()) << "two fit on one side, three on none";
}

TEST(Consolidate, EveryPlanCanBeDoneAndFreesWhatItSays) {
    int freed = 0;
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 dice{seed};
        Fleet fleet;
        for (int i = 0; i < 12; ++i) fleet.add(machine(8));
        std::vector<Movable> workloads;
        for (int i = 0; i < 60; ++i) {
            const Need need = gpus(1 << dice() % 3);
            if (auto choice = fleet.choose(need); choice && fleet.claim(*choice))
                workloads.push_back({need, *choice});
        }
        for (int i = 0; i < 20 && !workloads.empty(); ++i) {
            const auto which = static_cast<std::ptrdiff_t>(dice() % workloads.size());
            fleet.release(workloads[static_cast<std::size_t>(which)].held);
            workloads.erase(workloads.begin() + which);
        }
        const auto plan = consolidate(fleet, workloads, 12);
        EXPECT_LE(plan.moves.size(), 12u);
        std::set<std::size_t> moved;
        for (const Move& move : plan.moves) {
            EXPECT_TRUE(moved.insert(move.workload).second) << "moves twice";
            EXPECT_NE(fleet.at(move.to.host), fleet.whole(move.to.host)) << "to an empty host";
            ASSERT_TRUE(fleet.claim(move.to)) << "before anything is stopped";
        }
        for (const std::size_t i : moved) fleet.release(workloads[i].held);
        int there = 0;
        for (const HostNumber host : plan.freed) {
            EXPECT_EQ(fleet.at(host), fleet.whole(host)) << "seed " << seed;
            there += fleet.whole(host).gpus;
        }
        EXPECT_EQ(there, plan.gpus);
        freed += static_cast<int>(plan.freed.size());
    }
    EXPECT_GT(freed, 0);
}

}  // namespace
}  // namespace hostler
