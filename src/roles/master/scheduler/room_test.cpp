#include "roles/master/scheduler/room.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "roles/master/testing/desk_rig.h"
#include "roles/master/testing/room_check.h"

namespace hostler::master {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using testing::DeskRig;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using testing::room_is_wrong;

struct RoomRig : DeskRig {
    RoomRig() { estate.specs.add(spec("small")), estate.specs.add(spec("pair", 2)); }

    static Spec spec(const std::string& name, int gpus = 1, const std::string& type = "H100") {
        return {.name = name,
                .cpu_milli = 4000,
                .memory_bytes = std::int64_t{16} << 30,
                .gpu_type = type,
                .gpu_count = gpus};
    }
    static Demand demand(int gpus = 1, const std::string& zone = "") {
        return demand_of(spec("", gpus), zone);
    }
    std::string goes_to(const Demand& wanted, const std::string& image = {}) {
        EXPECT_EQ(room_is_wrong(desk), "");
        const auto at = room(desk).place(desk, wanted, image).placement;
        return at ? at->host : "";
    }
    std::string denied(const Demand& wanted) {
        const auto why = room(desk).place(desk, wanted).denial;
        return why ? why->sentence + " " + why->would_help : "";
    }
    // It joined then, and has said what it is `before` hosts were numbered by that, or says it now.
    void joined(const std::string& name, std::int64_t at, bool before = false) {
        const std::string id = "h-" + name;
        estate.hosts.add(
            {.id = id, .zone = "nj", .facts = before ? facts_of(name, 4) : HostFacts{}, .joined_at = at});
        connect(id);
        note_report(desk, id, {.sequence = ++sequences, .facts = facts_of(name, 4), .complete = true}, now);
        report(id);
    }
    std::string hold(const Demand& wanted, const std::string& holder = "s-test") {
        const auto at = room(desk).place(desk, wanted).placement;
        HOSTLER_ASSERT(at);
        return claim(desk, wanted, *at, ClaimUse::stock, {.holder = holder}).id;
    }
};

TEST(Room, HostsAreFilledOneAfterAnotherInTheOrderInWhichTheySaidWhatTheyAre) {
    RoomRig rig;
    rig.joined("z", 2);
    rig.joined("a", 1);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(rig.estate.claims.at(rig.hold(rig.demand())).host, "h-z");
    EXPECT_EQ(rig.estate.claims.at(rig.hold(rig.demand())).host, "h-a");
    EXPECT_EQ(rig.goes_to(rig.demand()), "h-a") << "the fullest";
    const std::uint64_t built = room(rig.desk).built();
    rig.joined("b", 0);
    EXPECT_EQ(room(rig.desk).built(), built) << "one that comes is no reason to look at all";
    EXPECT_EQ(rig.goes_to(rig.demand()), "h-a");
    EXPECT_EQ(rig.goes_to(rig.demand(4)), "h-b");
    rig.joined("d", -1, true);
    rig.joined("c", -2, true);
    EXPECT_EQ(rig.goes_to(rig.demand(4)), "h-c") << "it joined first of those that came before all numbers";
}

TEST(Room, OnlyWhereItIsWanted) {
    RoomRig rig;
    rig.host("a", "nj"), rig.host("b", "lon"), rig.host("c", "lon", 1);
    EXPECT_EQ(rig.goes_to(rig.demand(2, "lon")), "h-b");
    EXPECT_EQ(rig.goes_to(rig.demand(1, "lon")), "h-c") << "whole hosts stay free";
    EXPECT_EQ(rig.goes_to(rig.demand(1, "par")), "");
    Demand there = rig.demand();
    there.host = "h-c";
    EXPECT_EQ(rig.goes_to(there), "h-c") << "where its volumes are";
    there.gpu_count = 2;
    EXPECT_EQ(rig.goes_to(there), "");
    there = rig.demand();
    there.volume_bytes = std::int64_t{2} << 40;
    EXPECT_EQ(rig.goes_to(there), "") << "a disk has one TiB";
    rig.estate.hosts.edit("h-b").facts.volume_bytes = std::int64_t{3} << 40;
    EXPECT_EQ(rig.goes_to(there), "h-b");
    rig.estate.hosts.edit("h-b").facts.volumes_refused = "it may not mount";
    EXPECT_EQ(rig.goes_to(there), "");
}

TEST(Room, WhoTakesNothingNewIsLeftOutAndComesBack) {
    RoomRig rig;
    const std::string a = rig.host("a"), b = rig.host("b");
    EXPECT_EQ(rig.goes_to(rig.demand()), a);
    ASSERT_TRUE(cordon_host(rig.desk, a, true));
    EXPECT_EQ(rig.goes_to(rig.demand()), b);
    rig.disconnect(b);
    rig.pass(120);
    watch_silence(rig.desk, rig.now);
    EXPECT_EQ(rig.goes_to(rig.demand()), "") << "one cordoned, both silent";
    EXPECT_EQ(rig.denied(rig.demand()),
              "No host can take 1 H100 GPU, 4 CPUs, 16 GiB memory: 2 hosts are unreachable. "
              "Have an operator bring host h-a back.");
    ASSERT_TRUE(cordon_host(rig.desk, a, false));
    rig.connect(a), rig.report(a);
    EXPECT_EQ(rig.goes_to(rig.demand()), a);
    ASSERT_TRUE(remove_host(rig.desk, a, true));
    EXPECT_EQ(rig.goes_to(rig.demand()), "") << "removed";
    rig.host("c");
    EXPECT_EQ(rig.goes_to(rig.demand()), "h-c");
}

TEST(Room, ClaimsAndVolumesComeAndGo) {
    RoomRig rig;
    const std::string a = rig.host("a", "nj", 2);
    const std::string first = rig.hold(rig.demand(), "s-1"), second = rig.hold(rig.demand(), "s-2");
    EXPECT_EQ(rig.goes_to(rig.demand()), "");
    rig.estate.release(first);
    EXPECT_EQ(rig.goes_to(rig.demand()), a);
    EXPECT_EQ(rig.goes_to(rig.demand(2)), "");
    rig.estate.release(second);
    EXPECT_EQ(rig.goes_to(rig.demand(2)), a);
    const std::int64_t before = room(rig.desk).hosts().at(a).free.volume_bytes;
    rig.estate.volumes.add({.id = "v-1", .host = a, .size_bytes = std::int64_t{1} << 30});
    EXPECT_EQ(before - room(rig.desk).hosts().at(a).free.volume_bytes, room_of(std::int64_t{1} << 30));
    rig.estate.volumes.erase("v-1");
    EXPECT_EQ(room(rig.desk).hosts().at(a).free.volume_bytes, before);
    EXPECT_EQ(room_is_wrong(rig.desk), "");
}

TEST(Room, AVolumeMayBeNamedLikeAClaim) {
    RoomRig rig;
    const std::string a = rig.host("a", "nj", 1);
    const std::string held = rig.hold(rig.demand());
    rig.estate.volumes.add({.id = held, .host = a, .size_bytes = std::int64_t{1} << 30});
    EXPECT_EQ(rig.goes_to(rig.demand()), "");
    rig.estate.volumes.erase(held);
    EXPECT_EQ(rig.goes_to(rig.demand()), "") << "the claim is still there";
    rig.estate.release(held);
    EXPECT_EQ(rig.goes_to(rig.demand()), a);
}

TEST(Room, AfterARestoreEachHostCountsOnceItHasSpoken) {
    RoomRig rig;
    const std::string a = rig.host("a", "nj", 1), b = rig.host("b", "nj", 4);
    rig.estate.restores.add({.id = "restore"});
    EXPECT_EQ(rig.goes_to(rig.demand()), "");
    rig.estate.restores.edit("restore").heard.insert(b);
    EXPECT_EQ(rig.goes_to(rig.demand()), b);
    rig.estate.restores.edit("restore").heard.insert(a);
    EXPECT_EQ(rig.goes_to(rig.demand()), a);
    rig.estate.restores.edit("restore").heard.clear();
    EXPECT_EQ(rig.goes_to(rig.demand()), "");
    rig.estate.restores.erase("restore");
    EXPECT_EQ(rig.goes_to(rig.demand()), a);
}

TEST(Room, WhatIsUsuallyAskedIsLearnedFromTheNewest) {
    RoomRig rig;
    rig.host("a", "nj", 8);
    constexpr int newest = Workload::remembered;
    constexpr int older = newest / 2;
    for (int i = 0; i < older + newest; ++i) {
        Instance living;
        living.id = fmt::format("i-{}", i);
        living.spec_name = i < older ? "small" : "pair";
        living.created_at = i;
        rig.estate.instances.add(std::move(living));
    }
    Room next;
    next.build(rig.desk);
    EXPECT_THAT(next.learned().sketch(),
                ElementsAre(Field(&Typical::shape, TypicalShape{4000, 2, gpu_whole})));
}

TEST(Room, WhatIsOnlySeenCountsToo) {
    RoomRig rig;
    const std::string a = rig.host("a", "nj", 3);
    EXPECT_EQ(rig.goes_to(rig.demand(3)), a);
    rig.said[a]["i-stranger"] = {.state = "running", .gpus = {"GPU-a-0"}};
    rig.report(a), rig.report(a);
    EXPECT_EQ(rig.goes_to(rig.demand(3)), "");
    EXPECT_EQ(rig.goes_to(rig.demand(2)), a);
    rig.said[a]["i-stranger"].gpus.push_back("GPU-a-2");
    rig.report(a);
    EXPECT_EQ(rig.goes_to(rig.demand(2)), "");
    rig.said[a].clear();
    rig.report(a), rig.report(a), rig.report(a);
    EXPECT_EQ(rig.goes_to(rig.demand(3)), a);
    rig.estate.restores.add({.id = "restore"});
    EXPECT_EQ(rig.goes_to(rig.demand()), "") << "it has not said since what runs there";
    rig.estate.restores.edit("restore").heard.insert(a);
    EXPECT_EQ(rig.goes_to(rig.demand()), a);
}

TEST(Room, OfHostsAsGoodOneThatHasTheImageIsTaken) {
    RoomRig rig;
    rig.host("a"), rig.host("b"), rig.host("c", "nj", 4);
    rig.live.hosts["h-b"].images = {"docker.io/library/demo:1"};
    EXPECT_EQ(rig.goes_to(rig.demand(), "demo:1"), "h-b");
    EXPECT_EQ(rig.goes_to(rig.demand(), "demo:2"), "h-a");
    EXPECT_EQ(rig.goes_to(rig.demand(1, "lon"), "demo:1"), "");
}

// A host with H100 and A100 is to each demand the GPUs that will do.
TEST(Room, OnHostsWithSeveralModelsTheGpusThatFit) {
    RoomRig rig;
    const std::string mixed = rig.mixed_host("a", "nj", 3, 2);
    const auto wishing = [&](int gpus, const std::string& type, auto change) {
        Demand wanted = demand_of(rig.spec("", gpus, type), "");
        change(wanted.wishes.terms);
        return wanted;
    };
    const auto gets = [&](const Demand& wanted) {
        EXPECT_EQ(room_is_wrong(rig.desk), "");
        const auto at = room(rig.desk).place(rig.desk, wanted).placement;
        return at ? at->gpus : std::vector<std::string>{};
    };
    const std::vector<std::string> a100{"GPU-a-3", "GPU-a-4"};
    EXPECT_EQ(gets(wishing(2, "", [](Terms& terms) { terms.model = "A100"; })), a100);
    EXPECT_EQ(gets(wishing(2, "80GB", [](Terms& terms) { terms.gpu_class = "A100"; })), a100);
    EXPECT_EQ(gets(wishing(2, "A100", [](Terms& terms) { terms.gpu_memory_bytes = 80ll << 30; })), a100);
    EXPECT_EQ(gets(wishing(3, "", [](Terms& terms) { terms.gpu_class = "H100"; })).size(), 3u);
    EXPECT_EQ(gets(wishing(1, "A100", [](Terms& terms) { terms.gpu_class = "H100"; })).size(), 0u);
    EXPECT_EQ(gets(wishing(4, "", [](Terms&) {})).size(), 0u) << "all of one model";
    EXPECT_EQ(
        rig.denied(wishing(3, "", [](Terms& terms) { terms.model = "A100"; })),
        "No host could take 3 A100 GPUs, 4 CPUs, 16 GiB memory, even if nothing ran there: 1 host has too "
        "few GPUs. Ask for 2 GPUs.");

    // Both are the one host: to its CPUs, and to those of a group.
    Demand apart = wishing(1, "H100", [](Terms&) {});
    apart.kind = group_key("acme", "web"), apart.wishes.group = "web", apart.wishes.apart = Area::host;
    const auto at = room(rig.desk).place(rig.desk, apart).placement;
    ASSERT_TRUE(at);
    claim(rig.desk, apart, *at, ClaimUse::instance, {.tenant = "acme", .holder = "i-1"});
    apart.gpu_type = "A100";
    EXPECT_EQ(rig.goes_to(apart), "");
    Demand large = wishing(1, "A100", [](Terms&) {});
    large.cpu_milli = 57'000;
    rig.hold(large);
    EXPECT_EQ(rig.goes_to(rig.demand()), "") << "3 CPUs are left";
    EXPECT_EQ(room(rig.desk).hosts().at(mixed).free.gpus.size(), 3u);
}

TEST(Room, GangsSharesAndSlicesGoOnThePartOfAHostThatFits) {
    RoomRig rig;
    const std::string mixed = rig.mixed_host("a", "nj", 3, 2);
    for (GpuFacts& gpu : rig.estate.hosts.edit(mixed).facts.gpus) gpu.mig = MigMode::enabled;
    const auto planned = [&](std::vector<std::string> types, Shape shape) {
        Gang gang{.together = Area::host};
        std::vector<Demand> demands;
        for (const std::string& type : types) {
            demands.push_back(demand_of(rig.spec("", 1, ""), ""));
            demands.back().wishes.terms.model = type;
            gang.tasks.push_back({.shape = shape});
        }
        std::vector<std::string> gpus;
        for (const Place& place : room(rig.desk).plan(demands, gang).places)
            gpus.push_back(fmt::format("{} {}", place.host, fmt::join(place.gpus, " ")));
        return gpus;
    };
    const Shape whole{.gpu_milli = gpu_whole}, share{.gpu_milli = 600, .owner = 1};
    const Shape slice{.gpu_milli = gpu_whole, .profile = mig_profile_number("4g.40gb")};
    for (const Shape& shape : {whole, share, slice}) {
        EXPECT_THAT(planned({"A100", "A100"}, shape),
                    ::testing::UnorderedElementsAre("h-a GPU-a-3", "h-a GPU-a-4"));
        EXPECT_EQ(planned({"A100", "A100", "H100", "H100", "H100"}, shape).size(), 5u);
        EXPECT_EQ(planned({"A100", "A100", "A100"}, shape).size(), 0u);
    }
    EXPECT_EQ(room_is_wrong(rig.desk), "");
}

// GPUs of two models in one host, a host with more GPUs than the index counts, and GPUs that are broken.
TEST(Room, OddHostsAreCountedOneByOne) {
    RoomRig rig;
    const std::string mixed = rig.host("a", "nj", 2);
    auto facts = rig.estate.hosts.at(mixed).facts;
    facts.gpus[1].model = "A100 80GB";
    rig.estate.hosts.edit(mixed).facts = facts;
    EXPECT_EQ(rig.goes_to(rig.demand()), mixed);
    EXPECT_EQ(rig.goes_to(rig.demand(2)), "") << "one of them is another";
    const auto at = room(rig.desk).place(rig.desk, demand_of(rig.spec("", 1, "A100"), "")).placement;
    ASSERT_TRUE(at);
    EXPECT_EQ(at->gpus, std::vector<std::string>{"GPU-a-1"});
    const std::string large = rig.host("large", "lon", 20);
    EXPECT_EQ(rig.goes_to(rig.demand(20)), large);
    EXPECT_EQ(rig.goes_to(rig.demand(21)), "");
    const std::string broken = rig.host("broken", "lon", 3);
    rig.estate.hosts.edit(broken).gpu_states["GPU-broken-0"] = {GpuHealth::faulty, "xid 79"};
    ASSERT_TRUE(cordon_host(rig.desk, large, true));
    EXPECT_EQ(rig.goes_to(rig.demand(2)), broken);
    EXPECT_EQ(rig.goes_to(rig.demand(3)), "");
}

TEST(Room, SpreadsOverZones) {
    RoomRig rig;
    rig.host("a", "nj", 1), rig.host("b", "lon", 8);
    const auto zone = [&](const Demand& wanted, const std::map<std::string, int>& per_zone) {
        const auto at = room(rig.desk).place_spread(rig.desk, wanted, per_zone).placement;
        return at ? at->zone : "";
    };
    EXPECT_EQ(zone(rig.demand(), {{"nj", 1}}), "lon") << "none in lon so far";
    EXPECT_EQ(zone(rig.demand(), {{"nj", 1}, {"lon", 2}}), "nj");
    EXPECT_EQ(zone(rig.demand(2), {{"lon", 7}}), "lon") << "where it fits";
    EXPECT_EQ(zone(rig.demand(1, "nj"), {{"nj", 9}}), "nj");
    EXPECT_EQ(zone(rig.demand(9), {}), "");
    EXPECT_TRUE(room(rig.desk).place_spread(rig.desk, rig.demand(9), {}).denial->never);
}

TEST(Room, WhatIsPretendedIsForgotten) {
    RoomRig rig;
    const std::string a = rig.host("a", "nj", 1);
    Room& rooms = room(rig.desk);
    rooms.pretend(rig.demand(), *rooms.place(rig.desk, rig.demand()).placement);
    EXPECT_FALSE(rooms.place(rig.desk, rig.demand()).placement);
    EXPECT_EQ(rig.goes_to(rig.demand()), a);
}

TEST(Room, OnlyHostsThatAreAsIsWished) {
    RoomRig rig;
    rig.host("a"), rig.host("b", "lon"), rig.host("c", "lon", 1);
    Host& b = rig.estate.hosts.edit("h-b");
    b.rack = "r1", b.labels = {{"disk", "nvme"}}, b.owner = "rackhouse";
    b.facts.user_namespaces = true;
    rig.estate.zones.edit("lon").spot = Spot{51'507'000, -128'000};
    rig.estate.zones.edit("nj").spot = Spot{40'730'000, -74'170'000};
    const auto wishing = [&](auto change) {
        Demand wanted = rig.demand();
        change(wanted.wishes.terms);
        return wanted;
    };
    const Spot reading{51'454'000, -978'000};
    EXPECT_EQ(rig.goes_to(wishing([](Terms& terms) { terms.racks = {"r1", "r2"}; })), "h-b");
    EXPECT_EQ(rig.goes_to(wishing([](Terms& terms) { terms.labels = {{"disk", "nvme"}}; })), "h-b");
    EXPECT_EQ(rig.goes_to(wishing([](Terms& terms) { terms.labels = {{"disk", "hdd"}}; })), "");
    EXPECT_EQ(rig.goes_to(wishing([](Terms& terms) { terms.isolation = Isolation::user_namespace; })), "h-b");
    EXPECT_EQ(rig.goes_to(wishing([](Terms& terms) { terms.isolation = Isolation::vm; })), "");
    EXPECT_EQ(rig.goes_to(wishing([&](Terms& terms) { terms.near = Nearness{reading, 100}; })), "h-c");
    EXPECT_EQ(rig.goes_to(wishing([&](Terms& terms) { terms.near = Nearness{reading, 10}; })), "");
    EXPECT_EQ(rig.goes_to(wishing([](Terms& terms) { terms.hosts = {"h-a", "h-b"}, terms.zones = {"nj"}; })),
              "h-a");
    EXPECT_EQ(rig.goes_to(wishing([](Terms& terms) { terms.gpu_memory_bytes = std::int64_t{80} << 30; })),
              "h-c");
    EXPECT_EQ(rig.goes_to(wishing([](Terms& terms) { terms.gpu_memory_bytes = std::int64_t{81} << 30; })),
              "");
    EXPECT_EQ(rig.goes_to(wishing([](Terms& terms) { terms.gpu_class = "H100", terms.model = "sxm5"; })),
              "h-c");
    const auto trusted = wishing([](Terms& terms) { terms.trust = Trust::trusted, terms.racks = {"r1"}; });
    EXPECT_EQ(rig.goes_to(trusted), "");
    EXPECT_EQ(rig.denied(trusted),
              "No host could take 1 H100 GPU, 4 CPUs, 16 GiB memory, even if nothing ran there: 2 hosts are "
              "in other "
              "racks, 1 is not trusted enough. Ask for no rack.");
    rig.estate.hosts.edit("h-b").trust = Trust::trusted;
    EXPECT_EQ(rig.goes_to(trusted), "h-b");
    EXPECT_EQ(room_is_wrong(rig.desk), "");
}

TEST(Room, GroupsLieApartAndTogether) {
    RoomRig rig;
    rig.host("a"), rig.host("b", "lon"), rig.host("c", "lon");
    const auto of_group = [&](auto change) {
        Demand wanted = rig.demand();
        wanted.wishes.group = "web", wanted.kind = group_key("acme", "web");
        change(wanted.wishes);
        return wanted;
    };
    const auto any = of_group([](Wishes&) {});
    const auto apart = of_group([](Wishes& wishes) { wishes.apart = Area::host; });
    const auto apart_zones = of_group([](Wishes& wishes) { wishes.apart = Area::zone; });
    const auto spread = of_group([](Wishes& wishes) { wishes.spread = Area::host; });
    const auto pack = of_group([](Wishes& wishes) { wishes.pack = Area::zone; });
    const auto run_on = [&](const Demand& wanted) {
        const auto at = room(rig.desk).place(rig.desk, wanted).placement;
        HOSTLER_ASSERT(at);
        return claim(rig.desk, wanted, *at, ClaimUse::instance,
                     {.tenant = "acme", .holder = "i-" + std::to_string(rig.random.next())})
            .id;
    };
    const std::string first = run_on(any);
    EXPECT_EQ(rig.goes_to(pack), "h-a");
    EXPECT_EQ(rig.goes_to(apart), "h-b");
    EXPECT_EQ(rig.goes_to(spread), "h-b");
    EXPECT_EQ(rig.goes_to(apart_zones), "h-b");
    Demand others = apart;
    others.kind = group_key("globex", "web");
    EXPECT_EQ(rig.goes_to(others), "h-a") << "another tenant's group is another one";
    run_on(apart), run_on(apart);
    EXPECT_EQ(rig.goes_to(apart), "");
    EXPECT_EQ(
        rig.denied(apart),
        "No host can take 1 H100 GPU, 4 CPUs, 16 GiB memory: 3 hosts have or are next to others of its kind. "
        "Let them lie next to each other.");
    Demand moving = apart;
    moving.leaves = "h-a";
    EXPECT_EQ(rig.goes_to(moving), "h-a") << "it is not in its own way";
    rig.estate.pass_on(first, ClaimUse::leaving, {"acme", "default", "i-1"});
    EXPECT_EQ(rig.goes_to(apart), "h-a") << "what leaves is no neighbour";
    EXPECT_EQ(room_is_wrong(rig.desk), "");
}

TEST(Room, GpusAreLinkedAsIsWished) {
    RoomRig rig;
    const std::string a = rig.host("a", "nj", 4);
    auto facts = rig.estate.hosts.at(a).facts;
    facts.topology = {{"GPU-a-1", "GPU-a-3", GpuLinkKind::nvlink, 4}};
    rig.estate.hosts.edit(a).facts = facts;
    Demand pair = rig.demand(2);
    pair.wishes.link = Link::nvlink;
    const auto at = room(rig.desk).place(rig.desk, pair).placement;
    ASSERT_TRUE(at);
    EXPECT_EQ(at->gpus, (std::vector<std::string>{"GPU-a-1", "GPU-a-3"}));
    EXPECT_TRUE(room(rig.desk).suits(pair, a, at->gpus));
    EXPECT_FALSE(room(rig.desk).suits(pair, a, {"GPU-a-0", "GPU-a-1"}));
    claim(rig.desk, pair, *at, ClaimUse::stock, {.holder = "s-1"});
    EXPECT_EQ(
        rig.denied(pair),
        "No host can take 2 H100 GPUs, 4 CPUs, 16 GiB memory: 1 host has GPUs that are not linked like that. "
        "Ask for GPUs that reach each other in any way.");
    pair.wishes.link = Link::any, pair.wishes.link_wanted = Link::nvlink;
    EXPECT_EQ(rig.goes_to(pair), a) << "wanted is not required";
}

TEST(Room, PlansWhatNobodyHolds) {
    RoomRig rig;
    rig.host("a", "nj", 2), rig.host("b", "lon", 4);
    const auto tasks = [](int count, int gpus, int milli = gpu_whole) {
        std::pair<std::vector<Demand>, Gang> asked;
        for (int i = 0; i < count; ++i) {
            asked.first.push_back({.gpu_type = "h100", .gpu_count = gpus});
            asked.second.tasks.push_back(
                {.shape = {.gpu_milli = milli, .owner = milli < gpu_whole ? 1u : 0u}});
        }
        return asked;
    };
    const auto plan = [&](auto asked, Area together = Area::none) {
        asked.second.together = together;
        const Plan found = room(rig.desk).plan(asked.first, asked.second);
        std::string text;
        for (const Place& place : found.places)
            text += place.host + " " + std::to_string(place.gpus.size()) + " ";
        EXPECT_EQ(room_is_wrong(rig.desk), "") << "nothing is held";
        return found.denial ? found.denial->sentence : text;
    };
    EXPECT_THAT(plan(tasks(3, 2)), AllOf(HasSubstr("h-a 2 "), HasSubstr("h-b 2 ")));
    EXPECT_EQ(plan(tasks(2, 2), Area::host), "h-b 2 h-b 2 ");
    EXPECT_EQ(plan(tasks(3, 2), Area::zone), "2 of 3 tasks fit in one zone.");
    EXPECT_THAT(plan(tasks(3, 1, 300)), AnyOf("h-a 1 h-a 1 h-a 1 ", "h-b 1 h-b 1 h-b 1 "));
    auto slice = tasks(1, 1);
    slice.second.tasks[0].shape.profile = mig_profile_number("1g.10gb");
    EXPECT_EQ(plan(slice),
              "No host could take a slice 1g.10gb, even if nothing ran there: "
              "2 hosts have GPUs without such slices.");
    for (const char* id : {"h-a", "h-b"})
        for (GpuFacts& gpu : rig.estate.hosts.edit(id).facts.gpus) gpu.mig = MigMode::enabled;
    EXPECT_THAT(plan(slice), AnyOf("h-a 1 ", "h-b 1 "));
}

// What is usually asked is learned from those that come, and by the next master from those that live.
TEST(Room, LearnsFromInstances) {
    RoomRig rig;
    rig.host("a", "nj", 8), rig.host("b", "nj", 8);
    (void)room(rig.desk);
    for (int i = 0; i < 12; ++i) {
        auto wanted = DeskRig::request(std::to_string(i));
        if (i % 3 == 0) wanted.spec_name = "pair";
        ASSERT_TRUE(rig.start(wanted));
        rig.pass(1);
    }
    EXPECT_GT(room(rig.desk).learned().sketch().size(), 1u);
    Room next;
    next.build(rig.desk);
    EXPECT_EQ(next.learned().sketch(), room(rig.desk).learned().sketch());
    EXPECT_EQ(next.learned().by_models(), room(rig.desk).learned().by_models());
}

}  // namespace
}  // namespace hostler::master
