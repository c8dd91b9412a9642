#include "http/arrival.h"

#include "core/log.h"
#include "core/task_group.h"
#include "http/inlet.h"
#include "http/proxy_preamble.h"

namespace hostler::http {

namespace {

constexpr char tls_handshake = 22;  // The first byte of a TLS record that begins one: RFC 8446 section 5.1.

// Answers one request, and closes behind it.
Task<> refuse_plain(StreamPtr stream, Timers& timers) {
    const ServerLimits limits;
    Inlet inlet{std::move(stream), timers, limits};
    const bool asked = CO_TRY(co_await inlet.next());
    if (!asked) co_return Result<>{};
    inlet.last_one();
    CO_TRY(co_await inlet.respond(text_response(400, "this port speaks TLS; use https://")));
    (void)co_await inlet.next();
    co_return co_await check_cancelled();
}

}  // namespace

Task<StreamPtr> read_preamble(StreamPtr stream, Timers& timers, const Arrival& how, Place& place,
                              ArrivalCount& count) {
    const Instant end = timers.now() + how.time;
    const std::string proxy{stream->address()};
    Conn conn{std::move(stream), timers};
    while (true) {
        auto parsed = parse_proxy_preamble(conn.ahead());
        if (!parsed) {
            ++count.unannounced;
            log_debug("from {}: {}", proxy, parsed.error().message);
            co_return std::unexpected(parsed.error());
        }
        if (*parsed) {
            conn.consume((*parsed)->size);
            std::string ahead{conn.ahead()};
            conn.consume(ahead.size());
            co_return with_bytes_ahead(std::move(ahead), conn.release(), std::move((*parsed)->client));
        }
        const auto more = co_await conn.fill(std::max(end - timers.now(), Duration{1}));
        if (!more && more.error().code == Code::timeout) place.was_late();
        if (!CO_TRY(more)) co_return fail(Code::unavailable, "the proxy has gone");
    }
}

Task<StreamPtr> arrive(StreamPtr stream, Timers& timers, const Arrival& how, Place& place,
                       ArrivalCount& count) {
    const Instant end = timers.now() + how.time;
    Conn conn{std::move(stream), timers};
    const auto first = co_await conn.fill(how.time);
    if (!first && first.error().code == Code::timeout) place.was_late();
    if (!CO_TRY(first)) co_return fail(Code::unavailable, "the client has gone");
    if (conn.ahead().front() != tls_handshake) {
        ++count.plain;
        CO_TRY(co_await refuse_plain(conn.release(), timers));
        co_return fail(Code::invalid, "the client does not speak TLS");
    }
    auto secured = co_await how.net->secure(conn.release(),
                                            {.own = how.certificate(), .peer_required = false, .web = true},
                                            Side::server, std::max(end - timers.now(), Duration{1}));
    if (secured || secured.error().code == Code::cancelled) co_return secured;
    ++count.failed;
    if (secured.error().code == Code::timeout) place.was_late();
    log_debug("TLS: {}", secured.error().message);
    co_return secured;
}

}  // namespace hostler::http
