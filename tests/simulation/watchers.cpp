#include "watchers.h"

#include <fmt/format.h>

#include "http/client.h"

namespace hostler::simulation {

Watchers::Watchers(Cloud& cloud, People& people, Hear hear)
    : cloud_(cloud), people_(people), hear_(std::move(hear)) {
    cloud.on_each_step.push_back([this] { look(); });
}

Task<> Watchers::watch(std::string tenant) {
    sim::Dice dice = cloud_.dice.fork("watchers of " + tenant);
    while (!calm_) {
        CO_TRY(co_await sleep(cloud_.world.timers, std::chrono::milliseconds{dice.below(6'000)}));
        const auto all = people_.all(tenant);
        co_await one(dice, all[dice.below(all.size())]);
        CO_TRY(co_await check_cancelled());
    }
    co_return Result<>{};
}

Task<> Watchers::one(sim::Dice& dice, CredentialPtr by) {
    constexpr std::size_t told_max = 256 << 10;
    const std::string what = "GET /v1/instances?watch=true";
    Look then = people_.look(by);
    http::Client client{cloud_.world.net, cloud_.world.timers, {.idle_max = 0}};
    http::Request request{.target = "/v1/instances?watch=true"};
    request.headers.set("Authorization", "Bearer " + by->secret);
    const std::string& at = cloud_.masters[dice.below(cloud_.masters.size())];
    cloud_.world.note(fmt::format("{} watches at {}", by->name, at));
    const auto reply = CO_TRY(co_await client.start(
        {.address = at + ":8080"}, {.request = std::move(request),
                                    .patience = {.connect = 5s, .head = 10s, .idle = 40s, .total = 60s}}));
    people_.judge(then, what, reply->status, "");
    if (reply->status != 200) co_return Result<>{};
    struct Here {
        std::list<Open>& all;
        std::list<Open>::iterator at;
        ~Here() { all.erase(at); }
    };
    const Here here{open_, open_.insert(open_.end(), {.by = by, .since = cloud_.world.timers.now()})};
    std::string told;
    std::array<char, 8192> piece{};
    while (!calm_ && told.size() < told_max) {
        const auto size = co_await reply->read(piece);
        CO_TRY(co_await check_cancelled());
        if (!size || *size == 0) {
            if (const Look now = people_.look(by); now.ended) ++cut;
            break;
        }
        const std::string news{piece.data(), *size};
        if (!std::exchange(here.at->told, true)) ++watched;
        if (const auto since = over_since(by); since && news.contains("data:"))
            cloud_.found.report(Invariant::ended,
                                fmt::format("{} has ended, and a watch tells: {}", by->name, news));
        told += news;
    }
    hear_(then, what, told);
    co_return Result<>{};
}

std::optional<Instant> Watchers::over_since(const CredentialPtr& by) const {
    const Instant now = cloud_.world.timers.now();
    const Look look = people_.look(by);
    if (!look.ended) return std::nullopt;
    const Instant since = std::max(*look.ended, people_.masters_in_touch());
    return since + people_.bound() <= now ? std::optional{since} : std::nullopt;
}

void Watchers::look() {
    for (Open& one : open_) {
        const auto since = over_since(one.by);
        // A master that went without a word leaves what it had open to its watcher's patience.
        if (!since || one.since > *since || one.since < people_.masters_in_touch()) continue;
        one.since = Instant::max();  // It is told of once.
        cloud_.found.report(Invariant::ended,
                            fmt::format("{} has ended, and its watch is still open", one.by->name));
    }
}

}  // namespace hostler::simulation
