// How often telemetry goes out.
#pragma once

#include <algorithm>
#include <optional>

#include "core/signal.h"
#include "core/timers.h"

namespace hostler::agent {

// A pace that holds always, and a faster one for as long as somebody looks.
class Pulse {
public:
    static constexpr Duration interval_min = std::chrono::milliseconds{500};
    static constexpr Duration interval_max = std::chrono::minutes{5};
    static constexpr Duration watched_max = std::chrono::minutes{1};

    // Zero: none; samples go with reports alone.
    void pace(Duration interval) {
        always_ = interval > Duration{0} ? std::clamp(interval, interval_min, interval_max) : Duration{0};
        changed_.notify_all();
    }
    void watch(Duration interval, Duration time, Instant now) {
        if (interval <= Duration{0}) return;
        watched_ = std::clamp(interval, interval_min, interval_max);
        watched_until_ = now + std::min(time, watched_max);
        changed_.notify_all();
    }
    // Until the next is due; Duration::max(): none is.
    Duration left(Instant now) const {
        Duration interval = always_ > Duration{0} ? always_ : Duration::max();
        if (now < watched_until_) interval = std::min(interval, watched_);
        if (interval == Duration::max() || !last_)
            return interval == Duration::max() ? interval : Duration{0};
        return std::max(*last_ + interval - now, Duration{0});
    }
    void beat(Instant now) { last_ = now; }
    Signal& changed() { return changed_; }

private:
    Duration always_{};
    Duration watched_{};
    Instant watched_until_{};
    std::optional<Instant> last_;
    Signal changed_;
};

}  // namespace hostler::agent
