// Other people's servers, of which we are a client: webhooks, mail servers, databases of metrics.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/timers.h"

namespace hostler {

// Whose word is followed to an address.
enum class Reach {
    outside,   // A tenant's: public addresses that are not this machine's, and what the operator allows.
    anywhere,  // An operator's: also private addresses, loopback included.
};

struct HttpCall {
    std::string method = "POST";
    std::string url;  // http:// or https://, with a host; user:password@ is refused, headers carry those.
    std::vector<std::pair<std::string, std::string>> headers{};  // Host and Content-Length are added.
    std::string body{};
    std::string authorities{};  // PEM that the server's certificate must lead to; empty: the system's.
    Reach reach = Reach::outside;
    Duration deadline = std::chrono::seconds{10};  // Of everything: name, connection, TLS, answer.
    std::size_t answer_bytes_max = 64 * 1024;      // Of the answer's body.
};

struct HttpAnswer {
    int status = 0;  // Redirects are answers: nobody follows them.
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string body{};

    // The first of that name, whatever its case; "" when there is none.
    std::string_view header(std::string_view name) const;
};

enum class MailSafety {
    encrypted,  // STARTTLS, or TLS from the start (smtps://); without it nothing is sent.
    plain,      // No TLS, and so no password.
};

struct Mail {
    std::string server;  // smtp://host:587 or smtps://host:465.
    MailSafety safety = MailSafety::encrypted;
    std::string user{};  // Empty: without signing in.
    std::string password{};
    std::string authorities{};  // As HttpCall's.
    std::string from;           // Addresses alone, "alerts@example.com".
    std::vector<std::string> to;
    std::string subject;
    std::string text;
    std::string html{};  // The same as a page; empty: the text alone.
    std::string id;      // Of this letter, the same when it is sent again: letters, digits, '-', '_', '.'.
    WallTime date{};
    Reach reach = Reach::outside;
    Duration deadline = std::chrono::seconds{30};
};

// Certificates are checked, always. Calls are independent of each other; more than `under_way_max` wait for
// their turn, in the deadline's time.
class Outgoing {
public:
    virtual ~Outgoing() = default;
    // An answer of any status is an answer. Errors: invalid (a malformed call), forbidden (an address out of
    // reach, `out_of_reach`), unauthenticated (TLS), exhausted (an answer too large, `answer_too_large`; too
    // many calls wait, `outgoing_full`), unavailable (no such name, no connection, or it broke off: it may
    // have arrived), timeout (it may have arrived), cancelled.
    virtual Task<HttpAnswer> send(HttpCall call) = 0;
    // Taken by the server for all receivers when it succeeds. Errors: as send(), and invalid when the server
    // refuses it for good (`mail_refused`), unauthenticated (user or password).
    virtual Task<> mail(Mail mail) = 0;

    static constexpr std::size_t under_way_max = 32;
    static constexpr std::size_t waiting_max = 512;
    static constexpr std::size_t body_bytes_max = 16 << 20;
    static constexpr std::size_t receivers_max = 100;
};

// What is wrong with a call or letter, whatever the world is like. Errors: invalid.
Result<> check(const HttpCall& call);
Result<> check(const Mail& mail);

}  // namespace hostler
