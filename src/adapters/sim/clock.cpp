#include "adapters/sim/clock.h"

namespace hostler::sim {

namespace {

constexpr WallTime start{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
constexpr std::int64_t million = 1'000'000;

Duration part(Duration of, std::int64_t ppm) {
    return Duration{static_cast<std::int64_t>(static_cast<__int128>(of.count()) * ppm / million)};
}

}  // namespace

TimerId Clock::schedule(Instant at, std::move_only_function<void()> wake) {
    at = std::max(at, now_);
    wakes_.emplace(std::pair{at, ++last_}, std::move(wake));
    times_.emplace(last_, at);
    return last_;
}

std::move_only_function<void()> Clock::take(TimerId id) {
    const auto found = times_.find(id);
    if (found == times_.end()) return {};
    auto wake = wakes_.extract({found->second, id});
    times_.erase(found);
    return std::move(wake.mapped());
}

bool Clock::step(Instant limit) {
    if (wakes_.empty() || wakes_.begin()->first.first > limit) {
        now_ = std::max(now_, limit);
        return false;
    }
    auto next = wakes_.extract(wakes_.begin());
    now_ = next.key().first;
    times_.erase(next.key().second);
    digest.add(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
    digest.add(next.key().second);
    next.mapped()();
    return true;
}

Instant SimTimers::now() const {
    const Duration elapsed = clock_.now().time_since_epoch();
    return Instant{elapsed + part(elapsed, skew_.rate_ppm)};
}

WallTime SimTimers::wall() const {
    const Duration elapsed = clock_.now().time_since_epoch();
    return start + skew_.wall + clock_.ahead() +
           std::chrono::duration_cast<std::chrono::microseconds>(elapsed + part(elapsed, skew_.wall_ppm));
}

TimerId SimTimers::schedule(Instant at, std::move_only_function<void()> wake) {
    if (cut_) {
        never_.push_back(std::move(wake));
        return 0;
    }
    Instant world = at;
    if (skew_.rate_ppm != 0) {  // Not before it is `at` on this machine.
        const __int128 wanted = static_cast<__int128>(at.time_since_epoch().count()) * million;
        world = Instant{Duration{static_cast<std::int64_t>(wanted / (million + skew_.rate_ppm)) + 2}};
    }
    // The number is known only once it is scheduled, and the wake-up has to know it.
    const auto id = std::make_shared<TimerId>(0);
    *id = clock_.schedule(world, [this, id, wake = std::move(wake)]() mutable { due(*id, std::move(wake)); });
    mine_.insert(*id);
    return *id;
}

void SimTimers::due(TimerId id, std::move_only_function<void()> wake) {
    if (stopped_) return void(late_.emplace_back(id, std::move(wake)));
    mine_.erase(id);
    wake();
}

void SimTimers::go_on() {
    stopped_ = false;
    while (!late_.empty() && !stopped_) {
        auto [id, wake] = std::move(late_.front());
        late_.pop_front();
        if (mine_.erase(id) > 0) wake();  // Else what was due before it has cancelled it.
    }
}

void SimTimers::cancel(TimerId id) {
    if (mine_.erase(id) > 0) clock_.cancel(id);
}

void SimTimers::cut() {
    cut_ = true;
    for (auto& [id, wake] : std::exchange(late_, {})) never_.push_back(std::move(wake));
    for (const TimerId id : std::exchange(mine_, {})) never_.push_back(clock_.take(id));
}

}  // namespace hostler::sim
