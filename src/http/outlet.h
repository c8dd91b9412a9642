// The client's end of one connection: reads answers. The client (client.h) and the gateway (proxy.h) both
// stand on it.
#pragma once

#include "http/body.h"
#include "http/conn.h"

namespace hostler::http {

class Outlet {
public:
    Outlet(StreamPtr stream, Timers& timers) : conn_(std::move(stream), timers) {}

    Conn& conn() { return conn_; }
    const ResponseHead& head() const { return head_; }
    BodyWalker& body() { return body_; }

    // Before each request: what is said from here on belongs to its answer.
    void begin() { silent_ = conn_.ahead().empty(); }
    // The next head is in head(), be it an interim one (1xx). `method`: of the request.
    // Errors: timeout, unavailable (the server has gone, or its answer is malformed: reason bad_response).
    Task<> read_head(std::string_view method, const HeadLimits& limits, Duration within);
    // The answer's body, decoded; 0 at its end. Errors: as read_head().
    Task<std::size_t> read_body(std::span<char> into, Duration within);

    // Not one byte of an answer has come since begin().
    bool silent() const { return silent_; }
    // After an answer: whether another request may follow on this connection.
    bool reusable() const {
        return !conn_.closed() && head_.keep_alive && head_.status != 101 && body_.done() &&
               conn_.ahead().empty();
    }
    // Of a kept connection: the server has neither closed it nor said anything unasked.
    bool alive();

private:
    Conn conn_;
    HeadScanner scanner_;
    ResponseHead head_;
    BodyWalker body_;
    bool silent_ = true;
};

inline constexpr std::string_view bad_response = "bad_response";

std::unexpected<Error> malformed(BadHead bad);

}  // namespace hostler::http
