// An HTTP/1.1 server: a handler is called for each request, in the order of its connection.
#pragma once

#include <functional>

#include "core/signal.h"
#include "core/stream.h"
#include "core/task_group.h"
#include "http/arrival.h"
#include "http/inlet.h"
#include "http/places.h"

namespace hostler::http {

// One request and the answer to it. Lives while the handler runs.
class Exchange {
public:
    explicit Exchange(Inlet& inlet);

    Request request;  // Its head; the body is read below.

    std::string_view peer() const { return inlet_.client(); }  // As of an inlet.
    std::string_view scheme() const { return inlet_.scheme(); }
    std::string_view identity() const { return inlet_.conn().stream().identity(); }  // By TLS; "" without.

    // A client that sent `Expect: 100-continue` is told to go on at the first read.
    // Errors: invalid (malformed, or reason body_too_large), timeout, unavailable.
    Task<std::size_t> read_body(std::span<char> into) { return inlet_.read_body(into); }  // 0: its end.
    Task<std::string> read_all(std::uint64_t bytes_max);
    void set_body_bytes_max(std::uint64_t max) { inlet_.set_body_bytes_max(max); }  // Of this request.

    // The whole answer, or start(), write()s and end(). Pieces leave at once (server-sent events). A HEAD
    // request is answered like GET: the body is left out here. Errors: unavailable (the client has gone),
    // timeout.
    Task<> respond(Response response) { return inlet_.respond(std::move(response)); }
    Task<> start(Response head) { return inlet_.start(std::move(head)); }
    Task<> write(std::string_view piece) { return inlet_.write(piece); }
    Task<> end() { return inlet_.end(); }
    bool started() const { return inlet_.started(); }
    // Whoever asks this has shown a good key: the connection is not closed to make room for others.
    void is_known() { inlet_.is_known(); }
    // As of an inlet.
    void set_transport_security(std::string_view value) { inlet_.set_transport_security(value); }
    void set_request_id(std::string id) { inlet_.set_request_id(std::move(id)); }
    std::string_view request_id() const { return inlet_.request_id(); }
    void cut() { inlet_.abandon(); }  // Whatever is being read or written fails, and the connection ends.

    bool wants_upgrade() const {
        return inlet_.head().upgrade;
    }  // Connection: upgrade, with an Upgrade header.
    // Answers 101 with these headers (Upgrade: ... among them) and hands over the stream.
    Task<StreamPtr> upgrade(Headers headers) { return inlet_.upgrade({101, std::move(headers), {}}); }

private:
    Inlet& inlet_;
};

// An error of the handler, before an answer has begun, is answered with its status and message; later it cuts
// the connection. When the client goes while the handler waits for something else, the handler is cancelled.
using Handler = std::function<Task<>(Exchange&)>;

// Serves one connection to its end. Errors: cancelled only; a client's faults are the client's.
Task<> serve(StreamPtr stream, Timers& timers, const ServerLimits& limits, const Handler& handler,
             Drain* drain = nullptr, Place* place = nullptr);

// Accepts connections and owns them.
class Server {
public:
    // Takes a fresh connection to its end, e.g. by serve().
    using Connection = std::function<Task<>(StreamPtr, Place&)>;

    // `client_max`: connections of one client (client_of).
    Server(Loop& loop, Timers& timers, std::size_t connections_max, std::size_t client_max = SIZE_MAX);
    // Accepts until the listener is closed or stop() is called. Beyond connections_max a stranger makes room
    // for each newcomer (Place); newcomers wait only where all are known. Beyond client_max a stranger of the
    // same address makes room, or the newcomer is told so and closed. What a trusted
    // proxy brings counts as its client's once that is known. Those who have come in arrive() before they are
    // served.
    Task<> run(ListenerPtr listener, Connection connection, Arrival arrival = {});
    Drain& drain() { return drain_; }
    std::size_t connections() const { return places_.size(); }
    const Places& places() const { return places_; }
    const ArrivalCount& arrivals() const { return arrivals_; }

    // No new connections; idle ones end; the others have `grace` to finish. Await it before this goes away.
    Task<> stop(Duration grace);

private:
    struct Way {  // Of one listener.
        Connection connection;
        Arrival arrival;
    };
    // `client`: its address; empty: not known yet.
    Task<bool> has_room(Stream& newcomer, const std::string& client, const Way& way);
    void tell_of_limit(Stream& refused, const Way& way) const;
    Task<> one(std::shared_ptr<const Way> way, StreamPtr stream, Place& place);

    Timers& timers_;
    std::size_t client_max_;
    Places places_;
    ArrivalCount arrivals_;
    Drain drain_;
    std::vector<Listener*> listeners_;
    Signal ended_;
    TaskGroup tasks_;
};

}  // namespace hostler::http
