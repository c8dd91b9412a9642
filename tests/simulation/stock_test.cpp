// Idle stock gives way to instances while the storm is over them: no more than is needed, never what is kept,
// and it comes back.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/types_instance.h"
#include "api/types_stock.h"
#include "mistakes.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/stock/reclaim.h"
#include "roles/master/stock/slots.h"
#include "seeds.h"

namespace hostler::simulation {
namespace {

constexpr int pairs_max = 20;  // Of one storm: the calm has to come.
constexpr const char* pair = "h100-2";

struct GaveWay {
    int asked = 0;
    std::set<std::string> slots;    // With the instance that each gave way to.
    std::set<std::string> waiting;  // Slots, as they were a second ago.
    int back = 0;

    void count(const master::Estate& estate) {
        std::set<std::string> now;
        for (const auto& [id, slot] : estate.slots.all()) {
            if (!slot.gave_way.empty()) now.insert(id), slots.insert(slot.gave_way + " " + id);
            back += slot.phase == SlotPhase::idle && waiting.contains(id);
        }
        waiting = std::move(now);
    }
};

// Somebody wants twice as many GPUs as a slot has, and there is no stock of that.
void want_pairs(master::Desk& desk, sim::Dice& dice, GaveWay& counted) {
    const Spec* own = desk.estate.specs.find(Tenants::spec);
    if (!own) return;
    if (!desk.estate.specs.find(pair)) {
        Spec twice = *own;
        twice.name = pair;
        twice.gpu_count = 2;
        twice.meta = {};
        desk.estate.specs.add(std::move(twice));
    }
    if (dice.chance(0.1))
        (void)master::update_stock(desk,
                                   {.spec = Tenants::spec,
                                    .reclaim = dice.chance(0.8) ? api::Reclaim::idle : api::Reclaim::never,
                                    .keep = static_cast<int>(dice.below(3))});
    if (counted.asked < pairs_max && dice.chance(0.25)) {
        ++counted.asked;
        (void)master::create_instance(desk,
                                      {.instance_id = fmt::format("pair-{}", counted.asked),
                                       .tenant_id = "green-team",
                                       .tenant_name = "g",
                                       .image = "registry.example/app:1",
                                       .spec_name = pair},
                                      "");
    } else if (dice.chance(0.15)) {
        for (const auto& [id, instance] : desk.estate.instances.all())
            if (instance.spec_name == pair && has_place(instance.phase))
                return master::delete_instance(desk, std::string{id}, "it was wanted for a while");
    }
}

Mistakes wanted(std::uint64_t seed, std::shared_ptr<GaveWay> counted,
                const std::function<void(master::Desk&)>& wrong = {}) {
    Mistakes mistakes;
    auto dice = std::make_shared<sim::Dice>(sim::Dice{seed}.fork("pairs"));
    mistakes.each_second = [dice, counted, wrong](Cloud&, master::Term& term) {
        counted->count(term.look().estate);
        master::Desk& desk = term.desk("operator");
        want_pairs(desk, *dice, *counted);
        if (wrong) wrong(desk);
        term.commit_then(nullptr);
    };
    return mistakes;
}

TEST(Storm, StockGivesWayInIt) {
    const Seeds range = seeds(8);
    std::size_t gave_way = 0;
    int asked = 0, back = 0;
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
        SCOPED_TRACE(seed);
        const auto counted = std::make_shared<GaveWay>();
        const StormReport report = ride({.seed = seed}, wanted(seed, counted));
        EXPECT_FALSE(report.found.any()) << report.found.text();
        asked += counted->asked;
        gave_way += counted->slots.size();
        back += counted->back;
    }
    fmt::print("{} seeds: {} asked for, {} slots gave way, {} of them came back\n",
               range.last - range.first + 1, asked, gave_way, back);
    if (range.last - range.first < 7) return;  // Too few for all of it to happen.
    EXPECT_GT(gave_way, 0u);
    EXPECT_GT(back, 0);
}

// An idle slot beside an instance that was placed directly, as if it had been in its way.
void one_more(master::Desk& desk) {
    for (const auto& [id, slot] : desk.estate.slots.all()) {
        if (slot.phase != SlotPhase::idle) continue;
        const std::string host = desk.estate.claims.at(slot.claim).host;
        for (const auto& [to, instance] : desk.estate.instances.all())
            if (instance.host == host && instance.spec_name == pair && has_place(instance.phase)) {
                const std::string gone = id;
                master::displace(desk, gone);
                desk.estate.slots.edit(gone).gave_way = to;
                return;
            }
    }
}

TEST(Mistakes, MoreStockGivenUpThanIsNeeded) {
    EXPECT_NE(seeds_until(
                  Invariant::stock, Weather::calm,
                  [](std::uint64_t seed) {
                      Mistakes mistakes = wanted(seed, std::make_shared<GaveWay>(), one_more);
                      mistakes.only = Invariant::stock;
                      return mistakes;
                  },
                  1, "there is room"),
              0u);
}

TEST(Mistakes, StockThatIsKeptIsGivenUp) {
    const auto all_of_it = [](master::Desk& desk) {
        if (desk.estate.specs.find(Tenants::spec))
            (void)master::update_stock(desk, {.spec = Tenants::spec, .keep = 1000});
        one_more(desk);
    };
    EXPECT_NE(seeds_until(
                  Invariant::stock, Weather::calm,
                  [&](std::uint64_t seed) {
                      Mistakes mistakes = wanted(seed, std::make_shared<GaveWay>(), all_of_it);
                      mistakes.only = Invariant::stock;
                      return mistakes;
                  },
                  1, "1000 are kept"),
              0u);
}

}  // namespace
}  // namespace hostler::simulation
