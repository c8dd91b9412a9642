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

// Of the hosts that cannot take it.
std::vector<Refusal> refusals(const Demand& wanted, const std::vector<Candidate>& hosts) {
    std::vector<Refusal> all;
    for (const Candidate& there : hosts) {
        auto reason = unfit(wanted, there);
        if (!reason) EXPECT_TRUE(fits_beside(wanted, there));
        if (reason) all.push_back(std::move(*reason));
    }
    return all;
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

// Each situation is refused with the token named, and what the explanation says would help does.
struct Situation {
    const char* token;
    Demand demand;
    std::vector<Candidate> hosts;
    void (*help)(Demand&, std::vector<Candidate>&);
};

Candidate with(Candidate host, void (*change)(Candidate&)) {
    change(host);
    return host;
}

Demand in_zone(const char* zone) {
    Demand wanted = demand();
    wanted.zone = zone;
    return wanted;
}
Demand on_host(const char* id) {
    Demand wanted = demand();
    wanted.host = id;
    return wanted;
}

TEST(Explain, NamesTheCommonestLackAndWhatHelps) {
    const auto cordoned = [](Candidate& there) { there.unavailable = "is cordoned"; };
    const auto bring_back = [](Demand&, std::vector<Candidate>& hosts) {
        for (Candidate& there : hosts) there.unavailable.clear();
    };
    const auto add_host = [](Demand& wanted, std::vector<Candidate>& hosts) {
        hosts.push_back(host("new", 8, wanted.zone.empty() ? "nj" : wanted.zone));
    };
    const auto less_cpu = [](Demand& wanted, std::vector<Candidate>&) { wanted.cpu_milli = 1000; };
    const auto less_memory = [](Demand& wanted, std::vector<Candidate>&) { wanted.memory_bytes = gib; };
    const auto no_zone = [](Demand& wanted, std::vector<Candidate>&) { wanted.zone.clear(); };
    const auto little_cpu = [](Candidate& there) { there.cpu_milli = 2000; };
    const auto little_memory = [](Candidate& there) { there.memory_bytes = 2 * gib; };
    const auto no_gpus = [](Candidate& there) { there.gpus.clear(); };
    const auto no_places = [](Candidate& there) { there.places = 0; };
    const auto stop_one = [](Demand&, std::vector<Candidate>& hosts) {
        for (Candidate& there : hosts) there.places = std::max(there.places, 1);
        for (Candidate& there : hosts)
            if (there.gpus.empty()) there.gpus = host(there.id).gpus;
    };
    const Situation situations[] = {
        {"no_hosts", demand(), {}, add_host},
        {"gpus", demand(8), {host("a"), host("b")}, add_host},
        {"gpus", demand(), {with(host("a"), no_gpus)}, stop_one},
        {"gpus",
         demand(),
         {host("a", 4, "nj", "A100 80GB"), with(host("b"), cordoned), host("c", 4, "nj", "L40S 48GB")},
         add_host},
        {"cpu", demand(), {with(host("a"), little_cpu)}, less_cpu},
        {"cpu", demand(), {with(host("a"), little_cpu), with(host("b"), little_cpu), host("c", 0)}, less_cpu},
        {"memory", demand(), {with(host("a"), little_memory)}, less_memory},
        {"memory",
         demand(),
         {with(host("a"), little_memory), with(host("b"), little_memory), with(host("c"), cordoned)},
         less_memory},
        {"unavailable",
         demand(),
         {with(host("a"), cordoned), with(host("b"), cordoned), host("c", 0)},
         bring_back},
        {"addresses", demand(), {with(host("a"), no_places)}, stop_one},
        {"zone", in_zone("lon"), {host("a"), host("b")}, no_zone},
        {"unavailable",
         in_zone("lon"),
         {host("a"), host("b"), host("c"), with(host("d", 4, "lon"), cordoned)},
         bring_back},
        {"gpus", on_host("c"), {host("a"), host("b"), with(host("c"), no_gpus)}, stop_one},
        {"unavailable", on_host("c"), {host("a"), host("b"), with(host("c"), cordoned)}, bring_back},
    };
    for (const Situation& situation : situations) {
        const auto refused = refusals(situation.demand, situation.hosts);
        ASSERT_EQ(refused.size(), situation.hosts.size()) << situation.token;
        const auto why = explain(situation.demand, refused);
        EXPECT_EQ(why.token, situation.token) << why.sentence;
        EXPECT_FALSE(why.sentence.empty());
        EXPECT_FALSE(why.would_help.empty());
        Demand wanted = situation.demand;
        auto hosts = situation.hosts;
        situation.help(wanted, hosts);
        EXPECT_LT(refusals(wanted, hosts).size(), hosts.size()) << situation.token << ": " << why.would_help;
    }
}

TEST(Explain, CountsInASentence) {
    std::vector<Candidate> hosts{host("a", 0), host("b", 1),
                                 with(host("c"), [](Candidate& there) { there.unavailable = "is lost"; })};
    const auto why = explain(demand(2), refusals(demand(2), hosts));
    EXPECT_EQ(why.sentence,
              "No host can take 2 H100: 2 hosts have too few free GPUs of this kind, 1 host takes nothing "
              "new (cordoned or out of reach).");
}

}  // namespace
}  // namespace hostler
