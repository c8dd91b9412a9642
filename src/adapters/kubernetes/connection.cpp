#include "adapters/kubernetes/connection.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/percent.h"

namespace hostler::kubernetes {

namespace {

http::Headers headers_of(const Access& access, const ConnectionSettings& settings) {
    const Impersonation& as = settings.impersonate.value_or(access.impersonate);
    http::Headers headers{{"Accept", "application/json"}, {"User-Agent", settings.user_agent}};
    if (!as.user.empty()) headers.add("Impersonate-User", as.user);
    for (const auto& group : as.groups) headers.add("Impersonate-Group", group);
    for (const auto& [key, values] : as.extra) {
        std::string lower = key;  // Names of headers have no case, keys do.
        std::ranges::transform(lower, lower.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        for (const auto& value : values) headers.add("Impersonate-Extra-" + percent_encode(lower), value);
    }
    return headers;
}

Result<Impersonation> checked(Impersonation as) {
    if (as.user.empty() && !as.empty())
        return fail(Code::invalid, "impersonation of groups or extra fields needs a user");
    return as;
}

}  // namespace

std::string Ask::label() const { return fmt::format("{} {}", method, target.substr(0, target.find('?'))); }

Connection::Connection(Net& net, Timers& timers, Worker& worker, Access access, ConnectionSettings settings)
    : timers_(timers),
      access_(std::move(access)),
      settings_(std::move(settings)),
      headers_(headers_of(access_, settings_)),
      client_(net, timers),
      logins_(timers, worker, access_, settings_.login) {}

Task<http::ReplyPtr> Connection::open(Ask ask, Duration deadline, Duration total) {
    CO_TRY(checked(settings_.impersonate.value_or(access_.impersonate)));
    const Instant begun = timers_.now(), end = begun + deadline;
    bool renewed = false;
    auto login = CO_TRY(co_await logins_.current());
    while (true) {
        const Duration left = end - timers_.now();
        if (left <= Duration::zero())
            co_return fail(Code::timeout, fmt::format("{}: the API server took too long", ask.label()));
        const Duration rest = total == Duration::max() ? total : total - (timers_.now() - begun);
        const http::Patience patience{.connect = std::min(settings_.connect_time, left),
                                      .head = left,
                                      .idle = std::max(rest, left),
                                      .total = std::max(rest, left)};
        auto reply = co_await try_once(ask, login, patience);
        if (!reply) co_return std::unexpected(explain(std::move(reply).error(), ask));
        const int status = (*reply)->status;
        if (status >= 200 && status < 300) co_return std::move(*reply);
        auto refusal = co_await read_refusal(std::move(*reply));
        if (!refusal) co_return std::unexpected(explain(std::move(refusal).error(), ask));
        if (status == 401 && !std::exchange(renewed, true) && logins_.refused(login)) {
            const auto number = login.number;
            login = CO_TRY(co_await logins_.current());
            if (login.number != number) continue;
        }
        const Error error = error_of(refusal->status, ask.label());
        const Duration wait = refusal->retry_after;
        const bool asked = wait > Duration::zero() && wait <= settings_.retry_after_max;
        if ((status != 429 && status != 503) || !asked || error.reason == disruption_budget ||
            timers_.now() + wait >= end)
            co_return std::unexpected(error);
        CO_TRY(co_await sleep(timers_, wait));
        login = CO_TRY(co_await logins_.current());
    }
}

Task<std::string> Connection::fetch(Ask ask) {
    auto reply = CO_TRY(co_await open(ask, settings_.deadline, settings_.deadline));
    auto body = co_await reply->read_all(settings_.answer_bytes_max);
    (void)co_await reply->close();
    if (!body) co_return std::unexpected(explain(std::move(body).error(), ask));
    co_return std::move(*body);
}

Task<http::ReplyPtr> Connection::try_once(const Ask& ask, const Login& login, http::Patience patience) {
    http::Request request{.method = ask.method, .target = access_.path + ask.target, .headers = headers_};
    request.headers.set("Host", access_.address);
    if (!login.token.empty()) request.headers.set("Authorization", "Bearer " + login.token);
    if (!ask.body.empty()) request.headers.set("Content-Type", ask.type);
    request.body = ask.body;
    http::Endpoint endpoint{.address = access_.address};
    if (access_.tls) endpoint.secure = Secure{.own = login.own, .expect = "https://" + access_.server_name};
    co_return co_await client_.start(std::move(endpoint),
                                     {.request = std::move(request), .patience = patience});
}

Task<Connection::Refusal> Connection::read_refusal(http::ReplyPtr reply) {
    const auto body = co_await reply->read_all(settings_.refusal_bytes_max);
    (void)co_await reply->close();
    if (!body && body.error().code != Code::exhausted) co_return std::unexpected(body.error());
    auto status = status_of(reply->status, body ? std::string_view{*body} : std::string_view{});
    const Duration wait = retry_after(reply->headers, status);
    co_return Refusal{std::move(status), wait};
}

Error Connection::explain(Error error, const Ask& ask) const {
    if (error.code != Code::cancelled) error.message = fmt::format("{}: {}", ask.label(), error.message);
    return error;
}

}  // namespace hostler::kubernetes
