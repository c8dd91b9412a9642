// Looks after a master's series, whether it leads or not: takes out what is old enough, and what has no room.
#pragma once

#include "ports/series.h"
#include "roles/master/state/settings.h"

namespace hostler::master {

// What keeps less than `policy` does: fewer raw samples, then fewer minutes, then fewer hours; never less
// than a few of each. nullopt: there is nothing to be given up any more.
std::optional<SeriesPolicy> tighter(const SeriesPolicy& policy);

class SeriesCare {
public:
    SeriesCare(Timers& timers, SeriesStore& store, const Settings& settings)
        : timers_(timers), store_(store), settings_(settings) {}

    Task<> run();                                        // Until it is cancelled.
    const SeriesStats& stats() const { return stats_; }  // As of some seconds ago.
    bool too_large() const { return too_large_; }        // And there is nothing to be given up.
    std::uint64_t given_up() const {
        return given_up_;
    }  // Times that more was taken out than the policy says.

    static constexpr std::chrono::seconds look{10};
    static constexpr std::chrono::minutes thin{10};

private:
    Task<> keep();

    Timers& timers_;
    SeriesStore& store_;
    const Settings& settings_;
    SeriesStats stats_;
    bool too_large_ = false;
    std::uint64_t given_up_ = 0;
};

}  // namespace hostler::master
