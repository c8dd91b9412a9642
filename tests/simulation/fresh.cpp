#include "fresh.h"

#include <fmt/format.h>

namespace hostler::simulation {

void Readers::start() {
    cloud_.on_rewind.push_back(
        [this](const Rewind& lost) { told_.erase(told_.lower_bound(lost.since), told_.end()); });
    cloud_.clients.start("writer", write());
    for (const char* reader : {"one", "two"}) cloud_.clients.start("reader", read(dice_.fork(reader)));
}

void Readers::tell(std::size_t number) {
    if (number > told()) told_[cloud_.world.timers.now()] = number;
}

// Zones, since nobody else makes any: each is made when the one before is certainly there.
Task<> Readers::write() {
    const std::string key{Cloud::operator_key};
    while (!calm_) {
        const std::size_t next = told() + 1;
        const Instant asked = cloud_.world.timers.now();
        const auto answer =
            co_await cloud_.call(key, "POST", "/v1/zones", fmt::format(R"({{"name":"fresh-{}"}})", next));
        CO_TRY(co_await check_cancelled());
        if (answer && (answer->status == 201 || answer->status == 409) && !cloud_.rewound_since(asked))
            tell(next);
        CO_TRY(co_await sleep(cloud_.world.timers,
                              std::chrono::milliseconds{static_cast<std::int64_t>(dice_.below(8'000))}));
    }
    co_return Result<>{};
}

Task<> Readers::read(sim::Dice dice) {
    const std::string key{Cloud::operator_key};
    while (!calm_) {
        const std::size_t floor = told();
        const Instant asked = cloud_.world.timers.now();
        const auto answer = co_await cloud_.call(key, "GET", "/v1/zones?limit=500");
        CO_TRY(co_await check_cancelled());
        if (answer && answer->status == 200 && !cloud_.rewound_since(asked)) {
            ++reads_;
            const std::size_t shown = count(answer->body);
            if (shown < floor && !cloud_.may_be_old(asked))
                cloud_.found.report(Invariant::fresh,
                                    fmt::format("{} zones are shown, and {} were told before", shown, floor));
            tell(shown);
        }
        CO_TRY(co_await sleep(cloud_.world.timers,
                              std::chrono::milliseconds{static_cast<std::int64_t>(dice.below(2'000))}));
    }
    co_return Result<>{};
}

std::size_t Readers::count(const std::string& body) {
    std::size_t number = 0;
    for (std::size_t at = 0; (at = body.find("\"fresh-", at)) != std::string::npos; ++at) ++number;
    return number;
}

}  // namespace hostler::simulation
