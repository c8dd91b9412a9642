// A storm as plain data: what a seed says, and how much of it. Its text replays it; shrink() makes it small.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/timers.h"

namespace hostler::simulation {

enum class Weather { calm, deaths, everything };

struct Case {
    std::uint64_t seed = 1;
    Weather weather = Weather::everything;
    int masters = 1;          // More than one share a database,
    bool synchronous = true;  // whose standby has all that is acknowledged.
    int hosts = 2;
    static constexpr int tenants_max = 2;  // There are no more.
    int tenants = tenants_max;
    int actions_max = 1'000'000;  // Of each tenant, while the storm lasts.
    bool jobs = false;            // Others submit jobs, and the tenants leave them room.
    bool clusters = false;        // Others have clusters, and the tenants leave them hosts.
    Duration storm = std::chrono::seconds{150};
    Duration calm_max = std::chrono::minutes{8};
    // Of those that the seed brews, by name; none given: all of them.
    std::optional<std::set<std::string>> strikes{};
    std::optional<std::set<std::string>> conditions{};

    bool has(const std::optional<std::set<std::string>>& some, const std::string& name) const {
        return !some || some->contains(name);
    }
    bool operator==(const Case&) const = default;
};

// "seed=7,hosts=1,tenants=1,storm=40,strikes=master.2+nj.1": one word of a shell; what is not said is as in
// Case.
std::string text_of(const Case& of);
Result<Case> parse_case(std::string_view text);  // Errors: invalid.

// What a case came to.
struct Verdict {
    std::string broken;  // The first invariant that did not hold, or "crash"; empty: all is well.
    std::string text;
    Duration found_at{};                           // Since the storm began.
    std::vector<std::string> strikes, conditions;  // Those that were in it.
};

using Judge = std::function<Verdict(const Case&)>;

struct Shrunk {
    Case smallest;
    Verdict verdict;
    int runs = 0;
};

// The smallest case that can be found by leaving out one part after the other, and that still breaks the same
// invariant: nothing that is left in it can be left out. `seen` is the verdict on `failing`.
Shrunk shrink(const Case& failing, const Verdict& seen, const Judge& judge, int runs_max = 400);

}  // namespace hostler::simulation
