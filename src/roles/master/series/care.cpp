#include "roles/master/series/care.h"

#include "core/log.h"
#include "core/task_group.h"

namespace hostler::master {

std::optional<SeriesPolicy> tighter(const SeriesPolicy& policy) {
    using std::chrono::hours;
    SeriesPolicy made = policy;
    if (policy.raw > hours{6})
        made.raw = std::max<Duration>(policy.raw * 3 / 4, hours{6});
    else if (policy.minute > hours{48})
        made.minute = std::max<Duration>(policy.minute * 3 / 4, hours{48});
    else if (policy.hour > hours{30 * 24})
        made.hour = std::max<Duration>(policy.hour * 3 / 4, hours{30 * 24});
    else
        return std::nullopt;
    return made;
}

Task<> SeriesCare::run() {
    Instant due = timers_.now() + std::chrono::minutes{1};
    while (true) {
        if (timers_.now() >= due) {
            due = timers_.now() + thin;
            const auto kept = co_await keep();
            CO_TRY(co_await check_cancelled());
            if (!kept) log_warn("series: old samples were not removed: {}", kept.error().message);
        }
        const auto stats = co_await store_.stats();
        CO_TRY(co_await check_cancelled());
        if (stats) stats_ = *stats;
        CO_TRY(co_await sleep(timers_, look));
    }
}

Task<> SeriesCare::keep() {
    SeriesPolicy policy = settings_.series_kept;
    CO_TRY(co_await store_.keep(policy, timers_.wall()));
    bool less = false;
    while (true) {
        stats_ = CO_TRY(co_await store_.stats());
        too_large_ = settings_.series_disk_max != 0 && stats_.disk_bytes > settings_.series_disk_max;
        const auto next = too_large_ ? tighter(policy) : std::nullopt;
        if (!next) break;
        policy = *next;
        less = true;
        CO_TRY(co_await store_.keep(policy, timers_.wall()));
    }
    if (less) ++given_up_;
    if (too_large_)
        log_warn(
            "series: {} bytes are on the disk, more than --series-disk-max, and nothing is left to give up",
            stats_.disk_bytes);
    co_return Result<>{};
}

}  // namespace hostler::master
