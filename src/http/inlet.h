// The server's end of one connection: requests in their order, each answered before the next is read. The API
// server (server.h) and the gateway (proxy.h) both stand on it.
#pragma once

#include "http/body.h"
#include "http/conn.h"
#include "http/places.h"
#include "http/trusted_proxies.h"

namespace hostler::http {

struct ServerLimits {
    HeadLimits head{};
    std::uint64_t body_bytes_max = 16 * 1024 * 1024;  // 413 beyond.
    std::uint64_t discard_bytes_max = 256 * 1024;  // Of a body nobody read; beyond, the connection is closed.
    std::size_t connections_max = 10'000;
    Duration first_time = std::chrono::seconds{10};       // From the connection to its first byte.
    Duration keep_alive_time = std::chrono::seconds{75};  // From one request to the next.
    Duration head_time = std::chrono::seconds{10};  // From a request's first byte to the end of its head. 408
    Duration body_time = std::chrono::seconds{30};  // Between two pieces of a body.
    Duration write_time = std::chrono::seconds{30};  // Without any progress of a response.
    Duration linger_time = std::chrono::seconds{2};  // For the peer to read our last words before we close.
    Duration watch_every = std::chrono::seconds{1};  // How often to look whether a waiting client has gone.
};

// Tells connections to end: idle ones at once, busy ones after what they are at.
class Drain {
public:
    bool begun() const { return begun_; }
    void begin();

    class Member {
    public:
        Member(Drain* drain, std::move_only_function<void()> on_begin);
        ~Member();
        Member(const Member&) = delete;
        Member& operator=(const Member&) = delete;
        bool begun() const { return drain_ != nullptr && drain_->begun(); }

    private:
        friend class Drain;
        Drain* drain_;
        std::move_only_function<void()> on_begin_;
    };

private:
    std::vector<Member*> members_;
    bool begun_ = false;
};

class Inlet {
public:
    // All but the stream outlive the inlet; drain and place may be null.
    Inlet(StreamPtr stream, Timers& timers, const ServerLimits& limits, Drain* drain = nullptr,
          Place* place = nullptr);

    // The next request's head is in head(). false: the connection is over; a bad request has had its answer.
    // An unfinished body or answer of the request before ends the connection.
    Task<bool> next();
    const RequestHead& head() const { return head_; }

    // The request's body, decoded; 0 at its end. The client is told to go on with it when it waits for that.
    // Errors: invalid (malformed, or body_too_large), timeout, unavailable.
    Task<std::size_t> read_body(std::span<char> into);
    void set_body_bytes_max(std::uint64_t max) { body_bytes_max_ = max; }

    Task<> respond(Response response);  // The whole answer.
    // Or in pieces: the head (with Content-Length, else chunked), the pieces, the end. A piece is sent at
    // once.
    Task<> start(Response head);
    Task<> write(std::string_view piece);
    Task<> end();
    bool started() const { return started_; }  // An answer has begun.

    // Answers 101 with these headers; the stream is then the caller's, and the connection over.
    Task<StreamPtr> upgrade(Response head);
    // Ends the connection now, or without another request after this one.
    void abandon() { conn_.close(), over_ = true; }
    void last_one() { over_ = true; }
    bool over() const { return over_; }
    // Strict-Transport-Security of the answers that are made here; empty: none. Outlives the inlet.
    void set_transport_security(std::string_view value) { transport_security_ = value; }
    // X-Request-Id of the answer to this request that is made here; empty: none.
    void set_request_id(std::string id) { request_id_ = std::move(id); }
    std::string_view request_id() const { return request_id_; }
    // Who asks: "192.0.2.1:5000"; where a trusted proxy says it, without a port. Valid until next().
    std::string_view client() const {
        return origin_.address.empty() ? conn_.stream().address() : std::string_view{origin_.address};
    }
    // As the client sees it, "http" or "https", by the word of a trusted proxy; empty: nothing was said.
    std::string_view scheme() const { return origin_.scheme; }
    void is_known() {  // Who asks has shown a good key.
        if (place_ != nullptr) place_->is_known();
    }

    // For a proxy, which forwards the body as it is and writes the answer itself: it must leave body() at its
    // end and say with last_one() when the connection cannot go on.
    Conn& conn() { return conn_; }
    BodyWalker& body() { return body_; }
    const ServerLimits& limits() const { return limits_; }
    std::string& text() { return text_; }  // For heads on their way: its memory serves request after request.
    Task<> send_continue();                // 100, once and only if the client waits for it.
    bool client_waits() const { return waits_for_continue_; }
    void got_body() { waits_for_continue_ = false; }
    void forwarded_answer() { started_ = ended_ = true; }

private:
    Task<bool> read_head();
    bool has_room_for_client();
    Task<bool> settle();
    Task<> refuse(BadHead bad);
    Task<> linger();
    void head_of(std::string& into, Response& response, bool whole);

    Conn conn_;
    const ServerLimits& limits_;
    RequestHead head_;
    std::string text_;
    HeadScanner scanner_;
    BodyWalker body_;
    std::string_view transport_security_;
    std::string request_id_;
    std::uint64_t body_bytes_max_ = 0;
    std::uint64_t promised_ = 0;  // Of a streamed answer with Content-Length: what is still to come.
    bool first_ = true;
    bool fresh_ = true;  // Not one byte has been waited for.
    bool idle_ = false;
    bool over_ = false;
    bool waits_for_continue_ = false;
    bool started_ = false;
    bool ended_ = false;
    bool chunked_ = false;
    bool counted_ = false;   // The streamed answer has a Content-Length.
    bool bodiless_ = false;  // The answer has no body: HEAD, 204, 304.
    Drain::Member member_;
    Place* place_;
    Origin origin_;  // Of this request; empty: of the connection.
};

}  // namespace hostler::http
