// What tests of deliberate mistakes have in common.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "ports/store.h"
#include "storm.h"

namespace hostler::simulation {

inline constexpr std::uint64_t seeds_max = 50;

// Rides until the checker reports, in words with `saying` in them. 0: it never does.
inline std::uint64_t seeds_until(Invariant invariant, Weather weather,
                                 const std::function<Mistakes(std::uint64_t)>& mistakes, int masters = 1,
                                 const std::string& saying = "") {
    for (std::uint64_t seed = 1; seed <= seeds_max; ++seed) {
        const StormReport report =
            ride({.seed = seed, .weather = weather, .masters = masters, .calm_max = 2min}, mistakes(seed));
        if (std::ranges::none_of(report.found.all(), [&](const Finding& finding) {
                return finding.invariant == invariant && finding.text.contains(saying);
            }))
            continue;
        fmt::print("found by seed {}: {}\n", seed, report.found.all().front().text.substr(0, 160));
        return seed;
    }
    return 0;
}

// What a wrapped store does beside what is wrong with it.
class StoreBehind : public Store {
public:
    explicit StoreBehind(Store& store) : store_(store) {}
    Task<Lease> lead(Contender who, Duration length, std::uint64_t above) override {
        return store_.lead(std::move(who), length, above);
    }
    Task<> renew() override { return store_.renew(); }
    Task<> resign() override { return store_.resign(); }
    Task<std::optional<Leader>> leader() override { return store_.leader(); }
    Task<> commit(Changes changes) override { return store_.commit(std::move(changes)); }
    Task<Snapshot> load() override { return store_.load(); }
    Task<Page> list(ListQuery query) override { return store_.list(std::move(query)); }
    Task<Object> find(std::string kind, std::string id) override {
        return store_.find(std::move(kind), std::move(id));
    }
    Task<std::vector<EventRecord>> events(EventQuery query) override {
        return store_.events(std::move(query));
    }
    Task<> prune(WallTime before) override { return store_.prune(before); }
    Task<std::unique_ptr<Backup>> backup(WallTime taken, const Digest& digest) override {
        return store_.backup(taken, digest);
    }

protected:
    Store& store_;
};

}  // namespace hostler::simulation
