#include "cli/client.h"

#include <fmt/format.h>

#include "api/codec.h"
#include "api/problem.h"
#include "core/percent.h"

namespace hostler::cli {

namespace {

constexpr std::size_t answer_max = std::size_t{64} << 20;
constexpr std::size_t event_max = std::size_t{16} << 20;

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
        if (!event.name.empty()) events.push_back(std::move(event));
    }
    rest_.erase(0, from);
    if (rest_.size() > event_max) return fail(Code::exhausted, "the API sent an event that is too large");
    return events;
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

ApiClient::ApiClient(Net& net, Timers& timers, Base base, std::string key, std::string version,
                     Duration total)
    : base_(std::move(base)),
      key_(std::move(key)),
      version_(std::move(version)),
      total_(total),
      http_(net, timers) {}

http::Request ApiClient::request(const ApiCall& call) const {
    http::Request request{.method = std::string(name(call.operation->method)),
                          .target = base_.prefix + target_of(call)};
    request.headers.set("Host", base_.host);
    request.headers.set("User-Agent", "hostler/" + version_);
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
                                               base_.endpoint.address, error.message),
                        .reason = "untrusted"};
        if (error.reason == "unknown_authority")
            untrusted.help =
                "if the authority is one of your own, name its certificate: --ca FILE or HOSTLER_CA";
        return std::unexpected(std::move(untrusted));
    }
    return fail(Code::unavailable,
                fmt::format("the API at {} cannot be reached: {}", base_.endpoint.address, error.message),
                "unreachable");
}

Result<json::value> ApiClient::answer(int status, std::string_view body) const {
    auto value = api::parse_json(body, answer_max);
    if (value && status >= 200 && status < 300) return value;
    if (value && status >= 400) {
        const auto problem = api::decode_stored<api::Problem>(body);
        if (problem && !problem->code.empty()) return std::unexpected(api::error_of(*problem));
    }
    return fail(
        Code::internal,
        fmt::format("{} answered with status {}, but not as Hostler's API does; is the address right?",
                    base_.endpoint.address, status),
        "not_our_api");
}

Task<json::value> ApiClient::call(ApiCall call) {
    auto response = co_await http_.fetch(base_.endpoint, request(call), {.total = total_}, answer_max);
    if (!response) co_return unreachable(std::move(response).error());
    co_return answer(response->status, response->body);
}

Task<> ApiClient::watch(ApiCall call, std::string& last_id, std::function<Result<bool>(ServerEvent)> each) {
    http::Call http{.request = request(call)};
    if (!last_id.empty()) http.request.headers.set("Last-Event-ID", last_id);
    auto started = co_await http_.start(base_.endpoint, std::move(http));
    if (!started) co_return unreachable(std::move(started).error());
    http::ReplyPtr reply = std::move(*started);
    if (reply->status != 200 ||
        !reply->headers.find("Content-Type").value_or("").starts_with("text/event-stream")) {
        auto body = co_await reply->read_all(answer_max);
        if (!body) co_return unreachable(std::move(body).error());
        auto value = answer(reply->status, *body);
        if (!value) co_return std::unexpected(std::move(value).error());
        co_return fail(Code::internal, "the API did not answer with events", "not_our_api");
    }
    EventReader reader;
    std::vector<char> piece(16 * 1024);
    for (;;) {
        auto size = co_await reply->read(piece);
        if (!size) co_return unreachable(std::move(size).error());
        if (*size == 0) co_return Result<>{};
        for (ServerEvent& event : CO_TRY(reader.take({piece.data(), *size}))) {
            std::string id = event.id;
            if (!CO_TRY(each(std::move(event)))) co_return Result<>{};
            if (!id.empty()) last_id = std::move(id);
        }
    }
}

}  // namespace hostler::cli
