#include "domain/scheduler/waste.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hostler {
namespace {

// The same in plain words: of each typical shape, what it could not use.
double plain(const std::vector<Typical>& sketch, const Machine& machine) {
    double sum = 0;
    for (const auto& [shape, share] : sketch) {
        double all = 0, small = 0;
        std::int64_t places = 0;
        for (int i = 0; i < machine.gpus; ++i) {
            const int free = machine.free[static_cast<std::size_t>(i)];
            all += free;
            small += free < shape.gpu_milli ? free : 0;
            places += free / shape.gpu_milli;
        }
        const std::int64_t copies =
            std::min(places / shape.gpus, machine.cpu_milli / std::max<std::int64_t>(shape.cpu_milli, 1));
        const double left = all - static_cast<double>(copies * shape.gpus * shape.gpu_milli);
        const double wasted = copies > 0 ? 0.8 * small + 0.2 * left : all;
        sum += (shape.gpus > 1 ? share / 32.0 : share) * wasted;
    }
    return sum;
}

Machine random_machine(std::mt19937& dice) {
    Machine made{.cpu_milli = static_cast<std::int64_t>(dice() % 128'001), .memory_bytes = 1 << 30};
    made.gpus = static_cast<int>(dice() % (gpus_max + 1));
    for (int i = 0; i < made.gpus; ++i)
        made.free[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(dice() % 3 ? dice() % 1001 : 1000);
    return made;
}

std::vector<Typical> random_sketch(std::mt19937& dice, int count) {
    std::vector<Typical> made;
    for (int i = 0; i < count; ++i) {
        const int gpus = dice() % 4 ? 1 : 1 << (dice() % 5);
        const int milli = gpus == 1 && dice() % 2 ? 1 + static_cast<int>(dice() % 999) : gpu_whole;
        made.push_back(
            {{static_cast<std::int64_t>(dice() % 33 * 500), gpus, milli}, 1.0F / static_cast<float>(count)});
    }
    return made;
}

TEST(Waste, IsWhatWhoUsuallyAsksCouldNotUse) {
    std::mt19937 dice{1};
    for (const int count : {1, 7, 8, 9, 64}) {
        const auto sketch = random_sketch(dice, count);
        Waste waste{sketch};
        for (int i = 0; i < 300; ++i) {
            const Machine machine = random_machine(dice);
            EXPECT_NEAR(waste.of(machine), plain(sketch, machine), 0.01) << count << " shapes, machine " << i;
        }
    }
}

TEST(Waste, AScoreIsWhatAPlacementChanges) {
    std::mt19937 dice{2};
    const auto sketch = random_sketch(dice, 20);
    Waste waste{sketch};
    int shares = 0, wholes = 0, none = 0;
    for (int i = 0; i < 3000; ++i) {
        const Machine machine = random_machine(dice);
        Shape shape{.cpu_milli = static_cast<std::int64_t>(dice() % 16'001)};
        if (dice() % 4) {
            shape.gpus = dice() % 2 ? 1 : 1 << (dice() % 3);
            shape.gpu_milli = shape.gpus == 1 && dice() % 2 ? 1 + static_cast<int>(dice() % 999) : gpu_whole;
        }
        const auto score = waste.score(shape, machine, waste.of(machine));
        ASSERT_EQ(score.points >= 0, fits(shape, machine));
        if (score.points < 0) continue;
        const auto points = [&](const Machine& after) {
            return 100 / (1 + std::exp((plain(sketch, after) - plain(sketch, machine)) / 1000));
        };
        Machine after = machine;
        after.cpu_milli -= shape.cpu_milli;
        double best = -1;
        if (shape.shares()) {
            ++shares;
            for (int gpu = 0; gpu < machine.gpus; ++gpu) {
                if (machine.free[static_cast<std::size_t>(gpu)] < shape.gpu_milli) continue;
                Machine tried = after;
                tried.free[static_cast<std::size_t>(gpu)] =
                    static_cast<std::int16_t>(tried.free[static_cast<std::size_t>(gpu)] - shape.gpu_milli);
                best = std::max(best, points(tried));
                if (gpu == score.gpu) EXPECT_NEAR(score.points, std::floor(points(tried)), 1);
            }
        } else {
            ++(shape.gpus ? wholes : none);
            int left = shape.gpus;
            for (auto& free : after.free)
                if (left > 0 && free == gpu_whole) free = 0, --left;
            best = points(after);
        }
        EXPECT_NEAR(score.points, std::floor(best), 1) << i;
    }
    EXPECT_GT(shares, 100);
    EXPECT_GT(wholes, 100);
    EXPECT_GT(none, 100);
}

TEST(Waste, OfNothingFreeIsNothing) {
    Waste waste{{{{1000, 1, gpu_whole}, 1}}};
    EXPECT_EQ(waste.of({.cpu_milli = 1000, .gpus = 8}), 0);
    EXPECT_EQ(waste.score({.cpu_milli = 500}, {.cpu_milli = 1000, .gpus = 8}, 0).points, 50);
}

}  // namespace
}  // namespace hostler
