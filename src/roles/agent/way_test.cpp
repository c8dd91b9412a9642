// Which access point is chosen: properties over many made-up sets of ways.
#include "roles/agent/way.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hostler::agent {
namespace {

using namespace std::chrono_literals;

constexpr Instant now{1h};

Way way(std::string name, Duration rtt, std::string zone = "nj", int load = 0) {
    return {
        .address = name + ":7441", .name = name, .zone = std::move(zone), .load_percent = load, .rtt = rtt};
}

class Dice {
public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    int below(int end) { return static_cast<int>(engine_() % static_cast<unsigned>(end)); }
    std::vector<Way> ways() {
        std::vector<Way> made;
        const int count = 1 + below(6);
        for (int i = 0; i < count; ++i) {
            Way one = way("a" + std::to_string(i), std::chrono::microseconds{below(200'000)},
                          below(2) == 0 ? "nj" : "lon", below(101));
            if (below(5) == 0) one.rtt.reset();
            one.up = below(5) != 0;
            one.draining = below(5) == 0;
            if (below(4) == 0) one.rests_until = now + 1s;
            made.push_back(std::move(one));
        }
        return made;
    }

private:
    std::mt19937 engine_;
};

TEST(Ways, NearIsBetterThanFarAndLoadAndZoneWeighIn) {
    EXPECT_TRUE(clearly_better(way("near", 2ms), way("far", 80ms), "nj"));
    EXPECT_FALSE(clearly_better(way("near", 2ms), way("nearer", 3ms), "nj")) << "not worth a move";
    EXPECT_TRUE(clearly_better(way("idle", 20ms), way("full", 20ms, "nj", 100), "nj"));
    EXPECT_TRUE(clearly_better(way("home", 20ms, "nj"), way("away", 20ms, "lon"), "nj")) << "back home";
    EXPECT_FALSE(clearly_better(way("away", 20ms, "lon"), way("home", 20ms, "nj"), "nj"));
    // A load that is a lie doubles or halves a way, and no more.
    EXPECT_TRUE(clearly_better(way("honest", 5ms, "nj", 99), way("liar", 60ms, "nj", 0), "nj"));
}

TEST(Ways, NoTwoAreEachClearlyBetterThanTheOther) {
    Dice dice{1};
    for (int round = 0; round < 3'000; ++round) {
        const auto ways = dice.ways();
        for (const Way& a : ways)
            for (const Way& b : ways) EXPECT_FALSE(clearly_better(a, b, "nj") && clearly_better(b, a, "nj"));
    }
}

TEST(Ways, PicksWhatIsThereAndNeverWhatIsTakenOrRests) {
    Dice dice{2};
    for (int round = 0; round < 3'000; ++round) {
        const auto ways = dice.ways();
        const Way* taken = dice.below(2) == 0 ? &ways[0] : nullptr;
        const bool last = dice.below(2) == 0;
        const Way* found = pick(ways, taken, "nj", now, last);
        const auto fits = [&](const Way& one) {
            return &one != taken && one.rests_until <= now && (last || !one.draining);
        };
        EXPECT_EQ(found != nullptr, std::ranges::any_of(ways, fits));
        if (!found) continue;
        EXPECT_TRUE(fits(*found));
        for (const Way& one : ways)
            if (fits(one) && one.up && !one.draining) EXPECT_TRUE(found->up && !found->draining);
    }
}

TEST(Ways, TheSameAccessPointUnderAnotherAddressIsNoSecondWay) {
    std::vector<Way> ways = {way("a", 1ms), way("a", 1ms)};
    ways[1].address = "10.0.0.1:7441";
    EXPECT_EQ(pick(ways, &ways[0], "nj", now, true), nullptr);
}

// What a host does with the compass's advice, for ever.
struct Walker {
    std::size_t active = 0, standby = 1;
    int moves = 0;
    Compass compass;
    void step(const std::vector<Way>& ways) {
        switch (compass.advise(ways, active, standby, "nj", now)) {
            case Compass::Step::stay: return;
            case Compass::Step::swap: std::swap(active, standby); break;
            case Compass::Step::turn:
                standby = static_cast<std::size_t>(pick(ways, &ways[active], "nj", now, false) - ways.data());
        }
        ++moves;
    }
};

TEST(Compass, ComesToRestWhateverTheWaysAre) {
    Dice dice{3};
    for (int round = 0; round < 500; ++round) {
        auto ways = dice.ways();
        for (Way& one : ways) one.up = true, one.draining = false, one.rests_until = {};
        if (ways.size() < 2) continue;
        Walker walker;
        for (int i = 0; i < 40; ++i) walker.step(ways);
        const int settled = walker.moves;
        for (int i = 0; i < 100; ++i) walker.step(ways);
        EXPECT_EQ(walker.moves, settled) << "values that stay the same move nobody for ever";
        for (const Way& one : ways) EXPECT_FALSE(clearly_better(one, ways[walker.active], "nj") && one.rtt);
    }
}

TEST(Compass, NoiseOfAFifthMovesNobodyBackAndForth) {
    Dice dice{4};
    for (int round = 0; round < 50; ++round) {
        const Duration base = std::chrono::microseconds{1000 + dice.below(100'000)};
        Walker walker;
        for (int i = 0; i < 300; ++i) {
            const auto noisy = [&] { return base * (80 + dice.below(41)) / 100; };
            walker.step({way("a", noisy()), way("b", noisy()), way("c", noisy())});
        }
        EXPECT_EQ(walker.moves, 0);
    }
}

TEST(Compass, OneOutlierIsNoReason) {
    Compass compass;
    const std::vector<Way> usual = {way("a", 20ms), way("b", 20ms)},
                           outlier = {way("a", 900ms), way("b", 20ms)};
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(compass.advise(i % 3 == 2 ? usual : outlier, 0, 1, "nj", now), Compass::Step::stay);
    }
    EXPECT_EQ(compass.advise(outlier, 0, 1, "nj", now), Compass::Step::swap) << "the third in a row";
}

}  // namespace
}  // namespace hostler::agent
