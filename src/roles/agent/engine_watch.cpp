#include "roles/agent/engine_watch.h"

#include <algorithm>
#include <utility>

#include "core/log.h"
#include "roles/agent/within.h"

namespace hostler::agent {

namespace {

// Of looks that fail: one each interval at first, for an engine that was started again; then more rarely.
constexpr int tries_at_first = 10;
constexpr int doublings_max = 3;
constexpr Duration retry_max = seconds{5};
constexpr int rest_per_look = 9;  // Of the time that it took.

}  // namespace

EngineWatch::EngineWatch(const Settings& settings, const Ports& ports, Workloads& workloads,
                         std::function<Task<>()> look)
    : settings_(settings),
      ports_(ports),
      workloads_(workloads),
      look_(std::move(look)),
      due_(ports.timers.now() + settings.watch_interval),
      looked_at_(ports.timers.now()) {}

Task<> EngineWatch::run() {
    while (true) {
        CO_TRY(co_await wait());
        if (ports_.timers.now() >= due_) CO_TRY(co_await look());
        if (follows_ && ports_.timers.now() >= ask_due_) CO_TRY(co_await ask());
    }
}

Task<> EngineWatch::wait() {
    const auto next = [this] { return follows_ ? std::min(due_, ask_due_) : due_; };
    while (ports_.timers.now() < next()) {
        const Deadline deadline{ports_.timers, next() - ports_.timers.now(), [this] { wake_.notify_all(); }};
        CO_TRY(co_await wake_.wait());
    }
    co_return Result<>{};
}

Task<> EngineWatch::look() {
    looked_at_ = ports_.timers.now();
    const bool told = std::exchange(told_, false);
    const std::uint64_t changes = changes_;
    const bool rarely = follows_ && looked_at_ >= settled_;
    due_ = looked_at_ + (rarely ? settings_.list_interval : settings_.watch_interval);
    CO_TRY(co_await look_());
    const Instant ended = ports_.timers.now();
    rested_ = std::min(ended + (ended - looked_at_) * rest_per_look, looked_at_ + settings_.watch_interval);
    if (!workloads_.known()) {  // Also while it tells what happens.
        ++failures_;
        const int doublings = std::clamp(failures_ - tries_at_first, 0, doublings_max);
        due_ = looked_at_ + std::min<Duration>(settings_.watch_interval * (1 << doublings), retry_max);
        co_return Result<>{};
    }
    failures_ = 0;
    if (!follows_) co_return Result<>{};
    const Instant now = ports_.timers.now();
    if (!told && !told_ && changes != changes_ && !untold_ &&
        looked_at_ > settled_ + settings_.watch_interval)
        untold_ = now;
    if (!untold_) co_return Result<>{};
    // It may be on its way.
    if (now < *untold_ + settings_.news_late_max)
        look_by(*untold_ + settings_.news_late_max);
    else
        end_stream("it did not tell what a look has found");
    co_return Result<>{};
}

// An engine that hangs ends no stream.
Task<> EngineWatch::ask() {
    ask_due_ = ports_.timers.now() + settings_.engine_ask_interval;
    const auto there = co_await within(ports_.loop, ports_.timers, settings_.engine_deadline,
                                       "the container engine", ports_.events->answers());
    CO_TRY(co_await check_cancelled());
    if (!there) end_stream(there.error().message);
    co_return Result<>{};
}

Task<> EngineWatch::follow(std::string host) {
    constexpr Duration pause_min = seconds{1}, pause_max = seconds{30}, good = minutes{1};
    if (!ports_.events) co_return Result<>{};
    Duration pause = pause_min;
    while (true) {
        const Instant begun = ports_.timers.now();
        const auto ended = co_await follow_once(host);
        CO_TRY(co_await check_cancelled());
        if (!std::exchange(said_, true))
            log_info("the container engine does not tell what happens, and is asked each second: {}",
                     ended ? "it has ended that" : ended.error().message);
        if (std::exchange(follows_, false)) {
            workloads_.doubt();
            look_by(ports_.timers.now());
        }
        if (ports_.timers.now() - begun > good) pause = pause_min;
        CO_TRY(co_await sleep(ports_.timers, pause));
        pause = std::min<Duration>(pause * 2, pause_max);
    }
}

// In a group of its own, so that it can be ended.
Task<> EngineWatch::follow_once(std::string host) {
    TaskGroup stream{ports_.loop};
    Signal ended;
    std::optional<Result<>> outcome;
    stream.start(
        "events of the container engine",
        [](EngineWatch& self, std::string of, std::optional<Result<>>& into, Signal& done) -> Task<> {
            into = co_await self.ports_.events->follow(std::string{label::host}, std::move(of),
                                                       [&self](EngineNews news) { self.hear(news); });
            done.notify_all();
            co_return Result<>{};
        }(*this, std::move(host), outcome, ended));
    stream_ = &stream;
    Result<> waited{};
    if (!outcome) waited = co_await ended.wait();
    stream_ = nullptr;
    (void)co_await stream.close();
    if (!waited) co_return waited;
    co_return *outcome;
}

void EngineWatch::hear(EngineNews news) {
    const Instant now = ports_.timers.now();
    told_ = true;
    untold_.reset();
    if (news == EngineNews::follows) {
        follows_ = true;
        ask_due_ = now + settings_.engine_ask_interval;
        if (std::exchange(said_, false)) log_info("the container engine tells what happens");
    }
    // Dockerd tells of an end before its list shows it, and podman begins to tell a moment late.
    settled_ = now + settings_.news_settle;
    look_by(std::max(now + settings_.coalesce, rested_));
}

void EngineWatch::look_by(Instant at) {
    due_ = std::min(due_, at);
    wake_.notify_all();
}

void EngineWatch::end_stream(std::string_view why) {
    untold_.reset();
    if (!stream_) return;
    log_warn("the event stream of the container engine is opened again: {}", why);
    said_ = true;
    stream_->cancel();
}

}  // namespace hostler::agent
