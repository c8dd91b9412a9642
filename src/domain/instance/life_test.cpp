#include "domain/instance/life.h"

#include <gtest/gtest.h>

#include "domain/command/command.h"
#include "domain/instance/plan.h"
#include "domain/inventory/host_life.h"

namespace hostler {
namespace {

using enum InstancePhase;
using enum InstanceEvent;

constexpr InstancePhase phases[] = {
    placed,  pulling, starting,           probing, running, halting, resting, stopping,
    stopped, failed,  InstancePhase::lost};
constexpr InstanceEvent events[] = {pull, start, probe,  ready,  halt,      wake,      restart,
                                    stop, fail,  finish, absent, lose_host, host_gone, retry};

// Row: phase; column: event; '.': nothing happens. First letters: plAced Pulling Starting pRobing rUnning
// Halting rEsting sTopping stopped(D) Failed Lost.
TEST(InstanceLife, EveryPhaseAndEvent) {
    constexpr std::string_view table[] = {
        // pull start probe ready halt wake restart stop fail finish absent lose_host host_gone retry
        "PSRUH..TFD.LF.",  // placed
        ".SRUH.ATFD.LF.",  // pulling
        "..RUH.ATFD.LF.",  // starting
        "...UH.ATFDFLF.",  // probing
        "....H.ATFDFLF.",  // running
        ".......T..E.E.",  // halting
        ".....A.D......",  // resting
        "..........DDD.",  // stopping
        ".............A",  // stopped
        ".............A",  // failed
        "..RUH.ADFDF.F.",  // lost
    };
    const auto letter = [](InstancePhase phase) { return "APSRUHETDFL"[static_cast<int>(phase)]; };
    for (const auto phase : phases)
        for (const auto event : events) {
            const auto to = next(instance_life, phase, event);
            EXPECT_EQ(to ? letter(*to) : '.', table[static_cast<int>(phase)][static_cast<std::size_t>(event)])
                << static_cast<int>(phase) << " + " << static_cast<int>(event);
        }
}

TEST(InstanceLife, StateIsTheSourcesWord) {
    constexpr std::string_view states[] = {"ready",   "ready",    "ready",   "ready",  "running", "stopping",
                                           "stopped", "stopping", "stopped", "failed", "lost"};
    for (const auto phase : phases) EXPECT_EQ(state_of(phase), states[static_cast<int>(phase)]);
}

TEST(InstanceLife, EveryLivingPhaseCanBeStoppedAndEnds) {
    for (const auto phase : phases) {
        if (is_final(phase)) continue;
        EXPECT_TRUE(phase == stopping || next(instance_life, phase, stop)) << static_cast<int>(phase);
        if (!has_place(phase)) continue;
        EXPECT_TRUE(next(instance_life, phase, host_gone).has_value()) << static_cast<int>(phase);
        EXPECT_FALSE(has_place(*next(instance_life, phase, host_gone))) << static_cast<int>(phase);
    }
}

// Row: phase; columns: unknown, absent, alive, ended, made. Start, sTop, noteAlive(V), note End, note aBsent,
// '.': nothing.
TEST(Plan, EveryPhaseAndSight) {
    constexpr std::string_view table[] = {
        "SSSSS",  // placed
        "SSSSS",  // pulling
        "SSSSS",  // starting
        ".BSES",  // probing
        ".B.ES",  // running
        "TBTTT",  // halting
        ".....",  // resting
        "TBTTT",  // stopping
        ".BTTT",  // stopped
        ".BTTT",  // failed
        ".BVEV",  // lost
    };
    const auto letter = [](InstanceAction action) { return ".STVEB"[static_cast<int>(action)]; };
    for (const auto phase : phases)
        for (const Seen seen : {Seen::unknown, Seen::absent, Seen::alive, Seen::ended, Seen::made}) {
            EXPECT_EQ(letter(plan(phase, seen, false)),
                      table[static_cast<int>(phase)][static_cast<std::size_t>(seen)])
                << static_cast<int>(phase) << " seen " << static_cast<int>(seen);
            EXPECT_EQ(plan(phase, seen, true), InstanceAction::none) << "its command's answer says more";
        }
}

TEST(HostLife, EveryPhaseAndEvent) {
    using enum HostPhase;
    constexpr std::optional<HostPhase> no = std::nullopt;
    constexpr HostEvent all[] = {HostEvent::report, HostEvent::silence, HostEvent::long_silence,
                                 HostEvent::remove};
    constexpr std::optional<HostPhase> table[5][4] = {
        {HostPhase::ready, no, no, retired},               // joining
        {no, unreachable, no, retired},                    // ready
        {HostPhase::ready, no, HostPhase::lost, retired},  // unreachable
        {HostPhase::ready, no, no, retired},               // lost
        {no, no, no, no},                                  // retired
    };
    for (const HostPhase phase : {joining, HostPhase::ready, unreachable, HostPhase::lost, retired})
        for (const HostEvent event : all)
            EXPECT_EQ(next(host_life, phase, event), table[static_cast<int>(phase)][static_cast<int>(event)])
                << static_cast<int>(phase) << " + " << static_cast<int>(event);
}

TEST(CommandLife, EndsOnce) {
    for (const auto phase : {CommandPhase::done, CommandPhase::failed, CommandPhase::expired})
        EXPECT_TRUE(is_final(command_life, phase));
    for (const auto phase : {CommandPhase::queued, CommandPhase::running}) {
        EXPECT_EQ(next(command_life, phase, CommandEvent::succeed), CommandPhase::done);
        EXPECT_EQ(next(command_life, phase, CommandEvent::fail), CommandPhase::failed);
        EXPECT_EQ(next(command_life, phase, CommandEvent::expire), CommandPhase::expired);
    }
    EXPECT_EQ(next(command_life, CommandPhase::queued, CommandEvent::begin), CommandPhase::running);
    EXPECT_EQ(next(command_life, CommandPhase::running, CommandEvent::begin), std::nullopt);
}

}  // namespace
}  // namespace hostler
