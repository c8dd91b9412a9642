#include "roles/agent/way.h"

#include <algorithm>
#include <tuple>

namespace hostler::agent {

namespace {

using std::chrono::milliseconds;

constexpr Duration unmeasured = milliseconds{50};
constexpr Duration smallest = milliseconds{1};  // Differences below it are nobody's business.
constexpr Duration worth_moving = milliseconds{2};

// The lower the better; before any cost.
int rank(const Way& way) { return way.draining ? 2 : way.up ? 0 : 1; }

bool same_access(const Way& a, const Way& b) {
    return a.address == b.address || (!a.name.empty() && a.name == b.name);
}

// In permille, so that the same values make the same choice everywhere.
Duration times(Duration time, std::int64_t permille) { return time / 1000 * permille; }

}  // namespace

Duration cost(const Way& way, const std::string& zone) {
    const std::int64_t load = 1000 + 10 * std::clamp(way.load_percent, 0, 100);
    return times(times(way.rtt.value_or(unmeasured) + smallest, load), way.zone == zone ? 1000 : 1500);
}

bool clearly_better(const Way& other, const Way& present, const std::string& zone) {
    if (rank(other) != rank(present)) return rank(other) < rank(present);
    if (!other.rtt || !present.rtt) return false;
    const Duration here = cost(present, zone), there = cost(other, zone);
    if (times(there, 1600) + worth_moving < here) return true;
    // Back home, once home is no worse.
    return other.zone == zone && present.zone != zone && there <= here;
}

const Way* pick(const std::vector<Way>& ways, const Way* taken, const std::string& zone, Instant now,
                bool last) {
    const Way* best = nullptr;
    for (const Way& way : ways) {
        if (way.rests_until > now || (taken && same_access(way, *taken)) || (way.draining && !last)) continue;
        const auto value = [&](const Way& of) { return std::tuple(rank(of), !of.rtt, cost(of, zone)); };
        if (!best || value(way) < value(*best)) best = &way;
    }
    return best;
}

Compass::Step Compass::advise(const std::vector<Way>& ways, std::optional<std::size_t> active,
                              std::optional<std::size_t> standby, const std::string& zone, Instant now) {
    const auto again = [](int& count, std::string& to, const Way* better) {
        if (!better) to.clear();
        count = !better ? 0 : better->address == to ? count + 1 : 1;
        if (better) to = better->address;
        return count >= rounds;
    };
    if (!active || !standby) {
        swap_ = turn_ = 0;
        return Step::stay;
    }
    const Way& held = ways[*standby];
    if (again(swap_, swap_to_, clearly_better(held, ways[*active], zone) ? &held : nullptr)) {
        swap_ = turn_ = 0;
        return Step::swap;
    }
    const Way* third = nullptr;
    for (const Way& way : ways)
        if (!same_access(way, held) && !same_access(way, ways[*active]) && way.rests_until <= now &&
            (clearly_better(way, held, zone) ||
             (clearly_better(way, ways[*active], zone) && rank(way) <= rank(held) &&
              (!held.rtt || cost(way, zone) < cost(held, zone)))) &&
            (!third || cost(way, zone) < cost(*third, zone)))
            third = &way;
    if (!again(turn_, turn_to_, third)) return Step::stay;
    swap_ = turn_ = 0;
    return Step::turn;
}

}  // namespace hostler::agent
