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

TEST(Place, OfHostsAsFullTheOneWithTheImageIsTaken) {
    Candidate without = host("a"), with = host("b");
    with.has_image = true;
    EXPECT_EQ(place(demand(), {without, with}).placement->host, "b");
    with.cpu_milli = without.cpu_milli + 1000;
    EXPECT_EQ(place(demand(), {without, with}).placement->host, "b") << "more than a little CPU to spare";
    with = host("b", 5);
    with.has_image = true;
    EXPECT_EQ(place(demand(), {without, with}).placement->host, "a") << "whole hosts stay free";
    without.unavailable = "is cordoned";
    EXPECT_EQ(place(demand(), {without, with}).placement->host, "b");
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

TEST(Place, BestFitLeavesTheLargestHoles) {
    EXPECT_EQ(place(demand(2), {host("a", 8), host("b", 2), host("c", 4)}).placement->host, "b");
    Candidate busy = host("z", 4);
    busy.cpu_milli = 9'000;
    EXPECT_EQ(place(demand(), {host("a", 4), busy}).placement->host, "z") << "the least CPU at equal GPUs";
    Candidate stocked = host("a", 4);
    stocked.stock = 1;
    EXPECT_EQ(place(demand(), {stocked, host("b", 4)}).placement->host, "b") << "then the fewest of its kind";
    EXPECT_EQ(place(demand(), {host("b", 4), host("a", 4)}).placement->host, "a")
        << "then the first by id, in whatever order they come";
    const auto decision = place(demand(3), {host("a", 2), host("b", 4)});
    EXPECT_EQ(decision.placement->host, "b");
    ASSERT_EQ(decision.refused.size(), 1u);
    EXPECT_EQ(decision.refused[0].host, "a");
}

TEST(Place, GpusOfOneDemandShareANumaNodeWhereTheyCan) {
    Candidate there = host("a", 4);
    there.gpus.erase(there.gpus.begin());  // Node 0 has one left, node 1 two.
    EXPECT_EQ(place(demand(2), {there}).placement->gpus, (std::vector<std::string>{"a-gpu2", "a-gpu3"}));
    EXPECT_EQ(place(demand(1), {there}).placement->gpus, (std::vector<std::string>{"a-gpu1"}))
        << "the pair is kept whole";
    EXPECT_EQ(place(demand(3), {there}).placement->gpus.size(), 3u) << "across nodes, if need be";
    there.gpus.push_back({"a-other", "A100 80GB", 80 * gib, 0});
    for (const auto& gpu : place(demand(3), {there}).placement->gpus)
        EXPECT_NE(gpu, "a-other") << "of the right model only";
}

TEST(Place, SpreadsOverZones) {
    const std::vector<Candidate> hosts{host("a", 1, "nj"), host("b", 8, "lon")};
    EXPECT_EQ(place_spread(demand(), hosts, {{"nj", 1}}).placement->zone, "lon") << "none in lon so far";
    EXPECT_EQ(place_spread(demand(), hosts, {{"nj", 1}, {"lon", 2}}).placement->zone, "nj");
    EXPECT_EQ(place_spread(demand(2), hosts, {{"lon", 7}}).placement->zone, "lon") << "where it fits";
    const auto nowhere = place_spread(demand(9), hosts, {});
    EXPECT_FALSE(nowhere.placement);
    EXPECT_EQ(nowhere.refused.size(), 2u) << "each host is told of once";
    Demand there = demand();
    there.zone = "nj";
    EXPECT_EQ(place_spread(there, hosts, {{"nj", 9}}).placement->zone, "nj");
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
        const auto refused = place(situation.demand, situation.hosts);
        ASSERT_FALSE(refused.placement) << situation.token;
        EXPECT_EQ(refused.refused.size(), situation.hosts.size());
        const auto why = explain(situation.demand, refused.refused);
        EXPECT_EQ(why.token, situation.token) << why.sentence;
        EXPECT_FALSE(why.sentence.empty());
        EXPECT_FALSE(why.would_help.empty());
        Demand wanted = situation.demand;
        auto hosts = situation.hosts;
        situation.help(wanted, hosts);
        EXPECT_TRUE(place(wanted, hosts).placement) << situation.token << ": " << why.would_help;
    }
}

TEST(Explain, CountsInASentence) {
    std::vector<Candidate> hosts{host("a", 0), host("b", 1),
                                 with(host("c"), [](Candidate& there) { there.unavailable = "is lost"; })};
    const auto why = explain(demand(2), place(demand(2), hosts).refused);
    EXPECT_EQ(why.sentence,
              "No host can take 2 H100: 2 hosts have too few free GPUs of this kind, 1 host takes nothing "
              "new (cordoned or out of reach).");
}

}  // namespace
}  // namespace hostler
