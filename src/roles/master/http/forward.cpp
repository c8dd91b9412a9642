#include "roles/master/http/forward.h"

#include <fmt/format.h>

#include <charconv>

#include "api/codec.h"
#include "core/client_address.h"

namespace hostler::master {

namespace {

using std::chrono::seconds;

constexpr http::Patience patience{
    .connect = seconds{3}, .head = seconds{60}, .idle = seconds{60}, .total = Duration::max()};
constexpr http::ClientLimits client_limits{.idle_max = 64, .addresses_max = 8, .idle_time = seconds{30}};

// Those of one connection, which are not passed on (RFC 9110 section 7.6.1), and ours.
bool stays_here(std::string_view name) {
    constexpr std::string_view names[] = {"Connection",  "Keep-Alive",  "Proxy-Connection",  "TE",
                                          "Trailer",     "Upgrade",     "Transfer-Encoding", "Expect",
                                          caller_header, scheme_header, request_header};
    return std::ranges::any_of(names, [&](std::string_view one) { return http::same_name(name, one); });
}

http::Request passed_on(const http::Exchange& exchange, bool by_tls) {
    http::Request request{.method = exchange.request.method, .target = exchange.request.target};
    for (const auto& [name, value] : exchange.request.headers)
        if (!stays_here(name) && !http::same_name(name, "Content-Length")) request.headers.add(name, value);
    request.headers.set(std::string{caller_header}, std::string{exchange.peer()});
    request.headers.set(std::string{scheme_header}, by_tls ? "https" : "http");
    request.headers.set(std::string{request_header}, std::string{exchange.request_id()});
    return request;
}

std::optional<std::uint64_t> length_of(const http::Headers& headers) {
    const auto text = headers.find("Content-Length");
    std::uint64_t length = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), length).ec != std::errc{})
        return std::nullopt;
    return length;
}

}  // namespace

bool is_from_master(const http::Exchange& exchange) { return exchange.identity().starts_with("master/"); }

std::string_view address_of(const http::Exchange& exchange) {
    if (!is_from_master(exchange)) return exchange.peer();
    return exchange.request.headers.find(caller_header).value_or(exchange.peer());
}

api::Caller stranger_of(const http::Exchange& exchange) {
    return {.actor = "stranger",
            .address = std::string{address_of(exchange)},
            .client = safe_user_agent(exchange.request.headers.find("User-Agent").value_or("")),
            .request_id = std::string{exchange.request_id()}};
}

bool is_by_tls(const http::Exchange& exchange, const http::Arrival& arrival) {
    if (is_from_master(exchange))
        if (const auto told = exchange.request.headers.find(scheme_header)) return *told == "https";
    return exchange.scheme().empty() ? arrival.certificate != nullptr : exchange.scheme() == "https";
}

std::string request_id_of(const http::Exchange& exchange, Random& random) {
    constexpr std::size_t length = 18, length_max = 64;
    if (is_from_master(exchange))
        if (const auto told = exchange.request.headers.find(request_header);
            told && told->size() >= length && told->size() <= length_max)
            return std::string{*told};
    return fmt::format("r-{:016x}", random_number(random));
}

struct Forward::Passing {
    Contender to;
    std::optional<Result<>> outcome{};
    bool led = true;  // By `to`.
    Signal changed{};
};

Forward::Forward(const Ports& ports, Lead& lead)
    : ports_(ports), lead_(lead), client_(ports.net, ports.timers, client_limits) {}

Task<> Forward::pass(http::Exchange& exchange, Contender to) {
    const auto passing = std::make_shared<Passing>(std::move(to));
    TaskGroup group{ports_.loop};
    group.start("watch", watch(passing));
    group.start("pass on", carry(exchange, passing));
    Result<> waited;
    while (!passing->outcome && passing->led && waited) waited = co_await passing->changed.wait();
    co_await group.close();
    CO_TRY(std::move(waited));
    const auto& outcome = passing->outcome;
    if (!outcome || (!*outcome && outcome->error().code == Code::cancelled))
        co_return fail(Code::unavailable,
                       fmt::format("master {} led when this was forwarded to it and does not answer; the "
                                   "result is unknown; ask again",
                                   passing->to.name),
                       "no_leader");
    co_return *outcome;
}

Task<> Forward::watch(std::shared_ptr<Passing> passing) {
    while (lead_.other == passing->to) CO_TRY(co_await lead_.changed.wait());
    passing->led = false;
    passing->changed.notify_all();
    co_return Result<>{};
}

Task<> Forward::carry(http::Exchange& exchange, std::shared_ptr<Passing> passing) {
    passing->outcome = co_await exchange_with(exchange, passing->to);
    passing->changed.notify_all();
    co_return Result<>{};
}

Task<> Forward::exchange_with(http::Exchange& exchange, Contender to) {
    http::Call call{.request = passed_on(exchange, is_by_tls(exchange, ports_.arrival)),
                    .patience = patience};
    const auto length = length_of(exchange.request.headers);
    if (length.value_or(0) > 0 || exchange.request.headers.has("Transfer-Encoding")) {
        exchange.set_body_bytes_max(api::body_max);
        call.source = [&exchange](std::span<char> into) { return exchange.read_body(into); };
        call.source_size = length;
    }
    auto begun = co_await client_.start(
        {.address = to.address, .secure = Secure{.own = ports_.own.credentials(), .expect = "master/"}},
        std::move(call));
    if (!begun) {
        if (begun.error().code == Code::cancelled || begun.error().code == Code::invalid)
            co_return std::unexpected(std::move(begun).error());
        co_return fail(Code::unavailable,
                       fmt::format("master {} leads and cannot be reached at {}: {}", to.name, to.address,
                                   begun.error().message),
                       "no_leader");
    }
    const http::ReplyPtr reply = std::move(*begun);
    http::Response head{.status = reply->status};
    for (const auto& [name, value] : reply->headers)
        if (!stays_here(name)) head.headers.add(name, value);
    // Nothing that is passed on but the page to sign in succeeds without a good key.
    constexpr int success = 200, redirection = 300;
    if (head.status >= success && head.status < redirection && exchange.request.path() != "/sign-in")
        exchange.is_known();
    Result<> done = co_await exchange.start(std::move(head));
    std::vector<char> piece(16 * 1024);
    while (done) {
        const auto size = co_await reply->read(piece);
        if (!size) done = std::unexpected(size.error());
        if (!size || *size == 0) break;
        done = co_await exchange.write({piece.data(), *size});
    }
    co_await reply->close();
    co_return done ? co_await exchange.end() : done;
}

}  // namespace hostler::master
