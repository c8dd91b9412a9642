// The gateway's path: a request from an Inlet to an upstream and its answer back, heads rewritten, bodies as
// they are.
#pragma once

#include "http/inlet.h"
#include "http/pool.h"

namespace hostler::http {

// What becomes of a head on its way. Headers of one connection only (RFC 9110 section 7.6.1) are always left
// out. A name matches with '_' for '-' too, as some servers behind take them for the same.
struct Rewrite {
    struct Field {
        std::string_view name;
        std::string value;
    };
    std::span<const std::string_view> remove{};  // Names.
    std::vector<Field> set{};                    // In place of what has that name; an empty value: nothing.
    // Names, "x*" for all that begin with x: from Cookie and Set-Cookie.
    std::vector<std::string> drop_cookies{};
    std::string host{};    // In place of the request's Host, if not empty.
    std::string target{};  // In place of the request's target, if not empty.
};

void write_head(std::string& into, const RequestHead& head, const Rewrite& rewrite);
// `connection`: what Connection says to the client, "" for nothing.
void write_head(std::string& into, const ResponseHead& head, const Rewrite& rewrite,
                std::string_view connection, bool chunked);
// The Cookie header's value without those cookies.
std::string without_cookies(std::string_view value, const std::vector<std::string>& drop);

struct ProxyLimits {
    HeadLimits head{.bytes_max = 64 * 1024};
    PoolLimits pool{.idle_max = 64};
    Duration answer_time = std::chrono::minutes{10};  // From the request's last byte to the answer's head.
    Duration body_time = std::chrono::minutes{10};    // Between two pieces of the answer's body.
    Duration write_time = std::chrono::seconds{60};   // Without progress towards the upstream.
    Duration pipe_time = std::chrono::hours{1};       // Silence of both sides after an upgrade.
};

struct Outcome {
    int status = 0;                   // What the client was answered; 0: nothing yet, and `error` says why.
    std::optional<Error> error;       // What went wrong, before or in the middle of the answer.
    std::uint64_t request_bytes = 0;  // Bodies, as on the wire; both ways of the pipe after an upgrade.
    std::uint64_t response_bytes = 0;
    bool upgraded = false;
    bool client_gone = false;  // It left before the answer was there.
    bool may_retry = false;    // The upstream has not seen a request that may be sent again.
};

// 502, 504, or 400 when the fault is the client's.
int gateway_status(const Error& error);

// Forwards over kept connections.
class Proxy {
public:
    using Dial = std::function<Task<StreamPtr>()>;
    Proxy(Timers& timers, ProxyLimits limits)
        : timers_(timers), limits_(limits), pool_(timers, limits.pool) {}

    // Forwards what inlet.next() found, and the answer. Interim answers go through; an upgrade becomes a pipe
    // until it ends. With Outcome::status 0 it is for the caller to answer, e.g. gateway_status(*error).
    // `key` names where `dial` leads: kept connections are shared by requests with the same one. A kept
    // connection that turns out dead is replaced once, if the request may be repeated. Errors: cancelled.
    Task<Outcome> pass(Inlet& inlet, const std::string& key, const Dial& dial, const Rewrite& request,
                       const Rewrite& response);
    Pool& pool() { return pool_; }

private:
    Timers& timers_;
    ProxyLimits limits_;
    Pool pool_;
};

}  // namespace hostler::http
