#include "domain/scheduler/reclaim.h"

#include <gmock/gmock.h>

#include <bit>
#include <random>

namespace hostler {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t gib = std::int64_t{1} << 30;

FreeGpu gpu(int number, const std::string& model = "H100 SXM5 80GB") {
    return {.uuid = "GPU-" + std::to_string(number), .model = model};
}

struct Rig {
    // So many GPUs are free; slots hold more of them.
    explicit Rig(int free) {
        host = {.id = "h-a", .cpu_milli = 64'000, .memory_bytes = 512 * gib, .places = 100};
        for (int i = 0; i < free; ++i) host.gpus.push_back(gpu(next++));
    }
    void slot(const std::string& id, int gpus, const std::string& kind = "small") {
        Spare spare{.id = id, .kind = kind, .cpu_milli = 4000, .memory_bytes = 16 * gib};
        for (int i = 0; i < gpus; ++i) spare.gpus.push_back(gpu(next++));
        spares.push_back(std::move(spare));
    }
    std::optional<std::vector<std::string>> wanted(const Demand& demand) {
        int left = tries;
        return fewest(host, spares, at_most, demand, also, left);
    }
    static Demand gpus(int count) { return {.gpu_type = "H100", .gpu_count = count}; }

    Candidate host;
    std::vector<Spare> spares;
    std::map<std::string, int> at_most{{"small", 99}, {"large", 99}};
    std::function<bool(const Candidate&)> also;
    int next = 0, tries = reclaim_tries_max;
};

TEST(Reclaim, TheFewestGoAndOfAsFewThoseWithTheFewestGpus) {
    Rig rig{1};
    rig.slot("one", 1), rig.slot("two", 1), rig.slot("four", 4, "large"), rig.slot("three", 3, "large");
    EXPECT_THAT(*rig.wanted(Rig::gpus(2)), ElementsAre("one")) << "the first of two alike";
    EXPECT_THAT(*rig.wanted(Rig::gpus(4)), ElementsAre("three"))
        << "one slot, not three; and the smaller one";
    EXPECT_THAT(*rig.wanted(Rig::gpus(5)), ElementsAre("four"));
    EXPECT_THAT(*rig.wanted(Rig::gpus(6)), ElementsAre("one", "four"));
    EXPECT_THAT(*rig.wanted(Rig::gpus(10)), ElementsAre("one", "two", "four", "three"));
    EXPECT_FALSE(rig.wanted(Rig::gpus(11)));
    EXPECT_FALSE(rig.wanted({.gpu_type = "A100", .gpu_count = 1}));
    EXPECT_FALSE(rig.wanted({.gpu_type = "H100", .gpu_count = 2, .zone = "mars"}));
}

TEST(Reclaim, OfEachKindOnlySoManyGo) {
    Rig rig{0};
    rig.slot("one", 1), rig.slot("two", 1), rig.slot("four", 4, "large");
    rig.at_most = {{"small", 1}, {"large", 1}};
    EXPECT_THAT(*rig.wanted(Rig::gpus(2)), ElementsAre("four")) << "two small ones must not go";
    rig.at_most = {{"small", 2}};
    EXPECT_THAT(*rig.wanted(Rig::gpus(2)), ElementsAre("one", "two"));
    EXPECT_FALSE(rig.wanted(Rig::gpus(3))) << "a kind that is not named does not go";
}

TEST(Reclaim, ForCpuMemoryAndAddressesToo) {
    Rig rig{8};
    rig.slot("one", 0), rig.slot("two", 0);
    rig.host.cpu_milli = 1000, rig.host.memory_bytes = gib;
    EXPECT_THAT(*rig.wanted({.cpu_milli = 5000, .gpu_count = 1}), ElementsAre("one"));
    EXPECT_THAT(*rig.wanted({.cpu_milli = 1000, .memory_bytes = 33 * gib}), ElementsAre("one", "two"));
    rig.host.places = 0;
    EXPECT_THAT(*rig.wanted(Rig::gpus(1)), ElementsAre("one"));
    rig.host.unavailable = "is cordoned";
    EXPECT_FALSE(rig.wanted(Rig::gpus(1)));
}

TEST(Reclaim, WhatTheCallerAsksBesidesCounts) {
    Rig rig{0};
    for (int i = 0; i < 4; ++i) rig.slot("s" + std::to_string(i), 1);
    rig.also = [](const Candidate& host) {  // As GPUs that are linked.
        return std::ranges::count(host.gpus, "GPU-1", &FreeGpu::uuid) +
                   std::ranges::count(host.gpus, "GPU-3", &FreeGpu::uuid) ==
               2;
    };
    EXPECT_THAT(*rig.wanted(Rig::gpus(2)), ElementsAre("s1", "s3"));
}

// Sixteen slots of which eight odd ones would do: more sets than are tried.
TEST(Reclaim, WhenTriesAreUsedUpAllThatGoAreNeeded) {
    Rig rig{0};
    for (int i = 0; i < 16; ++i) rig.slot("s" + std::to_string(i), 1);
    rig.also = [](const Candidate& host) {
        int odd = 0;
        for (const FreeGpu& one : host.gpus) odd += std::stoi(one.uuid.substr(4)) % 2;
        return odd == 8;
    };
    rig.tries = 100;
    EXPECT_THAT(*rig.wanted(Rig::gpus(4)), ElementsAre("s1", "s3", "s5", "s7", "s9", "s11", "s13", "s15"));
    rig.at_most = {{"small", 15}};
    EXPECT_FALSE(rig.wanted(Rig::gpus(4))) << "the last one may not go";
}

// Of all sets: the obvious way.
TEST(Reclaim, EqualsALookAtAllSets) {
    std::mt19937 dice{7};
    const auto below = [&](int n) { return static_cast<int>(dice() % static_cast<unsigned>(n)); };
    int found = 0;
    for (int round = 0; round < 400; ++round) {
        Rig rig{below(3)};
        rig.host.cpu_milli = 1000 * below(12);
        const int slots = 1 + below(7);
        for (int i = 0; i < slots; ++i)
            rig.slot("s" + std::to_string(i), below(4), below(2) == 0 ? "small" : "large");
        rig.at_most = {{"small", below(4)}, {"large", below(5)}};
        const Demand demand{.cpu_milli = 1000 * below(20), .gpu_type = "H100", .gpu_count = below(8)};
        std::optional<std::pair<int, int>> least;
        for (unsigned set = 1; set < 1U << slots; ++set) {
            Candidate host = rig.host;
            std::map<std::string, int> gone;
            int gpus = 0;
            for (int i = 0; i < slots; ++i) {
                if (!(set >> i & 1)) continue;
                const Spare& spare = rig.spares[static_cast<std::size_t>(i)];
                ++gone[spare.kind];
                gpus += static_cast<int>(spare.gpus.size());
                host.cpu_milli += spare.cpu_milli, host.memory_bytes += spare.memory_bytes;
                host.gpus.insert(host.gpus.end(), spare.gpus.begin(), spare.gpus.end());
            }
            if (std::ranges::any_of(gone,
                                    [&](const auto& row) { return row.second > rig.at_most[row.first]; }))
                continue;
            const std::pair worth{std::popcount(set), gpus};
            if (!unfit(demand, host) && (!least || worth < *least)) least = worth;
        }
        if (!unfit(demand, rig.host)) continue;  // Nothing has to go.
        const auto set = rig.wanted(demand);
        ASSERT_EQ(set.has_value(), least.has_value()) << round;
        if (!set) continue;
        ++found;
        int gpus = 0;
        for (const Spare& spare : rig.spares)
            if (std::ranges::count(*set, spare.id) > 0) gpus += static_cast<int>(spare.gpus.size());
        EXPECT_EQ(std::pair(static_cast<int>(set->size()), gpus), *least) << round;
    }
    EXPECT_GT(found, 40);
}

}  // namespace
}  // namespace hostler
