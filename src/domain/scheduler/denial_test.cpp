#include "domain/scheduler/denial.h"

#include <gtest/gtest.h>

#include <functional>

namespace hostler {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

// Eight GPUs; NVLink within each four.
Topology fours() {
    Topology made;
    for (std::size_t i = 0; i < gpus_max; ++i) {
        made.nvlink[i] = made.numa[i] = static_cast<std::int8_t>(i / 4);
        made.pcie[i] = static_cast<std::int8_t>(i / 2);
    }
    return made;
}

Traits traits(const std::string& name) {
    return {.name = name,
            .zone = "lon",
            .rack = "r1",
            .spot = Spot{51'500'000, -100'000},
            .gpu_class = "gold",
            .model = "A100 SXM4 80GB",
            .vendor = GpuVendor::nvidia,
            .gpu_memory_bytes = 80 * gib,
            .tier = GpuTier::training,
            .isolations = 0b0111,
            .trust = Trust::community,
            .price_micros = 2'000'000,
            .labels = {{"os", "debian"}}};
}

// A fleet that a situation is built of, and what runs in it.
struct World {
    Fleet fleet;
    std::vector<Choice> running;

    HostNumber host(const Traits& of, int gpus = 8, std::int64_t cpus = 96, std::int64_t memory = 512) {
        Machine machine{
            .cpu_milli = cpus * 1000, .memory_bytes = memory * gib, .gpus = gpus, .disk_bytes = 1000 * gib};
        for (int i = 0; i < gpus; ++i) machine.free[static_cast<std::size_t>(i)] = gpu_whole;
        return fleet.add(machine, of, fours());
    }
    HostNumber host(const std::string& name, int gpus = 8) { return host(traits(name), gpus); }
    void run(Choice choice) {
        ASSERT_TRUE(fleet.claim(choice));
        running.push_back(choice);
    }
    // Holds those GPUs of the first host.
    void take(std::vector<int> gpus, int milli = gpu_whole) {
        run({.host = 0, .gpus = std::move(gpus), .gpu_milli = milli});
    }
    void slice(const char* profile, int start) {
        run({.host = 0,
             .gpus = {0},
             .profile = mig_profile_number(profile),
             .slice = static_cast<std::int16_t>(start)});
    }
};

Need gpus(int count) { return {.shape = {.gpus = count, .gpu_milli = gpu_whole}}; }
Need share(int milli, std::uint32_t owner = 0) {
    return {.shape = {.gpus = 1, .gpu_milli = milli, .owner = owner}};
}
Need slice(const char* profile) {
    return {.shape = {.gpus = 1, .gpu_milli = gpu_whole, .profile = mig_profile_number(profile)}};
}
Need linked(int count, Link link) { return {.shape = {.gpus = count, .gpu_milli = gpu_whole, .link = link}}; }
Need one_with(const Terms& terms) { return {.shape = {.gpus = 1, .gpu_milli = gpu_whole}, .terms = terms}; }

struct Situation {
    const char* name;
    std::function<void(World&)> build;
    Need need;
    std::string_view token;  // Of the first reason.
    std::string_view would_help;
    bool never = false;
};

const Situation situations[] = {
    {"two too few GPUs are free", [](World& w) { w.host("a"), w.take({0, 1}); }, gpus(8), "gpus",
     "Ask for 6 GPUs."},
    {"no GPU is free", [](World& w) { w.host("a", 2), w.take({0, 1}); }, gpus(1), "gpus",
     "Wait until 1 more GPU is free on host a."},
    {"nearly all GPUs are taken", [](World& w) { w.host("a"), w.take({0, 1, 2, 3, 4, 5, 6}); }, gpus(8),
     "gpus", "Wait until 7 more GPUs are free on host a."},
    {"more GPUs than any host has", [](World& w) { w.host("a"), w.host("b", 4); }, gpus(16), "gpus",
     "Ask for 8 GPUs.", true},
    {"no host has GPUs", [](World& w) { w.host("a", 0); }, gpus(1), "gpus", "Ask for no GPU.", true},
    {"of two hosts the one that lacks less",
     [](World& w) { w.host("a"), w.host("b", 6), w.take({0, 1, 2, 3, 4}); }, gpus(8), "gpus",
     "Ask for 6 GPUs."},
    {"a share larger than what is left", [](World& w) { w.host("a", 1), w.take({0}, 300); }, share(900),
     "share", "Ask for 700/1000 of a GPU."},
    {"a share where hardly anything is left", [](World& w) { w.host("a", 1), w.take({0}, 900); }, share(900),
     "share", "Wait until 800/1000 of one GPU more are free on host a."},
    {"a share beside another owner's",
     [](World& w) {
         w.host("a", 1);
         w.run({.host = 0, .gpus = {0}, .gpu_milli = 500, .owner = 1});
     },
     share(300, 2), "share", "Wait until 300/1000 of one GPU more are free on host a."},
    {"CPUs short",
     [](World& w) { w.host("a"), w.run({.host = 0, .cpu_milli = 56'000}); },
     {.shape = {.cpu_milli = 48'000}},
     "cpu",
     "Ask for 40 CPUs."},
    {"one CPU short",
     [](World& w) { w.host("a"), w.run({.host = 0, .cpu_milli = 96'000}); },
     {.shape = {.cpu_milli = 1'000}},
     "cpu",
     "Wait until 1 more CPU is free on host a."},
    {"CPUs all but gone",
     [](World& w) { w.host("a"), w.run({.host = 0, .cpu_milli = 92'000}); },
     {.shape = {.cpu_milli = 48'000}},
     "cpu",
     "Wait until 44 more CPUs are free on host a."},
    {"more CPUs than any host has",
     [](World& w) { w.host("a"); },
     {.shape = {.cpu_milli = 500'000}},
     "cpu",
     "Ask for 96 CPUs.",
     true},
    {"memory short",
     [](World& w) { w.host("a"), w.run({.host = 0, .memory_bytes = 480 * gib}); },
     {.shape = {.memory_bytes = 40 * gib}},
     "memory",
     "Ask for 32 GiB memory."},
    {"disk short",
     [](World& w) { w.host("a"), w.run({.host = 0, .disk_bytes = 900 * gib}); },
     {.shape = {.disk_bytes = 150 * gib}},
     "disk",
     "Ask for 100 GiB disk."},
    {"cordoned", [](World& w) { w.fleet.close(w.host("a"), Obstacle::cordoned); }, gpus(8), "cordoned",
     "Have an operator uncordon host a."},
    {"draining", [](World& w) { w.fleet.close(w.host("a"), Obstacle::draining); }, gpus(8), "draining",
     "Have an operator uncordon host a."},
    {"unreachable", [](World& w) { w.fleet.close(w.host("a"), Obstacle::unreachable); }, gpus(8),
     "unreachable", "Have an operator bring host a back."},
    {"faulty", [](World& w) { w.fleet.close(w.host("a"), Obstacle::faulty); }, gpus(8), "faulty",
     "Have an operator bring host a back."},
    {"no address", [](World& w) { w.fleet.close(w.host("a"), Obstacle::addresses); }, gpus(8), "addresses",
     "Wait until host a has a free address."},
    {"cordoned, and memory short",
     [](World& w) {
         w.fleet.close(w.host("a"), Obstacle::cordoned);
         w.run({.host = 0, .memory_bytes = 480 * gib});
     },
     {.shape = {.memory_bytes = 40 * gib}},
     "cordoned",
     "Have an operator uncordon host a, and ask for 32 GiB memory."},
    {"another zone", [](World& w) { w.host("a"); }, one_with({.zones = {"nj"}}), "zone", "Ask for zone lon.",
     true},
    {"its zone is full, another is not",
     [](World& w) {
         w.host("a", 1), w.take({0});
         Traits far = traits("b");
         far.zone = "nj";
         w.host(far);
     },
     one_with({.zones = {"lon"}}), "gpus", "Ask for zone nj."},
    {"another rack", [](World& w) { w.host("a"); }, one_with({.racks = {"r2"}}), "rack", "Ask for rack r1.",
     true},
    {"another host", [](World& w) { w.host("a"); }, one_with({.hosts = {"b"}}), "host", "Ask for host a.",
     true},
    {"too far", [](World& w) { w.host("a"); }, one_with({.near = Terms::Near{{48'850'000, 2'350'000}, 100}}),
     "distance", "Allow 342 km.", true},
    {"another vendor", [](World& w) { w.host("a"); }, one_with({.vendor = GpuVendor::amd}), "vendor",
     "Ask for GPUs of another vendor.", true},
    {"another model", [](World& w) { w.host("a"); }, one_with({.model = "H100"}), "model",
     "Ask for A100 SXM4 80GB.", true},
    {"a number of a model that nobody has",
     [](World& w) { w.host("a"); },
     {.shape = {.gpus = 1, .gpu_milli = gpu_whole, .models = 1 << 5}},
     "model",
     "Ask for A100 SXM4 80GB.",
     true},
    {"another class", [](World& w) { w.host("a"); }, one_with({.gpu_class = "silver"}), "gpu_class",
     "Ask for class gold.", true},
    {"GPUs too small", [](World& w) { w.host("a"); }, one_with({.gpu_memory_bytes = 96 * gib}), "gpu_memory",
     "Ask for GPUs with 80 GiB.", true},
    {"a better tier", [](World& w) { w.host("a"); }, one_with({.tier = GpuTier::frontier}), "tier",
     "Ask for a lower tier.", true},
    {"another isolation", [](World& w) { w.host("a"); }, one_with({.isolation = Isolation::vm}), "isolation",
     "Ask for another isolation.", true},
    {"not trusted", [](World& w) { w.host("a"); }, one_with({.trust = Trust::trusted}), "trust",
     "Accept community hosts.", true},
    {"of no price",
     [](World& w) {
         Traits unpriced = traits("a");
         unpriced.price_micros.reset();
         w.host(unpriced);
     },
     one_with({.price_micros = 1'500'000}), "price", "Accept any price, for none is set there.", true},
    {"too dear", [](World& w) { w.host("a"); }, one_with({.price_micros = 1'500'000}), "price",
     "Accept 2 for a GPU and hour.", true},
    {"another label", [](World& w) { w.host("a"); }, one_with({.labels = {{"os", "alpine"}}}), "label",
     "Ask for labels that host a has.", true},
    {"no slice of that name", [](World& w) { w.host("a"); }, slice("1g.6gb"), "mig_profile",
     "Ask for a slice 1g.10gb.", true},
    {"GPUs that are not cut",
     [](World& w) {
         Traits of = traits("a");
         of.model = "L4 24GB";
         w.host(of);
     },
     slice("1g.10gb"), "mig_profile", "Ask for a whole GPU.", true},
    {"the GPU is cut full", [](World& w) { w.host("a", 1), w.slice("3g.40gb", 0), w.slice("3g.40gb", 4); },
     slice("1g.10gb"), "slice", "Wait until such a slice is free on host a."},
    {"room for a smaller slice",
     [](World& w) { w.host("a", 1), w.slice("4g.40gb", 0), w.slice("2g.20gb", 4); }, slice("2g.20gb"),
     "slice", "Ask for a slice 1g.20gb."},
    {"the GPU is held whole, and is not cut for a slice", [](World& w) { w.host("a", 1), w.take({0}); },
     slice("1g.10gb"), "slice", "Wait until such a slice is free on host a."},
    {"GPUs that are free are not linked", [](World& w) { w.host("a"), w.take({0, 4}); },
     linked(4, Link::nvlink), "link", "Ask for GPUs that reach each other in any way."},
    {"links that no host has", [](World& w) { w.host("a"); }, linked(4, Link::pcie), "link",
     "Ask for GPUs that reach each other in any way.", true},
    {"the volume lies nowhere",
     [](World& w) { w.host("a"); },
     {.shape = {.cpu_milli = 1000}, .volumes = {"home"}},
     "volume",
     "Go without the volumes that host a does not hold.",
     true},
    {"another of its kind is in the rack",
     [](World& w) { w.host("a"), w.host("b"), w.run({.host = 0, .kind = 7}); },
     {.shape = {.cpu_milli = 1000}, .kind = 7, .apart = Area::rack},
     "apart",
     "Let them lie next to each other."},
};

class Denied : public ::testing::TestWithParam<Situation> {};

TEST_P(Denied, SaysWhyAndWhatHelpsDoes) {
    const Situation& situation = GetParam();
    World world;
    situation.build(world);
    Fleet& fleet = world.fleet;
    EXPECT_FALSE(fleet.choose(situation.need));
    const auto denial = explain(fleet, situation.need);
    ASSERT_TRUE(denial);
    EXPECT_EQ(token_of(denial->reasons.front().obstacle), situation.token) << denial->sentence;
    EXPECT_EQ(denial->would_help, situation.would_help) << denial->sentence;
    EXPECT_EQ(denial->never, situation.never) << denial->sentence;
    EXPECT_TRUE(denial->sentence.starts_with(situation.never ? "No host could take " : "No host can take "))
        << denial->sentence;
    Need need = situation.need;
    for (const Change& change : denial->changes) {
        relax(need, change, fleet);
        if (change.by == Change::By::opening) fleet.reopen(change.host);
        if (change.by != Change::By::waiting) continue;
        for (const Choice& choice : world.running) fleet.release(choice);
        world.running.clear();
    }
    const auto choice = fleet.choose(need);
    ASSERT_TRUE(choice) << denial->sentence << " " << denial->would_help;
    EXPECT_TRUE(fleet.claim(*choice));
    EXPECT_FALSE(explain(world.fleet, Need{})) << "what fits is not denied";
}

INSTANTIATE_TEST_SUITE_P(Situations, Denied, ::testing::ValuesIn(situations), [](const auto& info) {
    std::string name;
    for (const char* c = info.param.name; *c; ++c) name += *c >= 'A' && (*c <= 'Z' || *c >= 'a') ? *c : '_';
    return name + std::to_string(info.index);
});

TEST(Denial, CountsTheNearestFirstAndLastWhatHostsAreLike) {
    World world;
    for (int i = 0; i < 3; ++i)
        world.fleet.close(world.host("closed" + std::to_string(i)), Obstacle::cordoned);
    for (int i = 0; i < 2; ++i) world.host(traits("small" + std::to_string(i)), 8, 96, 32);
    Traits far = traits("far");
    far.zone = "nj";
    for (int i = 0; i < 4; ++i) world.host(far);
    Need need = gpus(2);
    need.shape.memory_bytes = 40 * gib;
    need.terms.zones = {"lon"};
    const auto denial = explain(world.fleet, need);
    ASSERT_TRUE(denial);
    EXPECT_EQ(
        denial->sentence,
        "No host can take 2 GPUs, 40 GiB memory: 2 hosts lack memory, 3 are cordoned, 4 are in other zones.");
    EXPECT_EQ(denial->would_help, "Ask for 32 GiB memory.");
}

TEST(Denial, ItsCallerKnowsOfAChangeInPlaceOfTheOthers) {
    World world;
    world.host("a"), world.host("b"), world.host("c");
    world.take({0, 1, 2, 3, 4, 5, 6, 7});
    world.run({.host = 1, .gpus = {0, 1, 2, 3, 4, 5, 6, 7}, .gpu_milli = gpu_whole});
    world.fleet.close(2, Obstacle::unreachable);
    const auto stock = [](HostNumber host) -> std::optional<Change> {
        if (host != 1) return std::nullopt;
        return Change{Obstacle::stock, Change::By::opening, host, 0};
    };
    const auto denial = explain(world.fleet, gpus(4), {}, stock);
    ASSERT_TRUE(denial);
    EXPECT_EQ(denial->sentence,
              "No host can take 4 GPUs: 1 host holds idle stock that is not given up, 1 has too few "
              "GPUs, 1 is unreachable.");
    EXPECT_EQ(denial->would_help, "Have an operator give up idle stock on host b.");
    EXPECT_EQ(token_of(denial->reasons.front().obstacle), "stock");
    EXPECT_TRUE(explain(world.fleet, gpus(9), {}, stock)->never) << "also without any";
}

TEST(Denial, WithoutHostsThereIsOnlyOneThingToSay) {
    Fleet fleet;
    const auto denial = explain(fleet, gpus(1));
    ASSERT_TRUE(denial);
    EXPECT_EQ(denial->sentence, "There are no hosts.");
    EXPECT_TRUE(denial->reasons.empty() && denial->changes.empty());
}

TEST(Denial, OfAGangHowManyFit) {
    World world;
    world.host("a", 2), world.host("b", 1);
    const Gang gang{.tasks = {gpus(1), gpus(1), gpus(1), gpus(2)}};
    auto denial = explain(world.fleet, gang);
    ASSERT_TRUE(denial);
    EXPECT_EQ(denial->fitting, (std::vector<std::size_t>{0, 3})) << "the large one first";
    EXPECT_EQ(denial->sentence, "2 of 4 tasks fit.");
    EXPECT_EQ(denial->would_help, "Ask for 2 tasks.");
    denial = explain(world.fleet, Gang{.tasks = {gpus(2), gpus(1)}, .together = Area::host});
    ASSERT_TRUE(denial);
    EXPECT_EQ(token_of(denial->reasons.front().obstacle), "together");
    EXPECT_EQ(denial->sentence, "1 of 2 tasks fit on one host.");
    EXPECT_FALSE(explain(world.fleet, Gang{.tasks = {gpus(2), gpus(1)}, .wanted_together = Area::host}));
    denial = explain(world.fleet, Gang{.tasks = {gpus(1), gpus(8)}});
    ASSERT_TRUE(denial);
    EXPECT_EQ(denial->fitting, std::vector<std::size_t>{0});
    denial = explain(world.fleet, Gang{.tasks = {gpus(8), gpus(8)}});
    ASSERT_TRUE(denial);
    EXPECT_EQ(denial->would_help, "Ask for 2 GPUs.") << "none fits: about the first";
    EXPECT_TRUE(denial->never);
}

}  // namespace
}  // namespace hostler
