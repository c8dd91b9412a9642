#include "domain/alert/evaluate.h"

#include <cmath>

namespace hostler::alert {

namespace {

using std::chrono::seconds;

// As far as these two events lead: how it is, then that it has been so for long enough.
void move(Watched& watched, Event state, Event lasted, Duration needed, Instant now) {
    const auto go = [&](Event event) {
        const auto to = next(alert_life, watched.phase, event);
        if (!to) return;
        watched.phase = *to;
        watched.since = now;
    };
    go(state);
    const bool waits = watched.phase == Phase::pending || watched.phase == Phase::clearing;
    if (waits && now - watched.since >= needed) go(lasted);
}

}  // namespace

void step(const Rule& rule, RuleState& state, Instant now, std::span<const Sample> samples) {
    state.left_out = 0;
    for (const Sample& sample : samples) {
        if (std::isnan(sample.value)) continue;
        if (!state.watched.contains(sample.labels)) {
            const bool breach = breaches(rule.comparison, sample.value, rule.threshold);
            if (!breach && rule.missing != Missing::fire) continue;
            if (state.watched.size() >= alerts_rule_max) {
                ++state.left_out;
                continue;
            }
        }
        Watched& watched = state.watched[sample.labels];
        watched.seen = now;
        watched.value = sample.value;
    }
    for (auto& [labels, watched] : state.watched) {
        bool breach = breaches(rule.comparison, watched.value, rule.threshold);
        if (watched.seen != now) {
            const bool known = now - watched.seen < seconds{missing_max_s};
            if (known && rule.missing == Missing::keep) continue;
            breach = known && rule.missing == Missing::fire;
        }
        if (breach)
            move(watched, Event::breach, Event::last, seconds{rule.for_s}, now);
        else
            move(watched, Event::ease, Event::clear, seconds{rule.clear_s}, now);
    }
    std::erase_if(state.watched, [&](const auto& row) {
        const bool remembered =
            rule.missing == Missing::fire && now - row.second.seen < seconds{missing_max_s};
        return row.second.phase == Phase::inactive && !remembered;
    });
}

}  // namespace hostler::alert
