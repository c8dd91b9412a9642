// Hosts are emptied while the storm is over them: what is moved never runs in two places, nothing is claimed
// twice, and all of it runs again in the calm.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/types_consolidation.h"
#include "roles/master/command/commands.h"
#include "roles/master/consolidation/execution.h"
#include "roles/master/run/places.h"
#include "roles/master/run/runs.h"
#include "roles/master/run/stop_start.h"
#include "seeds.h"
#include "storm.h"

namespace hostler::simulation {
namespace {

constexpr int begun_max = 12;  // Of one storm: the calm has to come.

struct Counted {
    int begun = 0;
    std::set<std::string> moved, stock;  // "consolidation/workload"
};

// Now and then an operator has whole hosts freed, and sometimes thinks better of it.
Mistakes operated(std::uint64_t seed, std::shared_ptr<Counted> counted) {
    Mistakes none;
    auto dice = std::make_shared<sim::Dice>(sim::Dice{seed}.fork("consolidations"));
    none.each_second = [dice, counted](Cloud&, master::Term& term) {
        for (const auto& [id, run] : term.look().estate.consolidations.all())
            for (const ConsolidationStep& step : run.steps)
                if (step.phase == MoveState::done)
                    (step.stock ? counted->stock : counted->moved).insert(id + "/" + step.workload);
        if (counted->begun >= begun_max || !dice->chance(0.2)) return;
        master::Desk& desk = term.desk("operator");
        if (dice->chance(0.1)) {
            for (const auto& [id, run] : std::map{desk.estate.consolidations.all().as_map()})
                (void)master::cancel_consolidation(desk, id);
        } else if (master::begin_consolidation(desk, {.at_once = 2})) {
            ++counted->begun;
        }
        term.commit_then(nullptr);
    };
    return none;
}

TEST(Storm, HostsAreEmptiedInIt) {
    const Seeds range = seeds(10);
    std::size_t begun = 0, moved = 0, stock = 0;
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
        SCOPED_TRACE(seed);
        const auto counted = std::make_shared<Counted>();
        const StormReport report = ride({.seed = seed, .hosts = 6}, operated(seed, counted));
        EXPECT_FALSE(report.found.any()) << report.found.text();
        if (report.found.any() && std::getenv("HOSTLER_STORY"))
            for (const std::string& line : report.story) fmt::print("{}\n", line);
        begun += static_cast<std::size_t>(counted->begun);
        moved += counted->moved.size();
        stock += counted->stock.size();
    }
    fmt::print("{} seeds: {} consolidations, {} instances and {} slots moved\n", range.last - range.first + 1,
               begun, moved, stock);
    if (range.last - range.first < 9) return;  // Too few for all of it to happen.
    EXPECT_GT(moved, 0u) << "nothing moved: nothing was tried";
    EXPECT_GT(stock, 0u);
}

// A move that begins there before its host has said that it stopped here.
TEST(Mistakes, AConsolidationThatDoesNotWaitForTheStop) {
    bool found = false;
    for (std::uint64_t seed = 11; seed <= 60 && !found; ++seed) {
        const auto counted = std::make_shared<Counted>();
        Mistakes mistakes = operated(seed, counted);
        mistakes.only = Invariant::one_place;
        mistakes.each_second = [counted, right = mistakes.each_second](Cloud& cloud, master::Term& term) {
            right(cloud, term);
            if (counted->begun > 0)
                cloud.world.machine("host-0").engine.faults.slow = std::chrono::seconds{5};  // To stop, too.
            master::Desk& desk = term.desk("mistake");
            std::vector<std::string> halting;
            for (const auto& [id, instance] : desk.estate.instances.all())
                if (instance.phase == InstancePhase::halting && instance.reason == master::consolidated)
                    halting.push_back(id);
            for (const std::string& id : halting) {
                master::close_commands(desk, id, desk.estate.instances.at(id).meta.generation + 1);
                master::note(desk, id, InstanceEvent::absent, std::string{master::consolidated},
                             "so it is hoped");
                master::let_go(desk, id);
                master::follow_consolidations(desk);
            }
            term.commit_then(nullptr);
        };
        const StormReport report =
            ride({.seed = seed, .hosts = 6, .calm_max = std::chrono::minutes{2}}, std::move(mistakes));
        found = report.found.has(Invariant::one_place);
        if (found) fmt::print("found by seed {}: {}\n", seed, report.found.all().front().text.substr(0, 160));
    }
    EXPECT_TRUE(found);
}

}  // namespace
}  // namespace hostler::simulation
