#include "cli/wait.h"

#include <fmt/format.h>

#include "api/codec.h"
#include "api/operations_host.h"
#include "api/operations_instance.h"
#include "api/operations_long_operation.h"
#include "api/problem.h"
#include "cli/render.h"
#include "core/safe_text.h"
#include "core/signal.h"

namespace hostler::cli {

namespace {

constexpr Duration retry_pause = std::chrono::milliseconds{500};
constexpr Duration redraw_time = std::chrono::seconds{1};

bool has_ended(std::string_view state) { return state == "stopped" || state == "failed" || state == "lost"; }

// A port of it has answered before it was called running.
bool is_probed(const json::value& item) {
    const json::value* probes = item.is_object() ? item.get_object().if_contains("probes") : nullptr;
    return probes && probes->is_int64() && probes->get_int64() > 0;
}

// How far the host is with it, in the host's own words; empty: they say nothing that its phase does not.
std::string told_of(const json::value& item, std::string_view phase) {
    const bool begins = phase == "pulling" || phase == "starting" || phase == "probing";
    std::string message = begins ? text_of(item, "message") : "";
    const bool names_it = message.starts_with(phase) || message.starts_with("making image ");
    return message.empty() || names_it ? message : fmt::format("{}: {}", phase, message);
}

// Follows one instance by the events of its watch.
class InstanceWait {
public:
    InstanceWait(CliWorld& world, std::string instance, Until until)
        : world_(world), progress_(world), instance_(std::move(instance)), until_(until) {}

    // Whether to go on. Errors: the instance has ended, and was to run.
    Result<bool> take(const ServerEvent& event) {
        if (event.name == "synced") {
            if (known_ || until_ == Until::running) return true;
            done_ = true;  // It was to end, and is not there.
            return false;
        }
        const json::value item = TRY(api::parse_json(event.data, std::size_t{16} << 20));
        if (text_of(item, "instanceID") != instance_ && text_of(item, "id") != instance_) return true;
        known_ = true;
        last_ = item;
        const std::string state = text_of(item, "state");
        const std::string phase = text_of(item, "phase");
        progress_.show(phase.empty() ? state : phase, told_of(item, phase));
        if (event.name == "removed") return gone();
        if (until_ == Until::ended) {
            // One that has failed has its volumes until its host says that nothing of it is left there.
            const json::value* holds = item.as_object().if_contains("holdsPlace");
            done_ =
                has_ended(state) && !(state == "failed" && holds && holds->is_bool() && holds->get_bool());
            return !done_;
        }
        if (state != "running") settling_.reset();
        if (has_completed(item)) done_ = true;
        if (!done_ && has_ended(state)) return failed(item, state);
        if (state == "running" && is_probed(item)) done_ = true;
        if (state == "running" && !done_ && !settling_) {
            progress_.show("running, without a probe: a moment more");
            settling_.emplace(world_.timers, settled_after, [this] {
                done_ = true;
                settled_.notify_all();
            });
        }
        return !done_;
    }
    bool done() const { return done_; }
    Signal& settled() { return settled_; }
    json::value last() const { return last_; }
    std::string step() const {
        const std::string phase = text_of(last_, "phase");
        return phase.empty() ? text_of(last_, "state") : phase;
    }
    void end() { progress_.end(); }

private:
    Result<bool> gone() {
        done_ = until_ == Until::ended;
        if (done_) return false;
        return fail(Code::not_found, fmt::format("instance {} was taken away meanwhile", instance_));
    }
    Result<bool> failed(const json::value& item, std::string_view state) {
        std::string message = text_of(item, "message");
        std::string sentence =
            fmt::format("instance {} is {}{}{}", instance_, state, message.empty() ? "" : ": ", message);
        Error error{
            .code = Code::internal, .message = std::move(sentence), .reason = text_of(item, "reason")};
        // What has never run has no logs.
        error.help = text_of(item, "startedAt").empty()
                         ? fmt::format("`hostler instance explain {}` tells more", instance_)
                         : fmt::format(
                               "`hostler instance explain {0}` and `hostler instance logs {0}` tell "
                               "more",
                               instance_);
        return std::unexpected(std::move(error));
    }

    CliWorld& world_;
    Progress progress_;
    std::string instance_;
    Until until_;
    Signal settled_;                    // It has run for long enough.
    std::optional<Deadline> settling_;  // While it runs, and nothing of it has answered a probe.
    json::value last_;
    bool known_ = false;
    bool done_ = false;
};

// Watches again whenever the stream breaks off: a master may change under a wait.
Task<> follow(ApiClient& client, CliWorld& world, ApiCall call, InstanceWait& wait) {
    std::string last_id;
    for (;;) {
        Result<> decided;
        auto watched = co_await client.watch(call, last_id, [&](ServerEvent event) -> Result<bool> {
            auto go_on = wait.take(event);
            if (!go_on) decided = std::unexpected(go_on.error());
            return go_on;
        });
        if (!decided) co_return decided;
        if (wait.done()) co_return Result<>{};
        if (!watched && watched.error().reason == "watch_expired" && !last_id.empty())
            last_id.clear();
        else if (!watched && watched.error().code != Code::unavailable)
            co_return watched;
        CO_TRY(co_await sleep(world.timers, retry_pause));
    }
}

// Runs `task` for `patience` at most, or until `ended` tells. Errors: timeout, and the task's.
Task<> within(CliWorld& world, Duration patience, Signal& ended, Task<> task) {
    struct State {
        std::optional<Result<>> result;
        Signal& ended;
    } state{.result = {}, .ended = ended};
    TaskGroup group{world.loop};
    group.start("wait", [](State& into, Task<> inner) -> Task<> {
        into.result.emplace(co_await std::move(inner));
        into.ended.notify_all();
        co_return Result<>{};
    }(state, std::move(task)));
    const Deadline deadline{world.timers, patience, [&] { state.ended.notify_all(); }};
    auto waited = co_await state.ended.wait();
    const auto result = state.result;
    CO_TRY(co_await group.close());
    if (result) co_return *result;
    CO_TRY(std::move(waited));
    co_return fail(Code::timeout, "", "wait_timeout");
}

}  // namespace

bool has_completed(const json::value& instance) {
    return text_of(instance, "state") == "stopped" && text_of(instance, "reason") == "completed";
}

Progress::Progress(CliWorld& world) : world_(world), since_(world.timers.now()) {}

Progress::~Progress() { end(); }

void Progress::show(std::string step, std::string told) {
    step = safe_line(step);
    told = safe_line(told);
    if (step.empty() || (step == step_ && told == told_)) return;
    const bool next = step != step_;
    step_ = std::move(step);
    told_ = std::move(told);
    if (world_.err_is_terminal) {
        draw();
        if (!armed_) arm(redraw_time);
        return;
    }
    if (next) return print();
    const Duration passed = world_.timers.now() - printed_at_;
    if (passed >= line_interval) return print();
    if (!armed_) arm(line_interval - passed);
}

std::string Progress::line() const { return told_.empty() ? step_ : told_; }

void Progress::draw() {
    const auto passed =
        std::chrono::duration_cast<std::chrono::seconds>(world_.timers.now() - since_).count();
    drawn_ = true;
    const std::string seconds = fmt::format(" … {}s", passed);
    // A line that wraps could not be cleared.
    const auto size = world_.window_size ? world_.window_size() : std::nullopt;
    const int columns = size ? size->columns : world_.columns;
    const int room = columns - static_cast<int>(seconds.size());
    world_.err(fmt::format("\r\x1b[K{}{}",
                           columns > 0 ? cut(line(), static_cast<std::size_t>(std::max(room, 2))) : line(),
                           seconds));
}

void Progress::print() {
    if (line() == printed_) return;
    printed_ = line();
    printed_at_ = world_.timers.now();
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(printed_at_ - since_).count();
    world_.err(fmt::format("{} … {}s\n", printed_, passed));
}

void Progress::arm(Duration wait) {
    armed_ = true;
    timer_ = world_.timers.schedule(world_.timers.now() + wait, [this] {
        armed_ = false;
        if (!world_.err_is_terminal) return print();
        draw();
        arm(redraw_time);
    });
}

void Progress::end() {
    if (std::exchange(armed_, false)) world_.timers.cancel(timer_);
    if (std::exchange(drawn_, false)) world_.err("\r\x1b[K");
}

Task<json::value> wait_instance(ApiClient& client, CliWorld& world, std::string instance, std::string tenant,
                                Until until, Duration patience) {
    ApiCall call{.operation = &api::ops::list_instances,
                 .query = {{"watch", "true"}, {"instance", instance}, {"all", "true"}}};
    if (!tenant.empty()) call.query.emplace_back("tenantID", tenant);
    InstanceWait wait{world, instance, until};
    auto followed =
        co_await within(world, patience, wait.settled(), follow(client, world, std::move(call), wait));
    wait.end();
    if (wait.done()) co_return wait.last();
    if (!followed && followed.error().reason == "wait_timeout") {
        const std::string step = wait.step();
        co_return fail(Code::timeout, fmt::format("instance {} is still {}; it continues in the background",
                                                  instance, step.empty() ? "not heard of" : step));
    }
    if (!followed) co_return std::unexpected(std::move(followed).error());
    co_return wait.last();
}

Task<json::value> wait_drained(ApiClient& client, CliWorld& world, std::string host, Duration patience) {
    Progress progress{world};
    const Instant end = world.timers.now() + patience;
    for (;;) {
        const json::value seen =
            CO_TRY(co_await client.call({.operation = &api::ops::get_host, .params = {{"host", host}}}));
        const auto shown = CO_TRY(api::decode_stored<api::Host>(json::serialize(seen)));
        if (shown.state == api::HostState::drained) co_return seen;
        if (!shown.drain_until)
            co_return fail(Code::conflict,
                           fmt::format("the drain of host {} was ended before it was done", host),
                           "not_draining");
        const std::string left = fmt::format("{}, {} instance{} left", text_of(seen, "state"),
                                             shown.instances, shown.instances == 1 ? "" : "s");
        progress.show(shown.instances == 0 ? left
                                           : fmt::format("{}; the remaining instances are stopped at {}",
                                                         left, rfc3339(*shown.drain_until)));
        if (world.timers.now() >= end)
            co_return fail(Code::timeout,
                           fmt::format("host {} is still {}; it continues in the background", host, left));
        CO_TRY(co_await sleep(world.timers, retry_pause));
    }
}

Task<json::value> wait_operation(ApiClient& client, CliWorld& world, std::string id, Duration patience) {
    Progress progress{world};
    const Instant end = world.timers.now() + patience;
    for (;;) {
        const json::value operation = CO_TRY(
            co_await client.call({.operation = &api::ops::get_operation, .params = {{"operation", id}}}));
        const std::string state = text_of(operation, "state");
        if (state == "done") co_return operation;
        if (state == "failed") {
            const auto whole = api::decode_stored<api::LongOperation>(json::serialize(operation));
            if (whole && whole->error) co_return std::unexpected(api::error_of(*whole->error));
            co_return fail(Code::internal,
                           fmt::format("operation {} failed: {}", id, text_of(operation, "message")));
        }
        progress.show(text_of(operation, "message"));
        if (world.timers.now() >= end)
            co_return fail(Code::timeout,
                           fmt::format("operation {} has not ended yet; it continues in the background", id));
        CO_TRY(co_await sleep(world.timers, retry_pause));
    }
}

}  // namespace hostler::cli
