#include "fresh.h"

#include <fmt/format.h>

namespace hostler::simulation {

void Readers::start() {
    cloud_.clients.start("writer", write());
    for (const char* reader : {"one", "two"}) cloud_.clients.start("reader", read(dice_.fork(reader)));
}

// Zones, since nobody else makes any: each is made when the one before is certainly there.
Task<> Readers::write() {
    const std::string key{Cloud::operator_key};
    for (std::size_t next = 1; !calm_;) {
        const auto answer =
            co_await cloud_.call(key, "POST", "/v1/zones", fmt::format(R"({{"name":"fresh-{}"}})", next));
        CO_TRY(co_await check_cancelled());
        if (answer && (answer->status == 201 || answer->status == 409)) told_ = std::max(told_, next++);
        CO_TRY(co_await sleep(cloud_.world.timers,
                              std::chrono::milliseconds{static_cast<std::int64_t>(dice_.below(8'000))}));
    }
    co_return Result<>{};
}

Task<> Readers::read(sim::Dice dice) {
    const std::string key{Cloud::operator_key};
    while (!calm_) {
        const std::size_t floor = told_;
        const auto answer = co_await cloud_.call(key, "GET", "/v1/zones?limit=500");
        CO_TRY(co_await check_cancelled());
        if (answer && answer->status == 200) {
            ++reads_;
            const std::size_t shown = count(answer->body);
            if (shown < floor)
                cloud_.found.report(Invariant::fresh,
                                    fmt::format("{} zones are shown, and {} were told before", shown, floor));
            told_ = std::max(told_, shown);
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
