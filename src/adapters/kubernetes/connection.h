// One API server: requests with a login, a deadline and a size limit, and what is repeated.
#pragma once

#include "adapters/kubernetes/answer.h"
#include "adapters/kubernetes/login.h"
#include "http/client.h"

namespace hostler::kubernetes {

struct ConnectionSettings {
    Duration deadline = std::chrono::seconds{30};  // Of a call, with all its tries and waits.
    Duration connect_time = std::chrono::seconds{10};
    // A server that asks for more patience than this in Retry-After is not obeyed: its refusal is the answer.
    Duration retry_after_max = std::chrono::seconds{30};
    std::size_t answer_bytes_max = 64 << 20;
    std::size_t refusal_bytes_max = 1 << 20;
    // In place of the kubeconfig's where it is given.
    std::optional<Impersonation> impersonate{};
    std::string user_agent = "hostler";
    LoginSettings login{};
};

struct Ask {
    std::string method = "GET";
    std::string target;  // "/api/v1/nodes?limit=5"; the path of the Access comes before it.
    std::string body{};
    std::string type = "application/json";  // Of the body.
    std::string label() const;              // "GET /api/v1/nodes", for messages.
};

class Connection {
public:
    // `worker` reads token files and runs exec plugins.
    Connection(Net& net, Timers& timers, Worker& worker, Access access, ConnectionSettings settings = {});

    // The answer to a request that the server accepts (2xx), its body unread. A refusal with 429, or with 503
    // and Retry-After, is tried again after Retry-After within the deadline; one with 401 once if the login
    // can be renewed. `deadline` is for the head of the answer, `total` for the end of its body, both from
    // now. Errors: of error_of(); unavailable, timeout, unauthenticated (TLS too), cancelled, exhausted;
    // invalid.
    Task<http::ReplyPtr> open(Ask ask, Duration deadline, Duration total);
    // The whole body. Errors: as open(); exhausted: it is larger than answer_bytes_max.
    Task<std::string> fetch(Ask ask);

    Timers& timers() { return timers_; }
    const Access& access() const { return access_; }
    const ConnectionSettings& settings() const { return settings_; }

private:
    struct Refusal {
        Status status;
        Duration retry_after{};
    };
    Task<http::ReplyPtr> try_once(const Ask& ask, const Login& login, http::Patience patience);
    Task<Refusal> read_refusal(http::ReplyPtr reply);
    Error explain(Error error, const Ask& ask) const;

    Timers& timers_;
    const Access access_;
    const ConnectionSettings settings_;
    const http::Headers headers_;  // Of every request.
    http::Client client_;
    Logins logins_;
};

}  // namespace hostler::kubernetes
