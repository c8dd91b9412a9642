#include "roles/master/leader/tenure.h"

#include "core/log.h"
#include "core/signal.h"
#include "core/task_group.h"

namespace hostler::master {

namespace {

struct Renewal {
    std::shared_ptr<Tenure> tenure;
    std::optional<Error> lost{};
    Signal changed{};
    void lose(Error why) {
        if (!lost) lost = std::move(why);
        changed.notify_all();
    }
};

// Not renewed is not lost: while the tenure lasts there is another try.
Task<> renew(Timers& timers, Election& election, std::shared_ptr<Renewal> holding, Deadline& end) {
    Tenure& tenure = *holding->tenure;
    while (true) {
        CO_TRY(co_await sleep(timers, tenure.lease() / 3));
        const Instant asked = timers.now_with_sleep();
        const auto renewed = co_await election.renew();
        CO_TRY(co_await check_cancelled());
        if (renewed) {
            tenure.renewed(asked);
            end.renew(std::max(tenure.left(timers.now_with_sleep()), Duration{0}));
        } else if (renewed.error().code == Code::conflict) {
            holding->lose(renewed.error());
        } else {
            log_warn("master: its lease is not renewed: {}", renewed.error().message);
        }
    }
}

}  // namespace

Task<> hold_lease(Timers& timers, Election& election, std::shared_ptr<Tenure> tenure) {
    const auto holding = std::make_shared<Renewal>(std::move(tenure));
    Deadline end{
        timers, holding->tenure->left(timers.now_with_sleep()), [&] {
            const Instant now = timers.now_with_sleep();
            if (!holding->tenure->lasts(now)) return holding->lose(lease_lost());
            log_warn(
                "master: its loop stalled for longer than its lease, which was renewed by another thread");
            end.renew(holding->tenure->left(now));
        }};
    auto& loop = static_cast<Loop&>((co_await asio::this_coro::executor).context());
    TaskGroup group{loop};
    group.start("lease", renew(timers, election, holding, end));
    Result<> waited;
    while (!holding->lost && waited) waited = co_await holding->changed.wait();
    co_await group.close();
    CO_TRY(std::move(waited));
    co_return std::unexpected(*holding->lost);
}

Error lease_lost() {
    return {Code::unavailable, "the lease was not renewed in time: another master may lead", "no_leader"};
}

}  // namespace hostler::master
