#include "cli/client.h"

#include <fmt/format.h>

#include "api/codec.h"
#include "api/problem.h"
#include "core/percent.h"

namespace hostler::cli {

namespace {

constexpr std::size_t answer_max = std::size_t{64} << 20;
constexpr std::size_t event_max = std::size_t{16} << 20;

// With its request where the fault is the server's: its operator finds it in logs and audit by that.
Error told(const api::Problem& problem) {
    constexpr int server_faults = 500;
    Error error = api::error_of(problem);
    if (problem.status >= server_faults && problem.request_id)
        error.message += fmt::format(" (request {})", *problem.request_id);
    return error;
}

}  // namespace

Result<std::vector<ServerEvent>> EventReader::take(std::string_view bytes) {
    rest_ += bytes;
    std::vector<ServerEvent> events;
    std::size_t from = 0;
    for (auto end = rest_.find("\n\n"); end != rest_.npos; end = rest_.find("\n\n", from)) {
        ServerEvent event;
        std::string_view block = std::string_view(rest_).substr(from, end - from);
        from = end + 2;
        while (!block.empty()) {
            const auto line_end = block.find('\n');
            const std::string_view line = block.substr(0, line_end);
            block.remove_prefix(line_end == block.npos ? block.size() : line_end + 1);
            const auto colon = line.find(':');
            const auto field = line.substr(0, colon);
            std::string_view value = colon == line.npos ? "" : line.substr(colon + 1);
            if (value.starts_with(' ')) value.remove_prefix(1);
            if (field == "id") event.id = value;
            if (field == "event") event.name = value;
            if (field == "data") event.data += value;
        }
        if (!event.name.empty() || !event.id.empty()) events.push_back(std::move(event));
    }
    rest_.erase(0, from);
    if (rest_.size() > event_max) return fail(Code::exhausted, "the API sent an event that is too large");
    return events;
}

const json::value* field_of(const json::value& object, std::string_view name) {
    return object.is_object() ? object.get_object().if_contains(name) : nullptr;
}

std::string text_of(const json::object& object, std::string_view name) {
    const json::value* value = object.if_contains(name);
    return value && value->is_string() ? std::string(value->get_string()) : std::string{};
}

std::string text_of(const json::value& object, std::string_view name) {
    return object.is_object() ? text_of(object.get_object(), name) : std::string{};
}

std::string target_of(const ApiCall& call) {
    std::string target{call.operation->path};
    for (const auto& [name, value] : call.params) {
        const std::string place = fmt::format("{{{}}}", name);
        if (const auto at = target.find(place); at != target.npos)
            target.replace(at, place.size(), percent_encode(value));
    }
    char join = '?';
    for (const auto& [name, value] : call.query) {
        target += fmt::format("{}{}={}", join, percent_encode(name), percent_encode(value));
        join = '&';
    }
    return target;
}

ApiClient::ApiClient(CliWorld& world, std::vector<Base> bases, std::string key, Limits limits)
    : world_(world),
      bases_(std::move(bases)),
      key_(std::move(key)),
      limits_(limits),
      http_(world.net, world.timers) {
    HOSTLER_ASSERT(!bases_.empty());
}

ApiClient::ApiClient(CliWorld& world, std::vector<Base> bases, std::string key)
    : ApiClient(world, std::move(bases), std::move(key), Limits{}) {}

// Whoever asks again asks for the same.
void ApiClient::name_write(ApiCall& call) const {
    if (!api::keeps_answer(*call.operation) || !call.idempotency_key.empty() || !world_.dice) return;
    const auto is_own = [](const auto& field) { return field.first == "operationID"; };
    if (call.body.contains("operationID") || std::ranges::any_of(call.query, is_own)) return;
    call.idempotency_key = "cli-";
    for (int i = 0; i < 4; ++i) call.idempotency_key += fmt::format("{:08x}", world_.dice());
}

struct ApiClient::Attempts {
    Instant until;
    std::size_t count = 0;
};

// Whether it is worth asking again; if so, it is time to. `answered`: the headers of an answer, null without
// one.
Task<bool> ApiClient::again(Attempts& attempts, const Error& error, const http::Headers* answered) {
    constexpr Duration soon = std::chrono::milliseconds{100};
    Duration pause = soon;
    if (!answered) {
        if (error.reason != "unreachable" || bases_.size() == 1) co_return false;
        if (++attempts.count % bases_.size() != 0) pause = Duration{0};
    } else {
        const auto later = answered->find("Retry-After");
        if (error.code != Code::unavailable || !later) co_return false;
        if (error.reason != "no_leader") pause = std::chrono::seconds{1};  // That takes less than a second.
    }
    const bool all_asked = attempts.count >= bases_.size() || answered;
    if (all_asked && world_.timers.now() + pause >= attempts.until) co_return false;
    at_ = (at_ + 1) % bases_.size();
    if (pause > Duration{0}) CO_TRY(co_await sleep(world_.timers, pause));
    co_return true;
}

http::Request ApiClient::request(const ApiCall& call) const {
    http::Request request{.method = std::string(name(call.operation->method)),
                          .target = base().prefix + target_of(call)};
    request.headers.set("Host", base().host);
    request.headers.set("User-Agent", "hostler/" + world_.version);
    request.headers.set("Accept", "application/json, text/event-stream, application/problem+json");
    if (!key_.empty()) request.headers.set("Authorization", "Bearer " + key_);
    if (!call.idempotency_key.empty()) request.headers.set("Idempotency-Key", call.idempotency_key);
    if (!call.body.empty()) {
        request.headers.set("Content-Type", "application/json");
        request.body = json::serialize(call.body);
    }
    return request;
}

std::unexpected<Error> ApiClient::unreachable(Error error) const {
    if (error.code == Code::cancelled || error.code == Code::invalid)
        return std::unexpected(std::move(error));
    if (error.code == Code::unauthenticated) {  // TLS found somebody else there.
        Error untrusted{.code = Code::unavailable,
                        .message = fmt::format("the API at {} is not to be trusted: {}",
                                               base().endpoint.address, error.message),
                        .reason = "untrusted"};
        if (error.reason == "unknown_authority")
            untrusted.help =
                "if the authority is one of your own, name its certificate: --ca FILE or HOSTLER_CA";
        return std::unexpected(std::move(untrusted));
    }
    return fail(Code::unavailable,
                fmt::format("the API at {} cannot be reached: {}", base().endpoint.address, error.message),
                "unreachable");
}

Result<json::value> ApiClient::answer(int status, std::string_view body) const {
    auto value = api::parse_json(body, answer_max);
    if (value && status >= 200 && status < 300) return value;
    if (value && status >= 400) {
        const auto problem = api::decode_stored<api::Problem>(body);
        if (problem && !problem->code.empty()) return std::unexpected(told(*problem));
    }
    return fail(
        Code::internal,
        fmt::format("{} answered with status {}, but not as Hostler's API does; is the address right?",
                    base().endpoint.address, status),
        "not_our_api");
}

// One of several that hangs must not hold up those that would answer.
http::Patience ApiClient::patience() const {
    if (bases_.size() == 1) return {.total = limits_.total};
    return {.connect = std::chrono::seconds{3}, .head = std::chrono::seconds{20}, .total = limits_.total};
}

Task<json::value> ApiClient::call(ApiCall call) {
    name_write(call);
    Attempts attempts{world_.timers.now() + limits_.again};
    while (true) {
        auto response = co_await http_.fetch(base().endpoint, request(call), patience(), answer_max);
        Result<json::value> answered =
            response ? answer(response->status, response->body) : unreachable(std::move(response).error());
        if (answered) co_return answered;
        if (!CO_TRY(co_await again(attempts, answered.error(), response ? &response->headers : nullptr)))
            co_return answered;
    }
}

Task<http::ReplyPtr> ApiClient::begin(ApiCall call, std::string last_id) {
    Attempts attempts{world_.timers.now() + limits_.again};
    while (true) {
        http::Call http{.request = request(call), .patience = patience()};
        http.patience.total = Duration::max();  // Events come for as long as they are watched.
        if (!last_id.empty()) http.request.headers.set("Last-Event-ID", last_id);
        auto started = co_await http_.start(base().endpoint, std::move(http));
        Error error;
        if (!started) {
            error = unreachable(std::move(started).error()).error();
        } else {
            const http::ReplyPtr& reply = *started;
            const auto type = reply->headers.find("Content-Type").value_or("");
            if (reply->status == 200 && type.starts_with("text/event-stream")) co_return started;
            const auto body = co_await reply->read_all(answer_max);
            const auto value = body ? answer(reply->status, *body) : unreachable(body.error());
            error = value ? Error{Code::internal, "the API did not answer with events", "not_our_api"}
                          : value.error();
        }
        if (!CO_TRY(co_await again(attempts, error, started ? &(*started)->headers : nullptr)))
            co_return std::unexpected(std::move(error));
    }
}

Task<> ApiClient::watch(ApiCall call, std::string& last_id, std::function<Result<bool>(ServerEvent)> each) {
    const http::ReplyPtr reply = CO_TRY(co_await begin(std::move(call), last_id));
    EventReader reader;
    std::vector<char> piece(16 * 1024);
    for (;;) {
        auto size = co_await reply->read(piece);
        if (!size) co_return unreachable(std::move(size).error());
        if (*size == 0) co_return Result<>{};
        for (ServerEvent& event : CO_TRY(reader.take({piece.data(), *size}))) {
            std::string id = event.id;
            if (!event.name.empty() && !CO_TRY(each(std::move(event)))) co_return Result<>{};
            if (!id.empty()) last_id = std::move(id);
        }
    }
}

}  // namespace hostler::cli
