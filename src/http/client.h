// An HTTP/1.1 client with a bounded pool of kept connections per address.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "core/stream.h"
#include "core/task_group.h"
#include "http/message.h"

namespace hostler::http {

// Where a server is: "name:8080", "unix:/run/docker.sock".
struct Endpoint {
    std::string address;
    std::optional<Secure> secure{};
};

struct ClientLimits {
    std::size_t idle_max = 8;          // Kept connections per address.
    std::size_t addresses_max = 1024;  // With kept connections; the one used longest ago makes room.
    Duration idle_time = std::chrono::seconds{50};  // Less than what servers usually wait.
    std::size_t head_bytes_max = 64 * 1024;
};

// How long each wait may take. Errors beyond: timeout.
struct Patience {
    Duration connect = std::chrono::seconds{10};  // TLS included.
    Duration head = std::chrono::seconds{60};     // From the request to the answer's head.
    Duration idle = std::chrono::seconds{60};     // Between two pieces of a body, either way.
    Duration total = Duration::max();             // From start to the end of the body.
};

// Gives the next piece of a request's body; 0 ends it. It must own what it needs, or outlive Reply::close().
using BodySource = std::function<Task<std::size_t>(std::span<char>)>;

struct Call {
    Request request;                             // Host, Content-Length and the like are added as needed.
    BodySource source{};                         // The body, when it is not request.body.
    std::optional<std::uint64_t> source_size{};  // Of the source's body; unknown: it is sent chunked.
    Patience patience{};
    std::function<void(const Response&)> on_interim{};  // Is shown 1xx answers.
};

// An answer whose body is yet to be read. Destroying it before the end of the body closes the connection.
class Reply {
public:
    virtual ~Reply() = default;
    int status = 0;
    Headers headers;

    // 0: the end. Errors: unavailable (it broke off, or was malformed), timeout.
    virtual Task<std::size_t> read(std::span<char> into) = 0;
    // Errors: as read(), and exhausted beyond bytes_max.
    Task<std::string> read_all(std::size_t bytes_max);
    // After 101, or an answer that ends with its connection (a hijack of the Docker API): the stream behind
    // it.
    virtual Result<StreamPtr> take_stream() = 0;
    // Ends the connection and waits for the sender of the request's body.
    virtual Task<> close() = 0;
};

using ReplyPtr = std::unique_ptr<Reply>;

class Client {
public:
    Client(Net& net, Timers& timers, ClientLimits limits = {});
    ~Client();

    // Until the answer's head is there; while its body is read, the request's may still be on its way.
    // An idempotent request is sent once more when a kept connection turns out dead before it answers.
    // Errors: invalid (the request cannot be sent), unavailable, timeout, unauthenticated (TLS), cancelled.
    Task<ReplyPtr> start(Endpoint endpoint, Call call);
    // The whole exchange, with an answer of at most `bytes_max`.
    Task<Response> fetch(Endpoint endpoint, Request request, Patience patience = {},
                         std::size_t bytes_max = 16 * 1024 * 1024);

    std::size_t idle_connections() const;
    void forget(std::string_view address);  // Closes what is kept for it.

private:
    struct Shared;
    class Pending;
    std::shared_ptr<Shared> shared_;
};

}  // namespace hostler::http
