// The Docker Engine API over its unix socket: one call at a time, each with a deadline.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/client.h"

namespace hostler::docker {

struct Answer {
    int status = 0;
    std::string body;
    bool success() const { return status >= 200 && status < 300; }
};

using Query = std::vector<std::pair<std::string, std::string>>;

// What is sent along with a call: bytes, or a file as it is now.
struct Payload {
    std::string bytes;
    std::filesystem::path file;
};

// `path` with `query`, encoded.
std::string target(std::string_view path, const Query& query);
// Of a container's name or id, and what is asked of it: "/start".
std::string container_path(std::string_view name, std::string_view verb = {});

class Api {
public:
    Api(Net& net, Timers& timers, std::string socket);

    // Errors: unavailable (nobody answers at the socket), timeout, exhausted (an answer over 16 MiB).
    Task<Answer> call(std::string method, std::string path, Duration within, std::string body = {},
                      std::string type = "application/json");
    // The same, with the body of a successful answer given to `each` piece by piece, and an archive sent
    // along.
    Task<Answer> stream(std::string method, std::string path, Duration idle, Duration within,
                        std::function<void(std::string_view)> each, Payload archive = {},
                        std::string login = {});  // X-Registry-Auth, if there is one.

    // An answer that goes on until the engine ends it, a line at a time; `begun` when its head has come.
    // Errors: unavailable, timeout (nothing came for `idle`), exhausted (a line over 64 KiB).
    Task<> follow(std::string path, Duration head, Duration idle, std::function<void()> begun,
                  std::function<void(std::string_view line)> each);

    const std::string& socket() const { return socket_; }

private:
    Error explain(Error error) const;
    std::string socket_;
    http::Client client_;
};

// The first of `sockets` at which an engine answers. Errors: not_found, naming where it looked.
Task<std::string> find_engine_socket(Net& net, Timers& timers, std::vector<std::string> sockets);
// Where engines usually listen, and what DOCKER_HOST says, first.
std::vector<std::string> usual_sockets();
// Waits until an engine answers at `socket`. Errors: timeout.
Task<> wait_for_engine(Net& net, Timers& timers, std::string socket, Duration within);

}  // namespace hostler::docker
