#include "http/server.h"

#include <fmt/format.h>

#include "core/log.h"
#include "core/suspend.h"

namespace hostler::http {

Exchange::Exchange(Inlet& inlet) : inlet_(inlet) {
    const auto& head = inlet.head();
    request.method = head.method;
    request.target = head.target;
    request.headers = owned(head);
    request.minor = head.minor;
}

Task<std::string> Exchange::read_all(std::uint64_t bytes_max) {
    inlet_.set_body_bytes_max(std::min(bytes_max, inlet_.limits().body_bytes_max));
    std::string body;
    while (true) {
        constexpr std::size_t piece = 16 * 1024;
        const std::size_t size = body.size();
        body.resize(size + piece);
        const auto more = co_await inlet_.read_body(std::span{body}.subspan(size));
        if (!more) co_return std::unexpected(more.error());
        body.resize(size + *more);
        if (*more == 0) co_return body;
    }
}

namespace {

// What serve() and the handler's task share; the task may be cancelled, never left behind.
struct Turn {
    Inlet& inlet;
    const Handler& handler;
    Signal ended;
    bool done = false;
};

Task<> answer(Turn& turn) {
    Exchange exchange{turn.inlet};
    auto result = co_await turn.handler(exchange);
    auto& inlet = turn.inlet;
    if (!result && result.error().code == Code::cancelled) {
        inlet.abandon();
    } else if (!inlet.started()) {
        auto error = result ? Error{Code::internal, "the handler gave no answer"} : std::move(result).error();
        if (error.code == Code::internal)
            log_warn(
                "{} {}: {}{}", exchange.request.method, exchange.request.path(), error.message,
                exchange.request_id().empty() ? "" : fmt::format(" (request {})", exchange.request_id()));
        (void)co_await inlet.respond(text_response(status_of(error), error.message));
    } else if (!result) {
        inlet.abandon();
    }
    turn.done = true;
    turn.ended.notify_all();
    co_return Result<>{};
}

}  // namespace

Task<> serve(StreamPtr stream, Timers& timers, const ServerLimits& limits, const Handler& handler,
             Drain* drain, Place* place) {
    auto& loop = static_cast<Loop&>((co_await asio::this_coro::executor).context());
    Inlet inlet{std::move(stream), timers, limits, drain, place};
    TaskGroup group{loop};
    while (true) {
        const auto more = co_await inlet.next();
        if (!more && more.error().code == Code::cancelled) co_return co_await check_cancelled();
        if (!more || !*more) co_return Result<>{};
        Turn turn{inlet, handler, {}};
        group.start("request", answer(turn));
        inlet.conn().watch(limits.watch_every, [&] { group.cancel(); });
        while (!turn.done && group.size() > 0) {
            if (!co_await turn.ended.wait()) break;
        }
        inlet.conn().unwatch();
        if (turn.done) continue;
        co_await group.close();
        co_return co_await check_cancelled();
    }
}

Server::Server(Loop& loop, Timers& timers, std::size_t connections_max, std::size_t client_max)
    : timers_(timers), client_max_(client_max), places_(connections_max, client_max), tasks_(loop) {}

Task<> Server::run(ListenerPtr listener, Connection connection, Arrival arrival) {
    constexpr Duration pause = std::chrono::milliseconds{50};
    const auto way = std::make_shared<const Way>(std::move(connection), std::move(arrival));
    listeners_.push_back(listener.get());
    struct Leave {
        Server& server;
        Listener* listener;
        ~Leave() { std::erase(server.listeners_, listener); }
    } leave{*this, listener.get()};
    while (!drain_.begun()) {
        auto stream = co_await listener->accept();
        if (!stream && stream.error().code == Code::cancelled) break;
        if (!stream) {
            CO_TRY(co_await sleep(timers_, pause));
            continue;
        }
        const bool proxied = way->arrival.comes_by_proxy(**stream);
        const std::string client{proxied ? "" : (*stream)->address()};
        if (!CO_TRY(co_await has_room(**stream, client, *way))) continue;
        Place& place = places_.enter(*stream, client);
        if (proxied && !way->arrival.awaits_preamble(**stream)) place.is_shared(*way->arrival.proxies);
        tasks_.start("connection", one(way, std::move(*stream), place));
        // Whoever has come in has a turn to say who he is before the next newcomer may push him out.
        CO_TRY(co_await suspend<void>([](const WakerPtr<void>& next_turn) { next_turn->wake({}); }));
    }
    co_return Result<>{};
}

// false: the newcomer cannot come in.
Task<bool> Server::has_room(Stream& newcomer, const std::string& client, const Way& way) {
    auto entry = places_.admit(client);
    while (entry == Places::Entry::full && !drain_.begun()) {
        CO_TRY(co_await ended_.wait());
        entry = places_.admit(client);
    }
    if (entry == Places::Entry::refused) tell_of_limit(newcomer, way);
    co_return entry == Places::Entry::in;
}

void Server::tell_of_limit(Stream& refused, const Way& way) const {
    if (way.arrival.certificate) return;  // Who speaks TLS would not understand us.
    const auto why = fmt::format("one address may have {} connections here, and has them\n", client_max_);
    const auto words = fmt::format(
        "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\n"
        "Content-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\r\n{}",
        why.size(), why);
    const asio::const_buffer buffer{words.data(), words.size()};
    (void)refused.try_write({&buffer, 1});
}

Task<> Server::one(std::shared_ptr<const Way> way, StreamPtr stream, Place& place) {
    Result<StreamPtr> arrived = std::move(stream);
    bool room = true;
    if (way->arrival.awaits_preamble(**arrived)) {
        arrived = co_await read_preamble(std::move(*arrived), timers_, way->arrival, place, arrivals_);
        room = arrived && place.belongs_to((*arrived)->address());
        if (arrived && !room) tell_of_limit(**arrived, *way);
    }
    if (arrived && room && way->arrival.certificate)
        arrived = co_await arrive(std::move(*arrived), timers_, way->arrival, place, arrivals_);
    Result<> result = arrived && room ? co_await way->connection(std::move(*arrived), place) : Result<>{};
    places_.leave(place);
    ended_.notify_all();
    CO_TRY(co_await check_cancelled());
    co_return result;
}

Task<> Server::stop(Duration grace) {
    drain_.begin();
    for (auto* listener : std::vector<Listener*>{listeners_}) listener->close();
    Deadline deadline{timers_, grace, [this] { ended_.notify_all(); }};
    while (places_.size() > 0 && !deadline.expired()) {
        if (!co_await ended_.wait()) break;
    }
    co_return co_await tasks_.close();
}

}  // namespace hostler::http
