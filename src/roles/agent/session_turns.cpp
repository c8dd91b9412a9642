// Which of the connections is spoken through.
#include <algorithm>

#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/agent/session.h"

namespace hostler::agent {

namespace {

constexpr Duration turns_looked_at = seconds{1};
constexpr Duration quiet_min =
    seconds{1};  // Before a hello that was not answered is said again there; doubles,
constexpr Duration quiet_max = seconds{30};  // up to here.

}  // namespace

Task<> Session::conduct() {
    while (true) {
        CO_TRY(co_await check_cancelled());
        follow_advice();
        leave_draining();
        Slot* const slot = best();
        if (slot && slot != active_) {
            CO_TRY(co_await greet(*slot));
            continue;
        }
        const Deadline deadline{ports_.timers, turns_looked_at, [this] { changed_.notify_all(); }};
        CO_TRY(co_await changed_.wait());
    }
}

// Where to speak now. Who speaks goes on, unless there is somewhere clearly better.
Session::Slot* Session::best() {
    const auto usable = [&](const Slot& slot) {
        return slot.link && !slot.link->closed() && slot.quiet_until <= ports_.timers.now();
    };
    if (wanted_ && usable(*wanted_)) return wanted_;
    if (active_ && active_->link && !active_->link->closed()) return active_;
    Slot* found = nullptr;
    const Way* best = nullptr;
    for (Slot& slot : slots_) {
        const Way* way = usable(slot) ? ways_.find(slot.address) : nullptr;
        if (!way) continue;
        const std::string& zone = member_.member().zone;
        if (best && (best->draining == way->draining ? cost(*best, zone) <= cost(*way, zone) : way->draining))
            continue;
        found = &slot;
        best = way;
    }
    return found;
}

void Session::follow_advice() {
    if (ways_.rounds() == rounds_) return;
    rounds_ = ways_.rounds();
    const auto& ways = ways_.ways();
    const auto index = [&](const Slot* slot) -> std::optional<std::size_t> {
        const Way* way = slot && slot->link ? ways_.find(slot->address) : nullptr;
        if (!way) return std::nullopt;
        return static_cast<std::size_t>(way - ways.data());
    };
    Slot* const standby = active_ ? &other(*active_) : nullptr;
    switch (
        compass_.advise(ways, index(active_), index(standby), member_.member().zone, ports_.timers.now())) {
        case Compass::Step::stay: break;
        case Compass::Step::swap: wanted_ = standby; break;
        case Compass::Step::turn: standby->link->close(); break;
    }
}

// When its moment has come: the active one by saying hello on the standby, the standby by hanging up.
void Session::leave_draining() {
    if (!active_) return;
    Slot& standby = other(*active_);
    const auto drains = [&](const Slot& slot) {
        const Way* way = ways_.find(slot.address);
        return way && way->draining;
    };
    if (standby.link && !drains(standby) && ways_.time_to_leave(active_->address)) wanted_ = &standby;
    if (standby.link && ways_.time_to_leave(standby.address)) standby.link->close();
}

// After this the slot is the one that speaks, or it is left alone for a while.
Task<> Session::greet(Slot& slot) {
    const std::uint64_t number = slot.number;
    const bool another = ways_.ways().size() > 1;
    const auto done =
        co_await say_hello(slot, number, another ? settings_.hello_deadline : settings_.call_deadline);
    CO_TRY(co_await check_cancelled());
    if (wanted_ == &slot) wanted_ = nullptr;
    if (!slot.link || slot.number != number) co_return Result<>{};
    if (!done) {
        log_warn("{} at {} does not pass our hello on: {}", slot.link->identity(), slot.address,
                 done.error().message);
        slot.quiet = std::clamp(slot.quiet * 2, quiet_min, quiet_max);
        slot.quiet_until = ports_.timers.now() + slot.quiet;
        slot.tried = true;
        ways_.changed().notify_all();
        // Without an answer it stays, for tunnels; who refuses may do better on a new connection.
        if (done.error().code != Code::timeout) slot.link->close();
        co_return Result<>{};
    }
    slot.quiet = {};
    active_ = &slot;
    ways_.worked(slot.address);
    log_info("connected to {} at {}, epoch {}", slot.link->identity(), slot.link->address(), book_.epoch());
    reporter_.greeted();
    reporter_.grown().notify_all();  // Whoever still sends elsewhere sees that its turn is over.
    pulse_.changed().notify_all();
    slot.tasks->start("uplink", [](wire::Link& on, Duration interval, Duration patience) -> Task<> {
        (void)co_await on.keep_alive(interval, patience);
        co_return Result<>{};
    }(*slot.link, settings_.ping_interval, settings_.patience));
    slot.tasks->start("reports", send_reports(slot, turn_));
    slot.tasks->start("telemetry", send_telemetry(slot, turn_));
    slot.tasks->start("answers", send_answers(slot, turn_));
    slot.tasks->start("certificate", watch_certificate(slot, turn_));
    changed_.notify_all();
    ways_.changed().notify_all();
    co_return Result<>{};
}

Task<> Session::say_hello(Slot& slot, std::uint64_t number, Duration deadline) {
    const auto gone = [&] { return !slot.link || slot.number != number; };
    const auto master = slot.master;  // The slot may have another one when we wake.
    const Instant until = ports_.timers.now() + deadline;
    const auto left = [&] { return std::max<Duration>(until - ports_.timers.now(), milliseconds{1}); };
    auto link = master->link();
    if (!master->speaks()) {
        CO_TRY(co_await MasterLink::invitation(master, left()));
        link = CO_TRY(co_await MasterLink::open(master, member_.member().credentials, left()));
        if (gone()) co_return fail(Code::unavailable, "the connection ended");
        slot.tasks->start("master", hear(slot, link));
    }
    if (member_.renewal_due())
        if (const auto renewed = co_await member_.renew(link); !renewed)
            log_warn("the certificate is not renewed yet: {}", renewed.error().message);
    // Without a number that is written down, reports of this life are not counted.
    const auto counted = co_await reporter_.queue().reserve();
    CO_TRY(co_await check_cancelled());
    uplink::Frame frame;
    auto& hello = *frame.mutable_agent_hello();
    hello = CO_TRY(co_await reporter_.hello(book_.epoch()));
    if (gone()) co_return fail(Code::unavailable, "the connection ended");
    if (counted) hello.set_life(life_);
    hello.set_turn(++turn_);
    hello.set_measures_speed(true);
    hello.set_settled(reporter_.queue().settled());
    frame = CO_TRY(co_await link->ask(std::move(frame), left()));
    if (!frame.has_agent_welcome()) co_return fail(Code::unavailable, "the master did not welcome this host");
    CO_TRY(co_await accept(std::move(*frame.mutable_agent_welcome())));
    // It took a while to write down what it said.
    if (gone() || !master->speaks()) co_return fail(Code::unavailable, "the master hung up meanwhile");
    co_return Result<>{};
}

Task<> Session::accept(uplink::AgentWelcome welcome) {
    if (welcome.epoch() < book_.epoch())
        co_return fail(Code::conflict,
                       fmt::format("the master's epoch is {}; this host already obeys epoch {}",
                                   welcome.epoch(), book_.epoch()),
                       "stale_epoch");
    CO_TRY(co_await book_.raise_epoch(welcome.epoch()));
    pulse_.pace(milliseconds{welcome.telemetry_interval_ms()});
    if (welcome.report_interval_ms() > 0) reporter_.pace(milliseconds{welcome.report_interval_ms()});
    co_return co_await ways_.learn(welcome.access());
}

}  // namespace hostler::agent
