// Hosts that are cut off for longer than a lease, or lose their power: what may move is begun elsewhere, and
// never runs in two places.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "seeds.h"
#include "storm.h"

namespace hostler::simulation {
namespace {

struct Told {
    Findings found;
    int moved = 0;  // Instances that were begun elsewhere.
};

// Each host in turn is silent for longer than a lease and the margin after it, with more trouble meanwhile.
class Silence {
public:
    Silence(std::uint64_t seed, int masters, Mistakes mistakes = {})
        : cloud{seed, std::move(mistakes), 3, 4, {.masters = masters}},
          dice(cloud.world.dice.fork("silence")) {}

    Told ride() {
        if (!cloud.begin({"red-team", "blue-team"})) {
            cloud.found.report(Invariant::settled, "the cloud did not begin");
            return {cloud.found};
        }
        tenants.start();
        cloud.world.run(10s);
        for (int i = 1; i <= 3; ++i) start_mover(fmt::format("mover-{}", i));
        cloud.world.run(30s);
        for (const std::string& host : cloud.hosts) {
            if (cloud.found.any()) break;
            be_silent(host);
        }
        tenants.stop();
        cloud.forget_faults();
        for (int second = 0; second < 400 && !cloud.found.any(); ++second) {
            cloud.world.run(1s);
            cloud.forget_faults();
            if (tenants.done() && cloud.unsettled().empty() && tenants.unsettled(*cloud.term()).empty())
                break;
        }
        if (!cloud.found.any() && !(tenants.done() && cloud.unsettled().empty()))
            cloud.found.report(Invariant::settled, cloud.unsettled());
        if (const auto term = cloud.term(); term && !cloud.found.any()) tenants.check(*term);
        Told told{cloud.found, moved};
        cloud.end();
        return told;
    }

private:
    // One more that may move, so that there is one on most hosts.
    void start_mover(const std::string& name) {
        const std::string body = fmt::format(
            R"({{"lossPolicy":"move","instanceID":"{}","tenantID":"movers","tenantName":"m",)"
            R"("image":"registry.example/app:1","specName":"{}","template":{{"ports":[{{"port":8080,"isProbe":true}}]}}}})",
            name, Tenants::spec);
        for (int tries = 0; tries < 5; ++tries) {
            const auto made =
                cloud.world.ask(cloud.call(std::string{Cloud::operator_key}, "POST", "/gpu-instances", body));
            if (made && made->status == 200) return;
            cloud.world.run(2s);
        }
    }

    void be_silent(const std::string& host) {
        Machine& machine = cloud.world.machine(host);
        count();
        const bool power = dice.chance(0.3);
        if (power)
            machine.crash(Death::power);
        else
            for (const std::string access : {"nj", "lon"}) cloud.world.network.partition(host, access);
        // A new leader waits anew: one is enough.
        const int leader_dies = cloud.masters.size() > 1 ? static_cast<int>(dice.below(90)) : -1;
        const int silent_s = cloud.masters.size() > 1 ? 360 : 260;
        for (int second = 0; second < silent_s && !cloud.found.any(); ++second) {
            if (!power && dice.chance(0.02)) trouble(machine);
            if (second == leader_dies) strike_leader();
            cloud.world.run(1s);
            count();
            for (const std::string& name : cloud.masters)
                if (!cloud.world.machine(name).up() && dice.chance(0.2)) cloud.world.machine(name).boot();
            if (!power && !machine.up() && dice.chance(0.1)) machine.boot();
        }
        cloud.forget_faults();
        cloud.world.run(40s);
        count();
    }

    void trouble(Machine& machine) {
        switch (dice.below(4)) {
            case 0: machine.crash(Death::kill); break;
            case 1: machine.end_beside(); break;
            case 2:
                machine.engine.faults.down = true;
                cloud.world.timers.schedule(cloud.world.timers.now() + 20s,
                                            [&machine] { machine.engine.faults.down = false; });
                break;
            case 3: machine.engine.faults.slow = 300ms; break;
        }
    }
    void strike_leader() {
        if (Machine* leader = cloud.leader()) leader->crash();
    }

    void count() {
        const auto term = cloud.term();
        if (!term) return;
        for (const auto& [id, instance] : term->look().estate.instances.all()) {
            auto& known = generations[id];
            if (known == instance.run_generation) continue;
            known = instance.run_generation;
            if (!instance.left.empty()) ++moved;
        }
    }

public:
    Cloud cloud;

private:
    sim::Dice dice;
    Tenants tenants{cloud, {"red-team", "blue-team"}};
    std::map<std::string, std::uint64_t> generations;
    int moved = 0;
};

// Each is a long ride: under sanitizers (HOSTLER_EVERY) one is enough.
Seeds some(std::uint64_t default_count) {
    Seeds range = seeds(default_count);
    if (std::getenv("HOSTLER_EVERY")) range.last = range.first;
    return range;
}

void expect_moves(const Seeds& range, int masters) {
    int moved = 0;
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
        SCOPED_TRACE(seed);
        Silence silence{seed, masters};
        const Told told = silence.ride();
        EXPECT_FALSE(told.found.any()) << told.found.text();
        if (told.found.any() && std::getenv("HOSTLER_STORY"))
            for (const std::string& line : silence.cloud.world.story) fmt::print("{}\n", line);
        moved += told.moved;
    }
    fmt::print("{} seeds: {} instances moved\n", range.last - range.first + 1, moved);
    if (range.last > range.first) EXPECT_GT(moved, 0) << "nothing moved: nothing was tried";
}

TEST(Move, WhatRunsOnASilentHostBeginsElsewhere) { expect_moves(some(2), 1); }

TEST(Move, ANewLeaderWaitsForLeasesThatAnotherGave) { expect_moves(some(1), 3); }

// A master that does not wait for as long as it lets hosts go on.
TEST(Mistakes, AMasterThatTakesSilenceForDeath) {
    bool found = false;
    for (std::uint64_t seed = 1; seed <= 5 && !found; ++seed) {
        Mistakes mistakes;
        mistakes.only = Invariant::one_place;
        mistakes.master_settings = [](master::Settings& settings) {
            settings.move_lease = 30min;
            settings.move_margin = -settings.move_lease + 95s;
        };
        Silence silence{seed, 1, std::move(mistakes)};
        const Told told = silence.ride();
        found = told.found.has(Invariant::one_place);
        if (found) fmt::print("found by seed {}: {}\n", seed, told.found.all().front().text);
    }
    EXPECT_TRUE(found);
}

}  // namespace
}  // namespace hostler::simulation
