// The storm, then the calm: safety is checked after every step, and in the end everything is where it was
// wanted.
#include "storm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "seeds.h"

namespace hostler::simulation {

namespace {

struct Sum {
    int calls = 0, opened = 0, running = 0, reads = 0;
    std::size_t commands = 0;
    std::uint64_t epochs = 0, promoted = 0;
};

// HOSTLER_STORY=1: also tells what happened in a seed that failed.
Sum expect_settles(Weather weather, std::uint64_t default_count, int masters = 1) {
    const Seeds range = seeds(default_count);
    Sum sum;
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
        const StormReport report = ride({.seed = seed, .weather = weather, .masters = masters});
        EXPECT_FALSE(report.found.any())
            << report.found.text() << "To see it again: " << replay_command(seed);
        if (report.found.any() && std::getenv("HOSTLER_STORY"))
            for (const std::string& line : report.story) fmt::print("{}\n", line);
        sum.calls += report.calls;
        sum.reads += report.reads;
        sum.promoted += report.promoted;
        sum.opened += report.opened;
        sum.running += report.running;
        sum.commands += report.commands;
        sum.epochs += report.epochs;
    }
    if (masters > 1) fmt::print("{} reads, {} standbys promoted; ", sum.reads, sum.promoted);
    fmt::print(
        "{} seeds: {} calls, {} commands, {} pages opened, {} terms, {} instances running at the end\n",
        range.last - range.first + 1, sum.calls, sum.commands, sum.opened, sum.epochs, sum.running);
    return sum;
}

TEST(Calm, TenantsGetWhatTheyAskFor) {
    const Sum sum = expect_settles(Weather::calm, 3);
    EXPECT_GT(sum.opened, 0);
    EXPECT_GT(sum.commands, 0u);
}

TEST(Storm, DeathsLoseNothing) { expect_settles(Weather::deaths, 10); }

TEST(Storm, EverythingSettles) { expect_settles(Weather::everything, 50); }

// Three of them over a database with a synchronous standby: what was acknowledged is never lost, and nobody
// is shown less than was told before.
TEST(Masters, InTheCalmOneLeads) {
    const Sum sum = expect_settles(Weather::calm, 2, 3);
    EXPECT_GT(sum.opened, 0);
    EXPECT_GT(sum.reads, 0);
}

TEST(Masters, EverythingSettles) {
    const Sum sum = expect_settles(Weather::everything, 12, 3);
    EXPECT_GT(sum.reads, 0);
    EXPECT_GT(sum.promoted, 0u);
}

TEST(Storm, TheSameSeedIsTheSameStorm) {
    const std::uint64_t first = seeds(3).first;
    std::set<std::uint64_t> digests;
    for (std::uint64_t seed = first; seed < first + 3; ++seed) {
        const Case shorter{.seed = seed, .storm = 60s};
        const auto digest = ride(shorter).digest;
        EXPECT_EQ(digest, ride(shorter).digest) << replay_command(seed);
        digests.insert(digest);
    }
    EXPECT_EQ(digests.size(), 3u);
}

}  // namespace

}  // namespace hostler::simulation
