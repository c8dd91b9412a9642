#include "domain/scheduler/reclaim_gang.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace hostler {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

Shape whole_gpus(int gpus) {
    return {.cpu_milli = 4000, .memory_bytes = 8 * gib, .gpus = gpus, .gpu_milli = gpu_whole};
}

// A few hosts, with slots of two kinds on most of their GPUs.
struct Slots {
    explicit Slots(unsigned seed) : dice(seed) {
        for (int i = 0; i < 3; ++i) {
            Machine made{.cpu_milli = 64'000, .memory_bytes = 512 * gib, .gpus = 2 + below(5)};
            for (int gpu = 0; gpu < made.gpus; ++gpu) made.free[static_cast<std::size_t>(gpu)] = gpu_whole;
            fleet.add(made, {.name = "h" + std::to_string(i), .zone = i < 2 ? "nj" : "lon"});
        }
        for (int i = 0; i < 9; ++i) {
            const int gpus = 1 + below(2);
            const auto choice = fleet.choose(whole_gpus(gpus));
            if (!choice) continue;
            EXPECT_TRUE(fleet.claim(*choice));
            lent.push_back({"s" + std::to_string(i), gpus == 1 ? "small" : "pair", *choice});
        }
        at_most = {{"small", below(6)}, {"pair", below(5)}};
    }
    int below(int n) { return static_cast<int>(dice() % static_cast<unsigned>(n)); }

    std::vector<Machine> machines() const {
        std::vector<Machine> all;
        for (const HostNumber host : fleet.hosts()) all.push_back(fleet.at(host));
        return all;
    }
    // Slots and GPUs of a set that may go; nullopt: it may not.
    std::optional<std::pair<int, int>> worth(unsigned set) const {
        std::map<std::string, int> gone;
        int gpus = 0;
        for (std::size_t i = 0; i < lent.size(); ++i)
            if (set >> i & 1) ++gone[lent[i].kind], gpus += static_cast<int>(lent[i].held.gpus.size());
        for (const auto& [kind, number] : gone)
            if (number > at_most.at(kind)) return std::nullopt;
        return std::pair{std::popcount(set), gpus};
    }
    unsigned set_of(const std::vector<std::string>& ids) const {
        unsigned set = 0;
        for (std::size_t i = 0; i < lent.size(); ++i)
            if (std::ranges::count(ids, lent[i].id) > 0) set |= 1U << i;
        return set;
    }
    Fleet without(unsigned set) const {
        Fleet left = fleet;
        for (std::size_t i = 0; i < lent.size(); ++i)
            if (set >> i & 1) left.release(lent[i].held);
        return left;
    }

    std::mt19937 dice;
    Fleet fleet;
    std::vector<Lent> lent;
    std::map<std::string, int> at_most;
};

TEST(ReclaimGang, ForOneTaskEqualsALookAtAllSets) {
    int found = 0, refused = 0;
    for (unsigned seed = 1; seed <= 120; ++seed) {
        Slots slots{seed};
        Need need{.shape = whole_gpus(1 + slots.below(5))};
        if (slots.below(4) == 0) need.shape = {.cpu_milli = 1000, .gpus = 1, .gpu_milli = 400, .owner = 1};
        if (slots.below(3) == 0) need.terms.zones = {"nj"};
        if (slots.fleet.choose(need)) continue;
        std::optional<int> least;
        for (unsigned set = 1; set < 1U << slots.lent.size(); ++set) {
            const auto worth = slots.worth(set);
            if (worth && (!least || worth->first < *least) && slots.without(set).choose(need))
                least = worth->first;
        }
        const auto before = slots.machines();
        const MadeRoom made = make_room(slots.fleet, {.tasks = {need}}, slots.lent, slots.at_most);
        ASSERT_EQ(slots.machines(), before) << "seed " << seed;
        ASSERT_EQ(!made.choices.empty(), least.has_value()) << "seed " << seed;
        if (!least) {
            ASSERT_TRUE(made.gone.empty());
            ++refused;
            continue;
        }
        ++found;
        ASSERT_EQ(std::ssize(made.gone), *least) << "seed " << seed;
        ASSERT_TRUE(slots.worth(slots.set_of(made.gone))) << "no more of a kind than may go";
        ASSERT_TRUE(slots.without(slots.set_of(made.gone)).claim(made.choices.front())) << "seed " << seed;
    }
    EXPECT_GT(found, 20);
    EXPECT_GT(refused, 10);
}

TEST(ReclaimGang, AllOfItsTasksHaveRoomOrNothingGoes) {
    int found = 0, refused = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
        Slots slots{seed};
        Gang gang;
        for (int i = 2 + slots.below(3); i > 0; --i)
            gang.tasks.push_back({.shape = whole_gpus(1 + slots.below(3))});
        if (slots.below(3) == 0) gang.together = slots.below(2) == 0 ? Area::host : Area::zone;
        if (!slots.fleet.choose(gang).empty()) continue;
        const auto before = slots.machines();
        const MadeRoom made = make_room(slots.fleet, gang, slots.lent, slots.at_most);
        ASSERT_EQ(slots.machines(), before) << "seed " << seed;
        if (made.choices.empty()) {
            ASSERT_TRUE(made.gone.empty());
            ++refused;
            continue;
        }
        ++found;
        ASSERT_FALSE(made.gone.empty());
        ASSERT_EQ(made.choices.size(), gang.tasks.size());
        ASSERT_TRUE(slots.worth(slots.set_of(made.gone))) << "no more of a kind than may go";
        Fleet left = slots.without(slots.set_of(made.gone));
        std::set<std::string> hosts, zones;
        for (std::size_t i = 0; i < made.choices.size(); ++i) {
            ASSERT_EQ(std::ssize(made.choices[i].gpus), gang.tasks[i].shape.gpus);
            ASSERT_TRUE(left.claim(made.choices[i])) << "seed " << seed;
            hosts.insert(left.traits(made.choices[i].host).name);
            zones.insert(left.traits(made.choices[i].host).zone);
        }
        if (gang.together == Area::host) ASSERT_EQ(hosts.size(), 1u);
        if (gang.together == Area::zone) ASSERT_EQ(zones.size(), 1u);
    }
    EXPECT_GT(found, 20);
    EXPECT_GT(refused, 10);
}

// Foreign work took what a slot holds: nothing could be taken back there.
TEST(ReclaimGang, WhereMoreIsTakenThanThereIsNothingIsTouched) {
    Fleet fleet;
    Machine machine{.cpu_milli = 8000, .memory_bytes = gib, .gpus = 1};
    machine.free[0] = gpu_whole;
    fleet.add(machine, {.name = "a"});
    const Choice held = *fleet.choose(Shape{.cpu_milli = 4000, .gpus = 1, .gpu_milli = gpu_whole});
    ASSERT_TRUE(fleet.claim(held));
    machine.cpu_milli = -1000, machine.free[0] = 0;
    fleet.set(0, machine);
    const MadeRoom made = make_room(fleet, {.tasks = {{.shape = {.gpus = 1, .gpu_milli = gpu_whole}}}},
                                    {{"s", "small", held}}, {{"small", 1}});
    EXPECT_TRUE(made.choices.empty());
    EXPECT_EQ(fleet.at(0), machine);
}

}  // namespace
}  // namespace hostler
