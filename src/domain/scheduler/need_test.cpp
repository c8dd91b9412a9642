#include "domain/scheduler/need.h"

#include <gtest/gtest.h>

#include <random>

#include "domain/scheduler/denial.h"
#include "domain/scheduler/testing/plain.h"

namespace hostler {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;
constexpr std::array models = {"A100 SXM4 80GB", "H100 SXM5 80GB", "A30 24GB", "L4 24GB"};
constexpr std::array profiles = {"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb",
                                 "4g.40gb", "7g.80gb",    "1g.6gb",  "2g.12gb"};

// Random hosts and needs of every kind from one seed, on the fleet and on a plain list beside it.
class Estate {
public:
    explicit Estate(unsigned seed) : dice_(seed) {
        for (int i = 0; i < 24; ++i) add();
    }

    void step() {
        const int what = roll(100);
        if (what < 2) add();
        if (what == 2) remove();
        if (what > 2 && what < 6) close_or_open();
        if (what == 6) describe();
        if (what > 6 && what < 11) hold();
        if (what >= 11 && what < 36 && !running_.empty()) release(roll(static_cast<int>(running_.size())));
        if (what >= 36 && what < 92) ask();
        if (what >= 92) ask_many();
        if (nosy) pry();
        ++steps_;
    }

    bool nosy = false;            // Asks for much that is not wanted, in between.
    std::vector<Choice> claimed;  // All that ever was, in order.

    int parts = 0, placed = 0, refused = 0, never = 0, gangs = 0, gangs_refused = 0, slices = 0,
        admitted_by_change = 0;

private:
    int roll(int below) { return static_cast<int>(dice_() % static_cast<unsigned>(below)); }
    bool once_in(int times) { return roll(times) == 0; }

    void pry() {
        std::swap(dice_, others_);
        for (int i = 0; i < 4; ++i) (void)fleet_.choose(need());
        (void)explain(fleet_, Gang{.tasks = {need(), need()}});
        std::swap(dice_, others_);
    }

    Traits traits(int model) {
        Traits made{.name = "h" + std::to_string(names_++), .zone = std::string{"z"} + char('0' + roll(3))};
        if (!once_in(4)) made.rack = made.zone + "r" + char('0' + roll(3));
        if (!once_in(4)) made.spot = Spot{roll(60) * 1'000'000, roll(60) * 1'000'000};
        made.gpu_class = once_in(2) ? "gold" : "silver";
        made.model = models[static_cast<std::size_t>(model)];
        made.vendor = once_in(5) ? GpuVendor::amd : GpuVendor::nvidia;
        made.gpu_memory_bytes = (model == 2 || model == 3 ? 24 : 80) * gib;
        made.tier = static_cast<GpuTier>(roll(5));
        made.isolations = static_cast<std::uint8_t>(roll(16) | (once_in(3) ? 0 : 2));
        made.trust = once_in(3) ? Trust::community : Trust::trusted;
        if (!once_in(6)) made.price_micros = 1'000'000 * roll(5);
        if (once_in(2)) made.labels["os"] = once_in(2) ? "a" : "b";
        return made;
    }

    Topology topology() {
        Topology made;
        const int size = 1 << roll(4);
        for (int i = 0; i < gpus_max; ++i) {
            made.nvlink[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i / size);
            made.pcie[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i / 2);
            made.numa[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i / 4);
        }
        return made;
    }

    void add() {
        const int model = roll(4), gpus = std::array{0, 1, 2, 4, 8, 8}[static_cast<std::size_t>(roll(6))];
        testing::PlainHost host{.whole = {.model = model,
                                          .cpu_milli = (16 << roll(3)) * 1000,
                                          .memory_bytes = (128 << roll(3)) * gib,
                                          .gpus = gpus,
                                          .disk_bytes = (100 << roll(3)) * gib},
                                .traits = traits(model)};
        for (int i = 0; i < gpus; ++i) host.whole.free[static_cast<std::size_t>(i)] = gpu_whole;
        if (!once_in(3)) host.topology = topology();
        const HostNumber number = fleet_.add(host.whole, host.traits, host.topology);
        if (number >= plain_.hosts.size()) plain_.hosts.resize(number + 1);
        ASSERT_FALSE(plain_.hosts[number]) << "a number in use";
        plain_.hosts[number] = host;
        if (gpus > 0 && once_in(3)) add_parts(number);
    }

    // It has GPUs of other models, too.
    void add_parts(HostNumber of) {
        for (int more = 1 + roll(2); more > 0; --more) {
            testing::PlainHost part = *plain_.hosts[of];
            part.whole.model = roll(4);
            part.whole.gpus = 1 + roll(4);
            part.whole.free = {};
            for (int i = 0; i < part.whole.gpus; ++i)
                part.whole.free[static_cast<std::size_t>(i)] = gpu_whole;
            part.traits = with_gpus(part.traits, part.whole.model);
            part.topology.reset();
            if (!once_in(3)) part.topology = topology();
            const HostNumber number = fleet_.add_part(of, part.whole, part.traits, part.topology);
            if (number >= plain_.hosts.size()) plain_.hosts.resize(number + 1);
            ASSERT_FALSE(plain_.hosts[number]) << "a number in use";
            plain_.hosts[number] = part;
            ++parts;
        }
    }
    Traits with_gpus(const Traits& host, int model) {
        Traits made = traits(model);
        --names_;
        made.name = host.name, made.zone = host.zone, made.rack = host.rack, made.spot = host.spot;
        made.trust = host.trust, made.labels = host.labels;
        return made;
    }

    std::optional<HostNumber> any_host() {
        const auto number = static_cast<HostNumber>(roll(static_cast<int>(plain_.hosts.size())));
        return plain_.hosts[number] ? std::optional{number} : std::nullopt;
    }

    void remove() {
        const auto number = any_host();
        if (!number) return;
        const auto gone = plain_.parts(*number);
        std::erase_if(running_,
                      [&](const Choice& choice) { return std::ranges::count(gone, choice.host) > 0; });
        for (const HostNumber part : gone) plain_.hosts[part].reset();
        fleet_.remove(*number);
    }

    void close_or_open() {
        const auto number = any_host();
        if (!number) return;
        auto closed = plain_.hosts[*number]->closed;
        if (closed) {
            closed.reset();
            fleet_.reopen(*number);
        } else if (once_in(2)) {
            closed = static_cast<Obstacle>(static_cast<int>(Obstacle::cordoned) + roll(5));
            fleet_.close(*number, *closed);
        }
        for (const HostNumber part : plain_.parts(*number)) plain_.hosts[part]->closed = closed;
    }

    void describe() {
        const auto number = any_host();
        if (!number) return;
        testing::PlainHost& host = *plain_.hosts[*number];
        Traits fresh = traits(host.whole.model);
        fresh.name = host.traits.name;
        for (const HostNumber part : plain_.parts(*number)) {
            Traits& its = plain_.hosts[part]->traits;
            its = part == *number ? fresh : with_gpus(fresh, plain_.hosts[part]->whole.model);
            fleet_.describe(part, its);
        }
    }

    void hold() {
        const auto number = any_host();
        if (!number) return;
        const std::string name = std::string{"v"} + char('0' + roll(4));
        const bool goes = once_in(4) && plain_.hosts[*number]->held.contains(name);
        goes ? fleet_.let_go(*number, name) : fleet_.hold(*number, name);
        for (const HostNumber part : plain_.parts(*number)) {
            auto& held = plain_.hosts[part]->held;
            goes ? void(held.erase(name)) : void(held.insert(name));
        }
    }

    Shape shape() {
        Shape made{.cpu_milli = roll(24) * 1000, .memory_bytes = roll(64) * gib};
        if (once_in(3)) made.disk_bytes = roll(80) * gib;
        const int kind = roll(10);
        if (kind < 1) return made;
        made.gpus = 1, made.gpu_milli = gpu_whole;
        if (kind < 4) {
            made.gpu_milli = 50 * (1 + roll(19));
            made.owner = static_cast<std::uint32_t>(1 + roll(3));
        } else if (kind < 7) {
            made.profile = mig_profile_number(profiles[static_cast<std::size_t>(roll(std::ssize(profiles)))]);
        } else {
            made.gpus = 1 << roll(5);
            if (once_in(3)) made.link = static_cast<Link>(roll(4));
        }
        if (once_in(8)) made.models = static_cast<std::uint64_t>(1 + roll(15));
        return made;
    }

    Terms terms() {
        Terms made;
        if (once_in(6)) made.zones = {std::string{"z"} + char('0' + roll(4))};
        if (once_in(12)) made.racks = {std::string{"z"} + char('0' + roll(3)) + "r" + char('0' + roll(3))};
        if (once_in(20)) made.hosts = {"h" + std::to_string(roll(names_))};
        if (once_in(12)) made.near = Terms::Near{{30'000'000, 30'000'000}, 500 * roll(10)};
        if (once_in(12)) made.gpu_class = once_in(2) ? "gold" : "silver";
        if (once_in(12))
            made.model = std::array{"A100", "H100", "A30", "L4"}[static_cast<std::size_t>(roll(4))];
        if (once_in(16)) made.vendor = once_in(3) ? GpuVendor::amd : GpuVendor::nvidia;
        if (once_in(12)) made.gpu_memory_bytes = 40 * gib;
        if (once_in(12)) made.tier = static_cast<GpuTier>(roll(5));
        if (once_in(12)) made.isolation = static_cast<Isolation>(roll(4));
        if (once_in(12)) made.trust = Trust::trusted;
        if (once_in(12)) made.price_micros = 1'000'000 * roll(4);
        if (once_in(12)) made.labels["os"] = once_in(2) ? "a" : "b";
        return made;
    }

    Need need() {
        Need made{.shape = shape()};
        if (once_in(2)) made.terms = terms();
        if (once_in(12)) made.volumes = {std::string{"v"} + char('0' + roll(4))};
        if (once_in(4)) made.images = {std::string{"v"} + char('0' + roll(4)), "v9"};
        if (once_in(4)) made.link_wanted = static_cast<Link>(roll(4));
        if (made.shape.profile != 0 || made.shape.shares()) made.link_wanted = Link::any;
        if (once_in(3)) {
            made.kind = static_cast<Kind>(1 + roll(3));
            if (once_in(3)) made.apart = static_cast<Area>(roll(4));
            if (once_in(2)) made.spread = static_cast<Area>(roll(4));
            if (made.spread == Area::none && once_in(2)) made.pack = static_cast<Area>(roll(4));
        }
        return made;
    }

    void apply(const Choice& choice) {
        plain_.run(choice);
        running_.push_back(choice);
        claimed.push_back(choice);
        check(choice.host);
    }

    void check(HostNumber host) {
        for (const HostNumber part : plain_.parts(host)) {
            ASSERT_TRUE(testing::Plain::sound(*plain_.hosts[part])) << "a claim too many, step " << steps_;
            ASSERT_EQ(testing::Plain::free(*plain_.hosts[part]), fleet_.at(part)) << "step " << steps_;
        }
    }

    void release(int which) {
        const Choice choice = running_[static_cast<std::size_t>(which)];
        running_.erase(running_.begin() + which);
        plain_.end(choice);
        fleet_.release(choice);
        check(choice.host);
    }

    void ask() {
        const Need wanted = once_in(2) || asked_.empty() ? need() : asked_[dice_() % asked_.size()];
        if (asked_.size() < 80) asked_.push_back(wanted);
        fleet_.arrive(wanted);
        const auto found = fleet_.choose(wanted);
        const auto expected = plain_.choose(wanted, fleet_);
        ASSERT_EQ(found.has_value(), expected.has_value()) << "step " << steps_;
        const auto denial = explain(fleet_, wanted);
        ASSERT_EQ(denial.has_value(), !found) << "step " << steps_ << (denial ? denial->sentence : "");
        ASSERT_TRUE(found || !fleet_.best(wanted, [](HostNumber) { return true; }, {})) << "step " << steps_;
        if (!found) return refuse(wanted, *denial);
        ASSERT_EQ(found->host, *expected) << "step " << steps_;
        const auto fullest = fleet_.best(wanted, [](HostNumber) { return true; }, {});
        ASSERT_TRUE(fullest && plain_.fits(wanted, wanted.shape, *fullest)) << "step " << steps_;
        const auto alone = [&](HostNumber host) { return host == found->host; };
        ASSERT_EQ(fleet_.best(wanted, alone, {}), found->host) << "step " << steps_;
        ASSERT_TRUE(fleet_.claim(*found)) << "step " << steps_;
        apply(*found);
        ++placed;
        slices += found->profile != 0;
    }

    // What is said would help does.
    void refuse(const Need& wanted, const Denial& denial) {
        ++refused;
        never += denial.never;
        bool possible = false;
        for (HostNumber number = 0; number < plain_.hosts.size(); ++number)
            possible = possible || (plain_.hosts[number] && plain_.fits_when_empty(wanted, number));
        ASSERT_EQ(denial.never, !possible) << "step " << steps_ << " " << denial.sentence;
        ASSERT_FALSE(denial.reasons.empty() || denial.changes.empty() || denial.would_help.empty());
        int hosts = 0;
        for (const Reason& reason : denial.reasons) hosts += reason.hosts;
        const auto known = fleet_.hosts();
        ASSERT_EQ(hosts, std::ranges::count_if(
                             known, [&](HostNumber host) { return fleet_.first_part(host) == host; }))
            << denial.sentence;
        Fleet then = fleet_;
        Need less = wanted;
        const HostNumber host = denial.changes.front().host;
        bool wait = false, reopen = denial.never;
        for (const Change& change : denial.changes) {
            ASSERT_EQ(change.host, host);
            relax(less, change, then);
            wait = wait || change.by == Change::By::waiting;
            reopen = reopen || change.by == Change::By::opening;
        }
        for (const Choice& choice :
             running_)  // What could never be is told for an estate where nothing runs.
            if (denial.never || (wait && then.first_part(choice.host) == then.first_part(host)))
                then.release(choice);
        if (reopen) then.reopen(host);
        ASSERT_TRUE(then.choose(less))
            << "step " << steps_ << " " << denial.sentence << " " << denial.would_help;
        ++admitted_by_change;
    }

    void ask_many() {
        Gang gang;
        const bool alike = once_in(2);
        const int count = 2 + roll(6);
        for (int i = 0; i < count; ++i) gang.tasks.push_back(alike && i > 0 ? gang.tasks.front() : need());
        if (once_in(2)) gang.together = static_cast<Area>(roll(4));
        if (once_in(2)) gang.wanted_together = static_cast<Area>(roll(4));
        const auto chosen = fleet_.choose(gang);
        const auto denial = explain(fleet_, gang);
        ASSERT_EQ(denial.has_value(), chosen.empty()) << "step " << steps_;
        if (chosen.empty()) return refuse_many(gang, *denial, alike);
        ASSERT_EQ(chosen.size(), gang.tasks.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            ASSERT_TRUE(plain_.fits_when_empty(gang.tasks[i], chosen[i].host)) << "step " << steps_;
            ASSERT_FALSE(plain_.hosts[chosen[i].host]->closed) << "step " << steps_;
            ASSERT_TRUE(fleet_.claim(chosen[i])) << "step " << steps_;
            apply(chosen[i]);
        }
        for (std::size_t i = 1; i < chosen.size(); ++i) {
            const Traits &a = plain_.hosts[chosen[0].host]->traits, &b = plain_.hosts[chosen[i].host]->traits;
            if (gang.together == Area::host) ASSERT_EQ(a.name, b.name);
            if (gang.together == Area::rack) ASSERT_EQ(a.rack, b.rack);
            if (gang.together == Area::zone) ASSERT_EQ(a.zone, b.zone);
        }
        ++gangs;
    }

    void refuse_many(const Gang& gang, const Denial& denial, bool alike) {
        ++gangs_refused;
        ASSERT_LT(denial.fitting.size(), gang.tasks.size());
        ASSERT_FALSE(denial.sentence.empty() || denial.would_help.empty());
        if (!denial.fitting.empty()) {
            Gang fewer = gang;
            fewer.tasks.clear();
            for (const std::size_t i : denial.fitting) fewer.tasks.push_back(gang.tasks[i]);
            ASSERT_FALSE(fleet_.choose(fewer).empty()) << "step " << steps_;
        }
        if (!alike || gang.together != Area::none) return;
        // Of tasks that are alike as many fit in whatever order they are placed: one after the other,
        // anywhere.
        testing::Plain then = plain_;
        Fleet follow = fleet_;
        std::size_t count = 0;
        while (const auto host = then.choose(gang.tasks.front(), follow)) {
            const auto choice = follow.choose(gang.tasks.front());
            ASSERT_TRUE(choice && follow.claim(*choice));
            then.run(*choice);
            if (++count == gang.tasks.size()) break;
        }
        ASSERT_EQ(count, denial.fitting.size()) << "step " << steps_;
    }

    std::mt19937 dice_, others_;
    Fleet fleet_;
    testing::Plain plain_;
    std::vector<Choice> running_;
    std::vector<Need> asked_;
    int names_ = 0, steps_ = 0;
};

TEST(Need, GoesWhereLookingAtEveryHostWouldPutIt) {
    int gangs = 0, gangs_refused = 0;
    for (unsigned seed = 1; seed <= 4; ++seed) {
        Estate estate{seed};
        for (int i = 0; i < 500 && !::testing::Test::HasFatalFailure(); ++i) estate.step();
        if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
        EXPECT_GT(estate.parts, 4) << "seed " << seed;
        EXPECT_GT(estate.placed, 50) << "seed " << seed;
        EXPECT_GT(estate.slices, 10) << "seed " << seed;
        EXPECT_GT(estate.refused, 20) << "seed " << seed;
        EXPECT_GT(estate.never, 5) << "seed " << seed;
        gangs += estate.gangs;
        gangs_refused += estate.gangs_refused;
        EXPECT_EQ(estate.admitted_by_change, estate.refused) << "seed " << seed;
    }
    EXPECT_GT(gangs, 20);
    EXPECT_GT(gangs_refused, 20);
}

TEST(Need, ChoicesDependOnNothingElseThatWasAsked) {
    Estate quiet{7}, nosy{7};
    nosy.nosy = true;
    for (int i = 0; i < 400 && !::testing::Test::HasFatalFailure(); ++i) quiet.step(), nosy.step();
    EXPECT_GT(quiet.claimed.size(), 100U);
    EXPECT_EQ(quiet.claimed, nosy.claimed);
}

TEST(Need, SpotsAreReadAndWritten) {
    for (const char* text : {"40.73,-74.17", "-90,180", "0,0", "0.000001,-0.5"})
        EXPECT_EQ(to_string(parse_spot(text).value()), text);
    EXPECT_EQ(parse_spot("51.5,-0.128")->longitude, -128'000);
    for (const char* text : {"", ",", "1", "91,0", "0,180.1", "1.2345678,0", "a,b", "1.,2", "--1,2", "1,2,3"})
        EXPECT_FALSE(parse_spot(text)) << text;
}

// Those whom somebody else counts are neighbours like those that were claimed.
TEST(Need, NeighboursMayBeCountedFromOutside) {
    Fleet fleet;
    for (const char* name : {"a", "b"})
        fleet.add({.cpu_milli = 8000, .memory_bytes = gib}, {.name = name, .zone = "z"});
    const Need apart{.kind = 1, .apart = Area::host}, spread{.kind = 1, .spread = Area::host};
    fleet.count(0, 1, 2);
    EXPECT_EQ(fleet.choose(apart)->host, 1u);
    EXPECT_EQ(fleet.choose(spread)->host, 1u);
    fleet.count(1, 1, 3);
    EXPECT_FALSE(fleet.choose(apart));
    EXPECT_EQ(fleet.choose(spread)->host, 0u);
    fleet.count(1, 1, 0), fleet.count(0, 1, 0);
    EXPECT_EQ(fleet.choose(apart)->host, 0u);
    EXPECT_EQ(fleet.beside(1, Area::zone, 0), 0);
}

TEST(Need, WhatNobodyInTheFleetKnowsIsExplainedToo) {
    Fleet fleet;
    fleet.add({.cpu_milli = 8000, .memory_bytes = gib}, {.name = "a"});
    fleet.add({.cpu_milli = 1000, .memory_bytes = gib}, {.name = "b"});
    const auto besides = [](HostNumber host) {
        return std::optional{Change{Obstacle::lease, Change::By::opening, host, 0}};
    };
    const auto denial = explain(fleet, Need{.shape = {.cpu_milli = 4000}}, besides);
    ASSERT_TRUE(denial);
    EXPECT_FALSE(denial->never);
    EXPECT_EQ(denial->sentence,
              "No host can take 4 CPUs: 1 host does not keep leases, or may still run it, 1 lacks CPUs.");
}

// choose() offers no such place; who claims one nevertheless is refused.
TEST(Need, AShareIsNotClaimedBesideAnotherOwners) {
    Fleet fleet;
    Machine machine{.cpu_milli = 8000, .memory_bytes = gib, .gpus = 1};
    machine.free[0] = gpu_whole;
    fleet.add(machine);
    const auto first = fleet.choose(Need{.shape = {.gpus = 1, .gpu_milli = 400, .owner = 1}});
    ASSERT_TRUE(first);
    ASSERT_TRUE(fleet.claim(*first));
    Choice beside = *first;
    beside.owner = 2;
    const auto refused = fleet.claim(beside);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_EQ(fleet.at(first->host).free[0], 600);
    EXPECT_TRUE(fleet.claim(*first)) << "its own owner may have more of it";
}

}  // namespace
}  // namespace hostler
