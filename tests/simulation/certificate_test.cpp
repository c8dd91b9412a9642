// Certificates as months go by: renewed under what is live, renewed late, not at all, and on two machines.
#include <gtest/gtest.h>

#include "programs.h"
#include "ride.h"

namespace hostler::simulation {

namespace {

constexpr std::chrono::hours day{24};
constexpr Duration looked_after = 12min;  // Roles look every ten minutes whether a renewal is due.

class Months : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(ride.begin()); }
    // So much later; nobody was awake in between.
    void jump(std::chrono::hours by) {
        ride.cloud.world.settle();
        ride.cloud.world.clock.jump(by);
    }
    WallTime ends(const std::string& certificate) {
        const auto facts = ride.cloud.world.keys.read(certificate);
        return facts ? facts->not_after : WallTime{};
    }
    std::map<std::string, WallTime> ends() {
        std::map<std::string, WallTime> all;
        for (const auto& [role, own] : ride.cloud.installed) all[role] = ends(own.certificate);
        for (const std::string& host : ride.cloud.hosts) {
            const std::string& identity = ride.cloud.world.machine(host).disk.journal["identity"];
            all[host] =
                ends(identity.substr(identity.find("sim-certificate"),
                                     identity.find("sim-authority") - 1 - identity.find("sim-certificate")));
        }
        return all;
    }
    WallTime now() { return ride.cloud.world.timers.wall(); }
    const Host* host(const std::string& machine) {
        const auto term = ride.cloud.term();
        if (!term) return nullptr;
        const Host* found = nullptr;
        for (const auto& [id, row] : term->look().estate.hosts.all())
            if (row.facts.hostname == machine) found = &row;
        return found;
    }
    bool connected(const std::string& machine) {
        const Host* row = host(machine);
        if (!row) return false;
        const auto& live = ride.cloud.term()->look().live.hosts;
        const auto at = live.find(row->id);
        return at != live.end() && at->second.connected;
    }
    std::size_t tunnels_opened() {
        std::size_t all = 0;
        for (const char* at : {"nj", "lon"})
            if (ride.cloud.world.machine(at).up())
                all += ride.cloud.world.machine(at).role<AccessProgram>().role->counters().tunnels.opened;
        return all;
    }

    Ride ride{7};
};

TEST_F(Months, EveryRoleRenewsAtAThirdAndNothingHiccups) {
    const auto before = ends();
    ASSERT_EQ(before.size(), 6U) << "master, two access points, gateway, two hosts";
    std::map<std::string, std::uint64_t> sessions;
    for (const auto& [id, live] : ride.cloud.term()->look().live.hosts) sessions[id] = live.session;
    jump(11 * day);
    ASSERT_TRUE(ride.opens(1s));
    const std::size_t opened = tunnels_opened();
    for (int i = 0; i < 40; ++i) {
        EXPECT_TRUE(ride.opens(1s)) << i;
        ride.cloud.world.run(looked_after / 40);
    }
    EXPECT_EQ(tunnels_opened(), opened) << "one tunnel has lived through it";
    for (const auto& [role, end] : ends()) {
        EXPECT_GT(end, before.at(role) + 10 * day) << role;
        EXPECT_LE(end, now() + 30 * day + 1min) << role;
    }
    for (const auto& [id, live] : ride.cloud.term()->look().live.hosts)
        EXPECT_EQ(live.session, sessions[id]) << "and each session";
    EXPECT_FALSE(ride.cloud.found.any()) << ride.cloud.found.text();
}

TEST_F(Months, WhoWasAwayForTooLongRenewsBeforeAnythingElse) {
    auto& world = ride.cloud.world;
    const std::string away = ride.instance()->host == host("host-0")->id ? "host-1" : "host-0";
    world.machine(away).crash(Death::power);
    world.machine("lon").crash(Death::kill);
    world.run(1min);
    jump(40 * day);  // All of them have expired, the master too.
    world.run(looked_after);
    EXPECT_TRUE(ride.opens(1s)) << "what was connected has renewed";
    world.machine("lon").boot();
    world.machine(away).boot();
    EXPECT_TRUE(world.run_until([&] { return connected(away); }, 5min));
    EXPECT_TRUE(ride.whole());
    for (const auto& [role, end] : ends()) EXPECT_GT(end, now() + 10 * day) << role;
    world.machine("nj").crash(Death::kill);
    EXPECT_TRUE(ride.opens(reachable_within));
    world.machine("nj").boot();
    EXPECT_TRUE(ride.whole());
    EXPECT_FALSE(ride.cloud.found.any()) << ride.cloud.found.text();
}

TEST_F(Months, AfterHalfAYearAHostHasToJoinAnew) {
    auto& world = ride.cloud.world;
    const std::string away = ride.instance()->host == host("host-0")->id ? "host-1" : "host-0";
    const std::string id = host(away)->id;
    world.machine(away).crash(Death::power);
    for (int month = 0; month < 8; ++month) {
        jump(28 * day);
        world.run(looked_after);
        ASSERT_TRUE(ride.opens(reachable_within)) << month;
    }
    world.machine(away).boot();
    world.run(2min);
    EXPECT_FALSE(connected(away));
    EXPECT_EQ(host(away)->id, id) << "its token is spent";
    world.machine(away).crash();
    ride.cloud.join(away, "nj");
    const auto joined = [&] {
        const auto term = ride.cloud.term();
        return term && std::ranges::any_of(term->look().live.hosts, [&](const auto& row) {
                   return row.second.connected && row.first != id &&
                          term->look().estate.hosts.at(row.first).facts.hostname == away;
               });
    };
    EXPECT_TRUE(world.run_until(joined, 2min)) << "as another host";
}

TEST_F(Months, ACopiedMachineIsFoundOut) {
    auto& world = ride.cloud.world;
    const std::string id = host("host-0")->id;
    const auto quarantined = [&] {
        const auto term = ride.cloud.term();
        return term && !term->look().estate.hosts.at(id).quarantined.empty();
    };
    world.machine("host-0").crash(Death::power);
    world.run(5s);
    world.machine("host-0").boot();
    EXPECT_FALSE(world.run_until(quarantined, 2min)) << "it has only booted again";
    world.machine("host-1").crash(Death::power);
    world.machine("host-1").disk.journal = world.machine("host-0").disk.journal;
    world.machine("host-1").boot();
    EXPECT_TRUE(world.run_until(quarantined, 2min));
    world.run(10s);
    EXPECT_FALSE(ride.cloud.term()->look().live.hosts.at(id).connected);
    EXPECT_FALSE(ride.opens(2s)) << "no tunnel leads to either";
    world.machine("host-1").crash(Death::power);
    EXPECT_EQ(ride.post("/v1/hosts/" + id + "/release", "{}"), 200);
    EXPECT_TRUE(world.run_until([&] { return ride.cloud.term()->look().live.hosts.at(id).connected; }, 3min));
    EXPECT_FALSE(world.run_until(quarantined, 2min));
}

}  // namespace

}  // namespace hostler::simulation
