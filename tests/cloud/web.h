// A browser, a program and a WebSocket client, as tests use them: each call waits for its answer.
#pragma once

#include <boost/json.hpp>
#include <map>

#include "adapters/net/net.h"
#include "core/task_group.h"
#include "http/client.h"

namespace hostler::cloud {

using namespace std::chrono_literals;

struct Page {
    int status = 0;  // 0: nobody answered, and the body says why.
    http::Headers headers;
    std::string body;

    boost::json::value json() const;  // null when it is none.
    // The text at a JSON pointer, "/items/0/state"; numbers and truth in their JSON form; "" when not there.
    std::string at(std::string_view pointer) const;
    std::string header(std::string_view name) const { return std::string{headers.find(name).value_or("")}; }
};

std::string at(const boost::json::value& value, std::string_view pointer);

// "http://8080-i-7k.localhost:4711/path?x" in its parts. Every name below localhost is this machine.
struct Url {
    explicit Url(std::string_view text);
    bool secure = false;    // https
    std::string host;       // Without its port.
    std::string authority;  // Host header.
    std::string address;    // To dial.
    std::string target;
};

class WebSocket;

// The world of one test process: its loop runs only while somebody waits.
class Web {
public:
    Page fetch(std::string method, const std::string& url, http::Headers headers = {}, std::string body = {},
               Duration within = 30s);
    std::vector<Page> fetch_all(const std::vector<std::string>& urls);  // GET, all at once.
    Page unix_socket(std::string method, const std::string& socket, std::string target,
                     std::string body = {});

    // Reads an answer piece by piece; each piece comes with the moment since the head at which it came.
    struct Piece {
        std::string bytes;
        Duration at{};
    };
    std::vector<Piece> pieces(const std::string& url, http::Headers headers = {});

    // nullptr: it was refused, and `refusal` says with which status.
    std::unique_ptr<WebSocket> web_socket(const std::string& url, http::Headers headers = {},
                                          int* refusal = nullptr);

    // Of https, by this authority, for the name in the URL.
    void believe(std::string authority_pem);

    // The task's answer; after `within` it is cancelled.
    template <class T>
    Result<T> go(Task<T> task, Duration within = 30s) {
        std::optional<Result<T>> answer;
        TaskGroup group{loop};
        group.start("test", [](std::optional<Result<T>>& into, Task<T> inner) -> Task<> {
            into.emplace(co_await std::move(inner));
            co_return Result<>{};
        }(answer, std::move(task)));
        const Deadline deadline{*timers, within, [&] { group.cancel(); }};
        loop.restart();
        while (!answer) loop.run_one();
        return std::move(*answer);
    }

    Loop loop{1};
    std::unique_ptr<Timers> timers = net::make_timers(loop);
    std::unique_ptr<Net> net = net::make_net(loop);
    std::unique_ptr<Random> random = net::make_random();

private:
    http::Endpoint endpoint(const Url& to) const;
    std::shared_ptr<const Credentials> believed_ = std::make_shared<const Credentials>();
    http::Client client_{*net, *timers};
};

// RFC 6455, client side, over whatever the gateway passes through.
class WebSocket {
public:
    WebSocket(Web& web, StreamPtr stream, Random& random)
        : web_(web), stream_(std::move(stream)), random_(random) {}

    enum class Kind : unsigned char { text = 1, binary = 2, close = 8, ping = 9, pong = 10 };
    struct Message {
        Kind kind = Kind::text;
        std::string bytes;
    };
    bool send(Kind kind, std::string_view bytes);
    std::optional<Message> receive(Duration within = 20s);  // nullopt: it broke off, or nothing came in time.
    bool echoes(Kind kind, std::string_view bytes);

private:
    Web& web_;
    StreamPtr stream_;
    Random& random_;
};

}  // namespace hostler::cloud
