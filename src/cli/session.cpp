#include "cli/session.h"

#include <fmt/format.h>

#include "api/codec.h"
#include "api/operations_instance.h"
#include "api/problem.h"
#include "core/base64.h"
#include "core/percent.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

using namespace std::chrono_literals;

constexpr Duration patience = 60s;  // As long as the host keeps a session that nobody is connected to.
constexpr Duration pause_min = 200ms;
constexpr Duration pause_max = 2s;
constexpr std::size_t problem_bytes_max = 64 * 1024;

std::string new_id(const std::function<std::uint32_t()>& dice) {
    std::string id;
    for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", dice());
    return id;
}

// A refusal that waiting does not change.
bool is_final(const Error& error) {
    switch (error.code) {
        case Code::unavailable: return error.reason == "not_running";
        case Code::timeout:
        case Code::exhausted: return false;
        case Code::invalid:
        case Code::unauthenticated:
        case Code::forbidden:
        case Code::not_found:
        case Code::conflict:
        case Code::cancelled:
        case Code::internal: return true;
    }
    return true;
}

}  // namespace

Task<Way> way_to(ApiClient& client, const Connection& connection, std::string instance, std::string tenant) {
    ApiCall call{.operation = &api::ops::get_instance, .params = {{"instance", instance}}};
    if (!tenant.empty()) call.query.emplace_back("tenantID", tenant);
    const json::value seen = CO_TRY(co_await client.call(std::move(call)));
    const std::string gateway = text_of(seen, "gateway");
    if (gateway.empty())
        co_return fail(Code::unavailable, "this cloud has no gateway, through which instances are entered",
                       "no_gateway");
    Way way{.key = connection.key, .instance = text_of(seen, "id"), .tenant = std::move(tenant)};
    way.gateway = CO_TRY(bases_of({.api = gateway, .key = connection.key, .ca = connection.ca})).front();
    co_return way;
}

Session::Session(CliWorld& world, const Way& way, std::string kind, api::Params query)
    : world_(world),
      way_(way),
      kind_(std::move(kind)),
      query_(std::move(query)),
      id_(new_id(world.dice)),
      client_(world.net, world.timers, {.idle_max = 0}),
      talk_(world.loop, world.timers, http::WebSocketSide::client, world.dice) {}

Session::~Session() = default;

Task<StreamPtr> Session::dial(bool resume) {
    std::string target = fmt::format("{}/v1/instances/{}/{}?session={}", way_.gateway.prefix,
                                     percent_encode(way_.instance), kind_, id_);
    if (resume) target += "&resume=true";
    if (!way_.tenant.empty()) target += "&tenantID=" + percent_encode(way_.tenant);
    for (const auto& [name, value] : query_) target += fmt::format("&{}={}", name, percent_encode(value));
    const std::size_t target_bytes = target.size();
    http::Call call{.request = {.method = "GET", .target = std::move(target)}};
    std::string key;
    for (int i = 0; i < 4; ++i) {
        const std::uint32_t dice = world_.dice();
        for (int shift = 0; shift < 32; shift += 8) key += static_cast<char>(dice >> shift);
    }
    auto& headers = call.request.headers;
    headers.set("Host", way_.gateway.host);
    headers.set("User-Agent", "hostler/" + world_.version);
    headers.set("Authorization", "Bearer " + way_.key);
    headers.set("Connection", "Upgrade");
    headers.set("Upgrade", "websocket");
    headers.set("Sec-WebSocket-Version", "13");
    headers.set("Sec-WebSocket-Key", base64(key));
    call.patience = {.connect = 10s, .head = 40s};
    auto reply = co_await client_.start(way_.gateway.endpoint, std::move(call));
    if (!reply && reply.error().code == Code::cancelled) co_return std::unexpected(reply.error());
    if (!reply)
        co_return fail(Code::unavailable,
                       fmt::format("the gateway at {} cannot be reached: {}", way_.gateway.endpoint.address,
                                   reply.error().message),
                       "unreachable");
    if ((*reply)->status == 101) co_return (*reply)->take_stream();
    const auto body = co_await (*reply)->read_all(problem_bytes_max);
    const auto problem = api::decode_stored<api::Problem>(body.value_or(""));
    if (problem && !problem->code.empty()) co_return std::unexpected(api::error_of(*problem));
    if ((*reply)->status == 414) {
        auto error = fail(Code::invalid,
                          fmt::format("the command is too long for the gateway at {}: with its variables it "
                                      "takes {} bytes of a request",
                                      way_.gateway.endpoint.address, target_bytes),
                          "command_too_long");
        error.error().help =
            "Copy a script into the instance (`hostler instance cp`) and run that, or give it to a shell by "
            "standard input (`hostler exec -i NAME -- sh <SCRIPT`).";
        co_return error;
    }
    co_return fail(Code::unavailable,
                   fmt::format("the gateway at {} answers with status {} and opens no session",
                               way_.gateway.endpoint.address, (*reply)->status));
}

// The same id again is the same session: what was begun by an answer that was lost is not begun twice.
Task<> Session::open() {
    auto stream = co_await dial(false);
    if (!stream && stream.error().reason == "unreachable") stream = co_await dial(false);
    stream_ = CO_TRY(std::move(stream));
    co_return Result<>{};
}

Task<StreamPtr> Session::dial_again() {
    const Instant end = world_.timers.now() + patience;
    bool told = false;
    for (Duration pause = pause_min;; pause = std::min<Duration>(pause * 2, pause_max)) {
        auto stream = co_await dial(true);
        if (stream || stream.error().code == Code::cancelled || is_final(stream.error()) ||
            world_.timers.now() + pause > end) {
            if (told && stream && world_.err_is_terminal) world_.err("\r\nhostler: connected again\r\n");
            co_return stream;
        }
        if (!std::exchange(told, true) && world_.err_is_terminal)
            world_.err(fmt::format("\r\nhostler: the connection broke ({}); trying again for a minute\r\n",
                                   safe_line(stream.error().message)));
        CO_TRY(co_await sleep(world_.timers, pause));
    }
}

Task<> Session::keep() {
    while (true) {
        const auto ended = co_await talk_.carry(std::move(stream_));
        CO_TRY(co_await check_cancelled());
        if (talk_.closed()) co_return Result<>{};
        auto stream = co_await dial_again();
        if (!stream) {
            if (stream.error().code == Code::cancelled) co_return std::unexpected(stream.error());
            given_up_ = stream.error();
            talk_.close();
            co_return Result<>{};
        }
        stream_ = std::move(*stream);
    }
}

Task<http::Message> Session::receive() {
    auto message = co_await talk_.receive();
    if (!message && message.error().code != Code::cancelled && given_up_)
        co_return std::unexpected(*given_up_);
    co_return message;
}

}  // namespace hostler::cli
