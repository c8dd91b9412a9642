#include "cli/browser_login.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "api/codec.h"
#include "api/operations_sign_in.h"
#include "cli/client.h"
#include "core/safe_text.h"
#include "core/signal.h"
#include "core/task_group.h"

namespace hostler::cli {

namespace {

constexpr std::chrono::seconds call_max{15};
constexpr std::size_t host_name_max = 64;

bool has_desktop(const CliWorld& world) {
#ifdef __APPLE__
    (void)world;
    return true;
#else
    return !world.env("DISPLAY").value_or("").empty() || !world.env("WAYLAND_DISPLAY").value_or("").empty();
#endif
}

Task<api::DeviceSignIn> begin(CliWorld& world, const Connection& to, ApiClient& client) {
    ApiCall call{.operation = &api::ops::begin_device_sign_in};
    const std::string host = world.host_name.substr(0, host_name_max);
    if (!host.empty()) call.body["host"] = host;
    const auto answer = co_await client.call(std::move(call));
    if (!answer && answer.error().code == Code::not_found)
        co_return fail(Code::invalid,
                       fmt::format("the API at {} is of a release without sign-in by browser; use --user "
                                   "LOGIN or --key KEY",
                                   to.api));
    if (!answer) co_return std::unexpected(answer.error());
    auto begun = CO_TRY(api::decode_stored<api::DeviceSignIn>(json::serialize(*answer)));
    if (!is_web_address(begun.verification_uri) || !is_web_address(begun.verification_uri_complete))
        co_return fail(Code::internal, "the API named a page that is no web address", "not_our_api");
    co_return begun;
}

void show(CliWorld& world, const api::DeviceSignIn& begun) {
    const std::string code = safe_line(begun.user_code);
    const bool opened =
        world.open_url && has_desktop(world) && world.open_url(begun.verification_uri_complete);
    world.err(
        fmt::format("{} {}\nThe page shows the code {}\nWaiting for your answer there; Ctrl-C ends it.\n",
                    opened ? "Sign in with the browser that opens, or at" : "Sign in with a browser at",
                    begun.verification_uri_complete, code));
}

// Woken by time and by signals.
struct Wait {
    Signal changed;
    bool interrupted = false;
};

Task<> hear_signals(CliWorld& world, Wait& wait) {
    while (CO_TRY(co_await world.next_signal()) == SIGWINCH) continue;
    wait.interrupted = true;
    wait.changed.notify_all();
    co_return Result<>{};
}

// Worth another question: no answer yet, asked too often, or the API is away for a moment.
bool is_passing(const Error& error) {
    return error.reason == "authorization_pending" || error.code == Code::exhausted ||
           error.code == Code::unavailable || error.code == Code::timeout;
}

Task<api::SignedIn> poll(CliWorld& world, ApiClient& client, const api::DeviceSignIn& begun, Wait& wait) {
    constexpr std::int64_t interval_max = 60, life_max = 3'600;
    Duration interval = std::chrono::seconds{std::clamp<std::int64_t>(begun.interval, 1, interval_max)};
    const Instant until = world.timers.now() + std::chrono::seconds{std::min(begun.expires_in, life_max)};
    while (world.timers.now() + interval < until) {
        const Deadline again{world.timers, interval, [&wait] { wait.changed.notify_all(); }};
        if (!wait.interrupted) CO_TRY(co_await wait.changed.wait());
        if (wait.interrupted) co_return fail(Code::cancelled, "the sign-in was interrupted");
        ApiCall call{.operation = &api::ops::end_device_sign_in, .body = {{"deviceCode", begun.device_code}}};
        const auto answer = co_await client.call(std::move(call));
        if (answer) co_return api::decode_stored<api::SignedIn>(json::serialize(*answer));
        const Error& error = answer.error();
        if (error.reason == "access_denied") co_return fail(Code::forbidden, error.message, error.reason);
        if (!is_passing(error)) co_return std::unexpected(error);
        if (error.reason == "slow_down") interval += std::chrono::seconds{2};
    }
    co_return fail(Code::timeout, "the sign-in was not confirmed in the browser in time; begin again");
}

}  // namespace

bool is_web_address(std::string_view url) {
    const bool is_web = url.starts_with("https://") || url.starts_with("http://");
    constexpr std::string_view others = "-._~:/?#[]@!$&()*+,;=%";
    return is_web && url.size() <= 2'048 && std::ranges::all_of(url, [&](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      others.contains(c);
           });
}

Task<api::SignedIn> sign_in_by_browser(CliWorld& world, Connection to) {
    ApiClient client{world, CO_TRY(bases_of(to)), "", {.total = call_max}};
    const api::DeviceSignIn begun = CO_TRY(co_await begin(world, to, client));
    show(world, begun);
    Wait wait;
    TaskGroup tasks{world.loop};
    if (world.next_signal) tasks.start("signals", hear_signals(world, wait));
    auto answer = co_await poll(world, client, begun, wait);
    (void)co_await tasks.close();
    co_return answer;
}

}  // namespace hostler::cli
