// Hosts are drained while the storm is over them: nothing new goes there, nothing runs in two places, and all
// of it runs again in the calm.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/types_host.h"
#include "roles/master/drain/drain.h"
#include "roles/master/run/stop_start.h"
#include "seeds.h"
#include "storm.h"

namespace hostler::simulation {
namespace {

constexpr int drains_max = 8;  // Of one storm: the calm has to come.

struct Drained {
    int begun = 0;
    std::set<std::string> emptied;                          // "host/since"
    std::map<std::string, std::set<std::string>> claims{};  // By "host/since", as last seen.
    std::vector<std::string> wrong{};
};

std::set<std::string> claims_there(const master::Estate& estate, const std::string& host) {
    std::set<std::string> claims;
    for (const auto& [id, claim] : estate.claims.all())
        if (claim.host == host && claim.use != ClaimUse::foreign) claims.insert(id);
    return claims;
}

void note_drains(const master::Estate& estate, Drained& seen) {
    std::map<std::string, std::set<std::string>> claims;
    for (const auto& [host, drain] : estate.drains.all()) {
        const std::string key = fmt::format("{}/{}", host, drain.since);
        claims[key] = claims_there(estate, host);
        if (drain.empty_at != 0) seen.emptied.insert(key);
        const auto before = seen.claims.find(key);
        if (before == seen.claims.end()) continue;
        for (const std::string& id : claims[key])
            if (!before->second.contains(id)) seen.wrong.push_back(fmt::format("{} is new on {}", id, key));
    }
    seen.claims = std::move(claims);
}

// What the drain has stopped and does not start by itself is started by its owner.
void start_again(master::Desk& desk) {
    std::vector<std::string> ids;
    for (const auto& [id, instance] : desk.estate.instances.all())
        if (instance.phase == InstancePhase::resting && instance.reason == hostler::drained)
            ids.push_back(id);
    for (const std::string& id : ids) (void)master::wake_instance(desk, id);
}

// Now and then an operator drains a host, and lets it go a while later.
Mistakes draining(std::uint64_t seed, std::shared_ptr<Drained> seen) {
    Mistakes none;
    auto dice = std::make_shared<sim::Dice>(sim::Dice{seed}.fork("drains"));
    none.each_second = [dice, seen](Cloud&, master::Term& term) {
        note_drains(term.look().estate, *seen);
        master::Desk& desk = term.desk("operator");
        for (const auto& [host, drain] : std::map{desk.estate.drains.all().as_map()})
            if (drain.empty_at != 0 || dice->chance(0.05)) (void)master::undrain_host(desk, host);
        if (desk.estate.drains.all().empty()) start_again(desk);
        if (seen->begun < drains_max && dice->chance(0.1))
            for (const auto& [host, row] : std::map{desk.estate.hosts.all().as_map()})
                if (dice->chance(0.3) && seen->begun < drains_max &&
                    master::drain_host(desk, host,
                                       {.host = host, .notice_seconds = dice->chance(0.5) ? 0 : 10}))
                    ++seen->begun;
        term.commit_then(nullptr);
    };
    return none;
}

TEST(Storm, HostsAreDrainedInIt) {
    const Seeds range = seeds(5);
    int begun = 0;
    std::size_t emptied = 0;
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
        SCOPED_TRACE(seed);
        const auto seen = std::make_shared<Drained>();
        const StormReport report = ride({.seed = seed, .hosts = 6}, draining(seed, seen));
        EXPECT_FALSE(report.found.any()) << report.found.text();
        EXPECT_TRUE(seen->wrong.empty()) << seen->wrong.front();
        if (report.found.any() && std::getenv("HOSTLER_STORY"))
            for (const std::string& line : report.story) fmt::print("{}\n", line);
        begun += seen->begun;
        emptied += seen->emptied.size();
    }
    fmt::print("{} seeds: {} drains, {} hosts emptied\n", range.last - range.first + 1, begun, emptied);
    if (range.last - range.first < 4) return;  // Too few for all of it to happen.
    EXPECT_GT(emptied, 0u) << "no host was emptied: nothing was tried";
}

}  // namespace
}  // namespace hostler::simulation
