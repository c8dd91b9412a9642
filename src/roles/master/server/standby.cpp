#include "roles/master/server/standby.h"

#include "core/log.h"
#include "core/task_group.h"
#include "roles/master/sealing/keys.h"

namespace hostler::master {

Task<> Standby::catch_up() {
    Snapshot snapshot = CO_TRY(co_await (loaded_ ? ports_.store.load_since(at_) : ports_.store.load()));
    if (snapshot.whole) {
        estate_ = Estate{};
        estate_.seal_with(ports_.sealer);
        loaded_ = false;
        ++loads_;
    }
    for (const auto& [kind, id] : snapshot.gone) estate_.forget(kind, id);
    for (const Unreadable& row : snapshot.unreadable) CO_TRY(estate_.set_aside(row));
    const auto seals = [](const Object& object) { return object.kind == Kind<SealingKey>::name; };
    if (snapshot.whole || std::ranges::any_of(snapshot.live, seals))
        CO_TRY(find_sealing_keys(snapshot.live, ports_.sealer));
    const StorePoint at = snapshot.point();
    Estate::AuditState audit{std::move(snapshot.audit), std::move(snapshot.sealed)};
    const auto done = co_await read(std::move(snapshot.live));
    // What was begun of a change is made again from the same point.
    if (!done && done.error().code != Code::cancelled) loaded_ = false;
    CO_TRY(done);
    estate_.audit_state(std::move(audit));
    at_ = at;
    loaded_ = true;
    co_return Result<>{};
}

Task<> Standby::read(std::vector<Object> objects) {
    constexpr std::size_t at_once = 128;  // A few milliseconds of the loop.
    const auto keys = estate_.known_keys(objects);
    for (std::size_t i = 0; i < objects.size(); i += at_once) {
        if (i > 0) CO_TRY(co_await sleep(ports_.timers, Duration{0}));
        const std::size_t count = std::min(at_once, objects.size() - i);
        CO_TRY(estate_.load(std::span{objects}.subspan(i, count), keys));
    }
    co_return Result<>{};
}

Task<> Standby::keep(Duration pause) {
    std::string trouble;  // As it was logged last.
    while (true) {
        const auto done = co_await catch_up();
        CO_TRY(co_await check_cancelled());
        const std::string now = done ? "" : done.error().message;
        if (std::exchange(trouble, now) != now && !done)
            log_warn("master: the copy to take over with is not up to date: {}", now);
        CO_TRY(co_await sleep(ports_.timers, pause));
    }
}

Estate Standby::take() {
    loaded_ = false;
    return std::exchange(estate_, Estate{});
}

}  // namespace hostler::master
