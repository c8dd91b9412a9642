#include "http/pool.h"

namespace hostler::http {

Pool::Pool(Timers& timers, PoolLimits limits)
    : timers_(timers), limits_(limits), sweep_(timers, [this] { sweep(); }) {}

OutletPtr Pool::take(std::string_view key, Look look) {
    constexpr Duration moment = std::chrono::milliseconds{10};
    const auto at = kept_.find(key);
    if (at == kept_.end()) return nullptr;
    while (!at->second.empty()) {
        const auto kept = std::move(at->second.back());
        at->second.pop_back();
        const Duration age = timers_.now() - kept.since;
        if (age >= limits_.idle_time) continue;
        if ((look == Look::trust && age < moment) || kept.outlet->alive()) return kept.outlet;
    }
    return nullptr;
}

void Pool::put(std::string_view key, OutletPtr outlet, std::shared_ptr<const void> holds) {
    if (!outlet->reusable() || limits_.idle_max == 0) return outlet->conn().close();
    auto at = kept_.find(key);
    if (at == kept_.end()) at = kept_.emplace(std::string{key}, std::deque<Kept>{}).first;
    at->second.push_back({std::move(outlet), std::move(holds), timers_.now()});
    if (at->second.size() > limits_.idle_max) at->second.pop_front();
    if (kept_.size() > limits_.keys_max) {
        const auto age = [](const auto& entry) {
            return entry.second.empty() ? Instant::min() : entry.second.back().since;
        };
        kept_.erase(std::min_element(kept_.begin(), kept_.end(),
                                     [&](const auto& a, const auto& b) { return age(a) < age(b); }));
    }
    sweep_.set(limits_.idle_time);
}

void Pool::forget(std::string_view key) {
    if (const auto at = kept_.find(key); at != kept_.end()) kept_.erase(at);
}

void Pool::forget_if(const std::function<bool(std::string_view key)>& condition) {
    std::erase_if(kept_, [&](const auto& entry) { return condition(entry.first); });
}

std::size_t Pool::size() const {
    std::size_t sum = 0;
    for (const auto& [key, list] : kept_) sum += list.size();
    return sum;
}

void Pool::sweep() {
    for (auto& [key, list] : kept_)
        std::erase_if(list,
                      [&](const Kept& kept) { return timers_.now() - kept.since >= limits_.idle_time; });
    std::erase_if(kept_, [](const auto& entry) { return entry.second.empty(); });
    if (!kept_.empty()) sweep_.set(limits_.idle_time / 2);
}

}  // namespace hostler::http
