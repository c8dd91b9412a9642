#include "domain/scheduler/fleet.h"

#include <gtest/gtest.h>

#include <random>

#include "domain/scheduler/testing/rescan.h"

namespace hostler {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

Machine machine(int gpus, int model = 0, std::int64_t cpus = 96) {
    Machine made{.model = model, .cpu_milli = cpus * 1000, .memory_bytes = 512 * gib, .gpus = gpus};
    for (int i = 0; i < gpus; ++i) made.free[static_cast<std::size_t>(i)] = gpu_whole;
    return made;
}

Shape whole(int gpus, std::int64_t cpus = 8) {
    return {.cpu_milli = cpus * 1000, .memory_bytes = 32 * gib, .gpus = gpus, .gpu_milli = gpu_whole};
}
Shape part(int milli, std::int64_t cpus = 4) {
    return {.cpu_milli = cpus * 1000, .memory_bytes = 8 * gib, .gpus = 1, .gpu_milli = milli};
}

// Random hosts and tasks from one seed, on the fleet and on a plain list beside it.
class Story {
public:
    explicit Story(unsigned seed) : dice_(seed) {
        for (int i = 0; i < 40; ++i) add();
    }

    void step() {
        const int what = roll(100);
        if (what < 2)
            add();
        else if (what < 3)
            remove();
        else if (what < 5 && !orphans_.empty())
            forget();
        else if (what < 35 && !running_.empty())
            release();
        else
            ask();
        ++steps_;
    }

    int placed = 0, refused = 0, orphans_met = 0, preferred = 0;

private:
    int roll(int below) { return static_cast<int>(dice_() % static_cast<unsigned>(below)); }

    void add() {
        const int sizes[] = {0, 1, 2, 4, 8, 16};
        const Machine made = machine(sizes[roll(6)], roll(5), 8 << roll(5));
        const HostNumber number = fleet_.add(made);
        if (number >= plain_.hosts.size()) plain_.hosts.resize(number + 1);
        ASSERT_FALSE(plain_.hosts[number]) << "a number in use";
        plain_.hosts[number] = made;
    }

    void remove() {
        const auto number = static_cast<HostNumber>(roll(static_cast<int>(plain_.hosts.size())));
        if (!plain_.hosts[number]) return;
        for (const Choice& choice : running_)
            if (choice.host == number) orphans_.push_back(choice);
        std::erase_if(running_, [&](const Choice& choice) { return choice.host == number; });
        plain_.hosts[number].reset();
        fleet_.remove(number);
    }

    Shape shape() {
        const int kind = roll(10);
        Shape made = kind < 1   ? Shape{.cpu_milli = 500 * roll(60), .memory_bytes = roll(64) * gib}
                     : kind < 5 ? part(50 * (1 + roll(19)), roll(16))
                                : whole(1 << roll(5), roll(24));
        if (made.gpus > 0 && roll(4) == 0) made.models = static_cast<std::uint64_t>(1 + roll(31));
        return made;
    }

    void ask() {
        const Shape wanted = roll(3) == 0 || shapes_.empty() ? shape() : shapes_[dice_() % shapes_.size()];
        if (shapes_.size() < 60) shapes_.push_back(wanted);
        fleet_.arrive(wanted);
        const auto found = fleet_.choose(wanted);
        const auto expected = plain_.choose(wanted, fleet_);
        ASSERT_EQ(found.has_value(), expected.has_value()) << "step " << steps_;
        if (!found) return void(++refused);
        ASSERT_EQ(found->host, *expected) << "step " << steps_;
        // The best of some, and of equals one that is preferred.
        const unsigned some = static_cast<unsigned>(dice_());
        const auto admits = [&](HostNumber host) { return (some >> host % 7 & 1) == 0; };
        const auto prefers = [&](HostNumber host) { return (some >> (11 + host % 11) & 1) != 0; };
        const auto free = [&](HostNumber host) { return plain_.hosts[host]->free_milli(); };
        const auto fullest = plain_.best(wanted, fleet_, admits,
                                         [&](HostNumber host) { return std::tuple(free(host), host); });
        const auto liked = plain_.best(wanted, fleet_, admits, [&](HostNumber host) {
            return std::tuple(free(host), !prefers(host), host);
        });
        ASSERT_EQ(fleet_.best(wanted, admits, {}), fullest) << "step " << steps_;
        ASSERT_EQ(fleet_.best(wanted, admits, prefers), liked) << "step " << steps_;
        preferred += liked != fullest;
        ASSERT_TRUE(fleet_.claim(*found));
        apply(*found, -1);
        running_.push_back(*found);
        ++placed;
    }

    void release() {
        const auto which = dice_() % running_.size();
        fleet_.release(running_[which]);
        apply(running_[which], 1);
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
    }

    // What ran on a host that was removed is neither released nor claimed on who has its number now.
    void forget() {
        const Choice choice = orphans_[dice_() % orphans_.size()];
        fleet_.release(choice);
        EXPECT_FALSE(fleet_.claim(choice)) << "step " << steps_;
        if (plain_.hosts[choice.host]) EXPECT_EQ(*plain_.hosts[choice.host], fleet_.at(choice.host));
        ++orphans_met;
    }

    void apply(const Choice& choice, int sign) {
        Machine& host = *plain_.hosts[choice.host];
        host.cpu_milli += sign * choice.cpu_milli;
        host.memory_bytes += sign * choice.memory_bytes;
        for (const int gpu : choice.gpus)
            host.free[static_cast<std::size_t>(gpu)] =
                static_cast<std::int16_t>(host.free[static_cast<std::size_t>(gpu)] + sign * choice.gpu_milli);
        EXPECT_GE(host.cpu_milli, 0);
        EXPECT_GE(host.memory_bytes, 0);
        for (const auto free : host.free) EXPECT_TRUE(free >= 0 && free <= gpu_whole) << "a claim too many";
        EXPECT_EQ(host, fleet_.at(choice.host));
    }

    std::mt19937 dice_;
    Fleet fleet_;
    testing::Rescan plain_;
    std::vector<Choice> running_, orphans_;  // Orphans: held on hosts that were removed.
    std::vector<Shape> shapes_;
    int steps_ = 0;
};

TEST(Fleet, ChoosesWhatLookingAtEveryHostWouldChoose) {
    for (unsigned seed = 1; seed <= 6; ++seed) {
        Story story{seed};
        for (int i = 0; i < 1500 && !HasFatalFailure(); ++i) story.step();
        EXPECT_GT(story.placed, 100) << "seed " << seed;
        EXPECT_GT(story.refused, 20) << "seed " << seed;
        EXPECT_GT(story.orphans_met, 0) << "seed " << seed;
        EXPECT_GT(story.preferred, 0) << "seed " << seed;
    }
}

TEST(Fleet, ForgetsOldChangesAndStillChoosesRight) {
    Fleet fleet;
    testing::Rescan plain;
    for (int i = 0; i < 3; ++i) {
        fleet.add(machine(8));
        plain.hosts.push_back(machine(8));
    }
    const auto seldom = fleet.choose(whole(8));
    ASSERT_TRUE(seldom);
    EXPECT_EQ(seldom->host, 0u);
    for (int i = 0; i < 10'000; ++i) {
        const auto choice = fleet.choose(whole(1));
        ASSERT_TRUE(choice && fleet.claim(*choice));
        if (i < 9'999) fleet.release(*choice);
    }
    plain.hosts[0] = fleet.at(0);
    EXPECT_EQ(fleet.choose(whole(8))->host, plain.choose(whole(8), fleet));
    EXPECT_EQ(fleet.choose(whole(8))->host, 1u);
}

TEST(Fleet, RanksMoreShapesThanItKeeps) {
    Fleet fleet;
    fleet.add(machine(2));
    fleet.add(machine(8));
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < static_cast<int>(Fleet::shapes_max) + 50; ++i) {
            Shape shape = whole(4);
            shape.cpu_milli = 1000 + i;
            ASSERT_EQ(fleet.choose(shape)->host, 1u);
            ASSERT_LE(fleet.shapes(), Fleet::shapes_max);
        }
    EXPECT_EQ(fleet.shapes(), Fleet::shapes_max);
}

TEST(Fleet, RefusesAClaimOnWhatIsTaken) {
    Fleet fleet;
    const auto host = fleet.add(machine(1));
    const auto first = fleet.choose(whole(1)), second = fleet.choose(part(300));
    ASSERT_TRUE(first && second);
    ASSERT_TRUE(fleet.claim(*first));
    const auto late = fleet.claim(*second);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::conflict);
    EXPECT_FALSE(fleet.choose(part(1, 0)));
    EXPECT_FALSE(fleet.claim({.host = 7}));
    EXPECT_FALSE(fleet.claim({.host = host, .gpus = {1}, .gpu_milli = 1}));
    EXPECT_FALSE(fleet.claim({.host = host, .cpu_milli = 96'000}));
    EXPECT_FALSE(fleet.claim({.host = host, .memory_bytes = 500 * gib}));
    fleet.release(*first);
    EXPECT_EQ(fleet.at(host), machine(1)) << "refused claims change nothing";
    fleet.remove(host);
    EXPECT_FALSE(fleet.choose(whole(1)));
    EXPECT_FALSE(fleet.claim(*first));
    EXPECT_EQ(fleet.add(machine(4)), host) << "its number is used again";
    EXPECT_EQ(fleet.choose(whole(4))->host, host);
}

TEST(Fleet, KeepsWholeHostsForThoseWhoAskForThem) {
    Fleet fleet;
    fleet.add(machine(8));
    fleet.add(machine(8));
    for (int i = 0; i < 8; ++i) {
        fleet.arrive(whole(1));
        const auto choice = fleet.choose(whole(1));
        ASSERT_TRUE(choice && fleet.claim(*choice));
        EXPECT_EQ(choice->host, 0u);
    }
    EXPECT_EQ(fleet.choose(whole(8))->host, 1u);
}

TEST(Fleet, SharesGoWhereSharesAre) {
    Fleet fleet;
    fleet.add(machine(4));
    for (int i = 0; i < 6; ++i) {
        fleet.arrive(part(500));
        const auto choice = fleet.choose(part(500));
        ASSERT_TRUE(choice && fleet.claim(*choice));
        EXPECT_EQ(choice->gpus, std::vector<int>{i / 2});
    }
}

// Two hosts with as many GPUs: who needs many CPUs a GPU shall find them.
TEST(Fleet, KeepsCpusForThoseWhoUsuallyNeedThem) {
    Fleet fleet;
    const auto rich = fleet.add(machine(4, 0, 128)), poor = fleet.add(machine(4, 0, 16));
    for (int i = 0; i < 64; ++i) {
        fleet.arrive(whole(1, 24));
        fleet.arrive(whole(1, 4));
    }
    EXPECT_EQ(fleet.choose(whole(1, 4))->host, poor);
    EXPECT_EQ(fleet.choose(whole(1, 24))->host, rich);
}

TEST(Fleet, LeavesAModelToThoseWhoInsistOnIt) {
    Fleet fleet;
    const auto wanted = fleet.add(machine(8, 1)), other = fleet.add(machine(8, 2));
    EXPECT_EQ(fleet.choose(whole(1))->host, wanted) << "as good as the other, and the first";
    Shape insisting = whole(1);
    insisting.models = 1 << 1;
    for (int i = 0; i < 64; ++i) fleet.arrive(insisting);
    EXPECT_EQ(fleet.choose(whole(1))->host, other);
    EXPECT_EQ(fleet.choose(insisting)->host, wanted);
    EXPECT_GT(fleet.penalty(whole(1), 1), 0);
    EXPECT_EQ(fleet.penalty(whole(1), 2), 0);
    EXPECT_EQ(fleet.penalty(insisting, 1), 0) << "it has nowhere else to go";
    const auto rest = fleet.choose(whole(8));
    ASSERT_TRUE(rest && fleet.claim(*rest));
    EXPECT_EQ(fleet.choose(whole(1))->host, wanted) << "better there than nowhere";
}

// Who takes scarce GPUs from others is charged by what is free of them now, whatever came and went.
TEST(Fleet, ChargesByTheHostsThatAreThere) {
    const Shape scarce{.cpu_milli = 1000, .gpus = 1, .gpu_milli = gpu_whole, .models = 1};
    Fleet fleet;
    for (int i = 0; i < 4; ++i) fleet.add(machine(4, 0));
    for (int i = 0; i < 4; ++i) fleet.add(machine(4, 1));
    for (int i = 0; i < 200; ++i) fleet.arrive(i % 2 == 0 ? scarce : whole(1));
    const auto equals_anew = [&] {
        Fleet anew{fleet.workload()};
        for (const HostNumber host : fleet.hosts()) {
            const HostNumber number = anew.add(fleet.at(host));
            if (const auto why = fleet.closed(host)) anew.close(number, *why);
        }
        return fleet.penalty(whole(2), 0) == anew.penalty(whole(2), 0);
    };
    const int before = fleet.penalty(whole(2), 0);
    fleet.remove(0), fleet.remove(1);
    EXPECT_GT(fleet.penalty(whole(2), 0), before) << "less is left of what they insist on";
    EXPECT_TRUE(equals_anew()) << "two are removed";
    fleet.close(2, Obstacle::cordoned);
    EXPECT_TRUE(equals_anew()) << "one is closed";
    fleet.remove(2);
    EXPECT_TRUE(equals_anew()) << "the closed one is removed";
    const auto taken = fleet.choose(scarce);
    ASSERT_TRUE(taken && fleet.claim(*taken));
    EXPECT_TRUE(equals_anew()) << "one GPU is taken";
    fleet.release(*taken);
    fleet.add(machine(4, 0)), fleet.add(machine(4, 0));
    EXPECT_TRUE(equals_anew()) << "two are new";
}

// Hosts that have as much left are worth as much: but for those that are closed, or linked otherwise.
TEST(Fleet, HostsThatLookAlikeAreNotAllAlike) {
    const auto fleet_of = [](bool first_closed, bool second_closed) {
        Fleet fleet;
        for (int i = 0; i < 2; ++i) fleet.add(machine(1));
        if (first_closed) fleet.close(0, Obstacle::cordoned);
        if (second_closed) fleet.close(1, Obstacle::cordoned);
        return fleet;
    };
    EXPECT_EQ(fleet_of(true, false).choose(whole(1))->host, 1u) << "only the first is closed";
    EXPECT_FALSE(fleet_of(true, true).choose(whole(1)));
    Fleet fleet = fleet_of(false, true);
    const auto first = fleet.choose(whole(1));
    ASSERT_TRUE(first && first->host == 0 && fleet.claim(*first));
    EXPECT_FALSE(fleet.choose(whole(1))) << "the second is closed";

    Shape linked = whole(2);
    linked.link = Link::nvlink;
    const Topology joined{};  // All in one group.
    Fleet pairs;
    pairs.add(machine(2), {.name = "a"}, joined);
    pairs.add(machine(2), {.name = "b"});
    const auto pair = pairs.choose(linked);
    ASSERT_TRUE(pair && pair->host == 0 && pairs.claim(*pair));
    EXPECT_FALSE(pairs.choose(linked)) << "of the second it is not known";
    Fleet other;
    other.add(machine(2), {.name = "a"});
    other.add(machine(2), {.name = "b"}, joined);
    EXPECT_EQ(other.choose(linked)->host, 1u);
}

}  // namespace
}  // namespace hostler
