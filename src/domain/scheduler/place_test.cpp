#include "domain/scheduler/place.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hostler {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

Candidate host(const std::string& id, int gpus = 4, const std::string& zone = "nj",
               const std::string& model = "H100 SXM5 80GB") {
    Candidate made{.id = id,
                   .name = "name-" + id,
                   .zone = zone,
                   .cpu_milli = 64'000,
                   .memory_bytes = 256 * gib,
                   .places = 253};
    for (int i = 0; i < gpus; ++i)
        made.gpus.push_back({id + "-gpu" + std::to_string(i), model, 80 * gib, i / 2});
    return made;
}

Demand demand(int gpus = 1) {
    return {.cpu_milli = 8'000, .memory_bytes = 32 * gib, .gpu_type = "H100", .gpu_count = gpus};
}

TEST(Place, ModelsAreMatchedByTheirWords) {
    EXPECT_TRUE(model_matches("", "H100 SXM5 80GB"));
    EXPECT_TRUE(model_matches("H100", "H100 SXM5 80GB"));
    EXPECT_TRUE(model_matches("h100-sxm5_80gb", "H100 SXM5 80GB"));
    EXPECT_TRUE(model_matches("80GB H100", "H100 SXM5 80GB"));
    EXPECT_FALSE(model_matches("H10", "H100 SXM5 80GB"));
    EXPECT_FALSE(model_matches("H100 PCIe", "H100 SXM5 80GB"));
    EXPECT_FALSE(model_matches("H100", ""));
}

TEST(Place, EachLackHasItsToken) {
    const auto token = [](auto change) {
        Demand wanted = demand(2);
        Candidate there = host("a");
        change(wanted, there);
        const auto refused = unfit(wanted, there);
        if (refused) {
            EXPECT_EQ(refused->host, "a");
            EXPECT_EQ(refused->name, "name-a");
            EXPECT_FALSE(refused->sentence.empty());
        }
        return refused ? refused->token : "";
    };
    EXPECT_EQ(token([](Demand&, Candidate&) {}), "");
    EXPECT_EQ(token([](Demand& wanted, Candidate&) { wanted.zone = "lon"; }), "zone");
    EXPECT_EQ(token([](Demand& wanted, Candidate&) { wanted.host = "b"; }), "volume");
    EXPECT_EQ(token([](Demand&, Candidate& there) { there.unavailable = "is cordoned"; }), "unavailable");
    EXPECT_EQ(token([](Demand& wanted, Candidate&) { wanted.gpu_count = 5; }), "gpus");
    EXPECT_EQ(token([](Demand& wanted, Candidate&) { wanted.gpu_type = "A100"; }), "gpus");
    EXPECT_EQ(token([](Demand&, Candidate& there) { there.cpu_milli = 7'999; }), "cpu");
    EXPECT_EQ(token([](Demand&, Candidate& there) { there.cpu_milli = 8'000; }), "")
        << "exactly enough is enough";
    EXPECT_EQ(token([](Demand&, Candidate& there) { there.memory_bytes = 32 * gib - 1; }), "memory");
    EXPECT_EQ(token([](Demand&, Candidate& there) { there.places = 0; }), "addresses");
}

TEST(Place, WhatNoNumbersSayIsRefusedAlikeBesideThem) {
    const auto agree = [](auto change) {
        Demand wanted = demand();
        Candidate there = host("a");
        there.volume_bytes = 10 * gib;
        change(wanted, there);
        EXPECT_EQ(fits_beside(wanted, there), !unfit(wanted, there));
        return fits_beside(wanted, there);
    };
    EXPECT_TRUE(agree([](Demand&, Candidate&) {}));
    EXPECT_TRUE(agree([](Demand& wanted, Candidate&) { wanted.zone = "nj", wanted.host = "a"; }));
    EXPECT_TRUE(agree([](Demand& wanted, Candidate&) { wanted.volume_bytes = 10 * gib; }));
    EXPECT_TRUE(agree([](Demand&, Candidate& there) { there.volumes_refused = "it may not mount"; }));
    EXPECT_FALSE(agree([](Demand& wanted, Candidate&) { wanted.zone = "lon"; }));
    EXPECT_FALSE(agree([](Demand& wanted, Candidate&) { wanted.host = "b"; }));
    EXPECT_FALSE(agree([](Demand&, Candidate& there) { there.places = 0; }));
    EXPECT_FALSE(agree([](Demand& wanted, Candidate&) { wanted.volume_bytes = 10 * gib + 1; }));
    EXPECT_FALSE(agree([](Demand& wanted, Candidate& there) {
        wanted.volume_bytes = 1, there.volumes_refused = "it may not mount";
    }));
}

TEST(Place, CountsHowOftenItFits) {
    EXPECT_EQ(how_often(demand(), host("a"), 4), 4) << "GPUs";
    EXPECT_EQ(how_often(demand(3), host("a"), 4), 1);
    EXPECT_EQ(how_often(demand(5), host("a"), 4), 0);
    const auto after = [](Demand wanted, auto change) {
        Candidate there = host("a", 16);
        change(there);
        const int times = how_often(wanted, there, static_cast<int>(there.gpus.size()));
        EXPECT_EQ(times > 0, !unfit(wanted, there));
        return times;
    };
    EXPECT_EQ(after(demand(), [](Candidate& there) { there.cpu_milli = 23'999; }), 2) << "CPUs";
    EXPECT_EQ(after(demand(), [](Candidate& there) { there.memory_bytes = 96 * gib; }), 3) << "memory";
    EXPECT_EQ(after(demand(), [](Candidate& there) { there.places = 1; }), 1) << "addresses";
    EXPECT_EQ(after(demand(), [](Candidate& there) { there.unavailable = "is lost"; }), 0);
    EXPECT_EQ(after(demand(), [](Candidate& there) { there.cpu_milli = -8'000; }), 0)
        << "more held than is there";
    Demand plain = demand(0);
    EXPECT_EQ(after(plain, [](Candidate& there) { there.gpus.clear(); }), 8) << "without GPUs, by CPUs";
}

TEST(Place, GpusOfOneDemandShareANumaNodeWhereTheyCan) {
    Candidate there = host("a", 4);
    there.gpus.erase(there.gpus.begin());  // Node 0 has one left, node 1 two.
    EXPECT_EQ(pick_gpus(demand(2), there), (std::vector<std::string>{"a-gpu2", "a-gpu3"}));
    EXPECT_EQ(pick_gpus(demand(1), there), (std::vector<std::string>{"a-gpu1"})) << "the pair is kept whole";
    EXPECT_EQ(pick_gpus(demand(3), there).size(), 3u) << "across nodes, if need be";
    there.gpus.push_back({"a-other", "A100 80GB", 80 * gib, 0});
    for (const auto& gpu : pick_gpus(demand(3), there))
        EXPECT_NE(gpu, "a-other") << "of the right model only";
}

}  // namespace
}  // namespace hostler
