// Ports of an instance, at ports of this machine or at standard input and output.
#include <fmt/format.h>

#include <charconv>

#include "cli/remote.h"
#include "core/safe_text.h"
#include "core/task_group.h"

namespace hostler::cli {

namespace {

constexpr std::size_t tunnel_bytes_max = 16 * 1024;
constexpr std::size_t connections_max = 256;  // At one time.

Result<int> port_of(std::string_view text, int least) {
    int port = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (wrong != std::errc{} || end != text.data() + text.size() || port < least || port > 65535)
        return fail(Code::invalid,
                    fmt::format("'{}' is no port; write [LOCAL:]REMOTE, as 8080 or 18080:8080", text));
    return port;
}

struct Forward {
    int local = 0;
    int remote = 0;
    ListenerPtr listener{};
};

Result<Forward> parse(std::string_view text) {
    const auto colon = text.find(':');
    Forward forward;
    forward.remote = TRY(port_of(colon == std::string_view::npos ? text : text.substr(colon + 1), 1));
    forward.local = colon == std::string_view::npos ? forward.remote : TRY(port_of(text.substr(0, colon), 0));
    return forward;
}

// It is this machine that refuses, so the code must not be the one of an API that cannot be reached.
std::unexpected<Error> no_listener(const Forward& forward, const Error& why) {
    const bool taken = why.reason == "address_in_use";
    Error error{.code = Code::conflict,
                .message = taken ? fmt::format("port {} of this machine is in use", forward.local)
                                 : fmt::format("cannot listen on port {} of this machine: {}", forward.local,
                                               why.message),
                .reason = taken ? "port_in_use" : "not_listening"};
    error.help = fmt::format("name another port of this machine, as OTHER:{0}, or 0:{0} for any that is free",
                             forward.remote);
    return std::unexpected(std::move(error));
}

Task<> send_bytes(Session& session, Stream& stream) {
    const auto buffer = std::make_unique<char[]>(tunnel_bytes_max);
    while (true) {
        const auto size = co_await read_some(stream, {buffer.get(), tunnel_bytes_max});
        if (!size) {
            // Its own side has broken: nobody wants the session any more.
            (void)co_await session.talk().send(http::Channel::exit, "");
            co_return std::unexpected(size.error());
        }
        if (*size == 0) co_return co_await session.talk().send(http::Channel::end, "");
        CO_TRY(co_await session.talk().send(http::Channel::input, {buffer.get(), *size}));
    }
}

Task<> one_connection(CliWorld& world, const Way& way, int port, StreamPtr stream, std::size_t& open) {
    struct Count {
        std::size_t& of;
        ~Count() { --of; }
    } const count{++open};
    Session session{world, way, "port", {{"port", std::to_string(port)}}};
    auto done = co_await session.open();
    if (done) done = co_await join_stream(world, session, *stream);
    if (!done && done.error().code != Code::cancelled)
        world.err(
            fmt::format("hostler: a connection to port {}: {}\n", port, safe_line(done.error().message)));
    co_return Result<>{};
}

Task<> accept_all(CliWorld& world, const Way& way, Listener& listener, int port, TaskGroup& tasks,
                  std::size_t& open) {
    while (true) {
        auto stream = co_await listener.accept();
        if (!stream && stream.error().code == Code::cancelled) co_return std::unexpected(stream.error());
        if (!stream) continue;
        if (open >= connections_max) {
            world.err(fmt::format("hostler: {} connections are open, which is the limit\n", open));
            continue;
        }
        tasks.start("connection", one_connection(world, way, port, std::move(*stream), open));
    }
}

}  // namespace

Task<> join_stream(CliWorld& world, Session& session, Stream& stream) {
    TaskGroup tasks{world.loop};
    tasks.start("session", session.keep());
    tasks.start("bytes", send_bytes(session, stream));
    Result<> done;
    while (done) {
        auto message = co_await session.receive();
        if (!message) {
            done = std::unexpected(message.error());
        } else if (message->channel == http::Channel::output) {
            done = co_await write_all(stream, message->bytes);
            if (!done && done.error().code != Code::cancelled) {
                // Whoever asked has gone.
                (void)co_await session.talk().send(http::Channel::exit, "");
                (void)co_await session.talk().acknowledged();
                done = {};
                break;
            }
        } else if (message->channel == http::Channel::end) {
            (void)co_await stream.finish();
        } else if (message->channel == http::Channel::exit) {
            break;
        }
    }
    session.finish();
    (void)co_await tasks.close();
    co_return done;
}

Result<> check_ports(const std::vector<std::string>& ports) {
    for (const auto& text : ports) TRY(parse(text));
    return {};
}

Task<int> forward_ports(CliWorld& world, const Way& way, std::vector<std::string> ports) {
    std::vector<Forward> forwards;
    for (const auto& text : ports) forwards.push_back(CO_TRY(parse(text)));
    for (auto& forward : forwards) {
        auto listener = co_await world.net.listen(fmt::format("127.0.0.1:{}", forward.local));
        if (!listener && listener.error().code == Code::cancelled)
            co_return std::unexpected(std::move(listener).error());
        if (!listener) co_return no_listener(forward, listener.error());
        forward.listener = std::move(*listener);
        world.out(fmt::format("{} -> {}\n", forward.listener->address(), forward.remote));
    }
    std::size_t open = 0;
    TaskGroup tasks{world.loop};
    for (auto& forward : forwards)
        tasks.start("port", accept_all(world, way, *forward.listener, forward.remote, tasks, open));
    // Until it is interrupted.
    auto signal = co_await world.next_signal();
    while (signal && *signal != 2 && *signal != 15 && *signal != 1) signal = co_await world.next_signal();
    for (auto& forward : forwards) forward.listener->close();
    (void)co_await tasks.close();
    CO_TRY(signal);
    co_return 0;
}

Task<int> proxy_port(CliWorld& world, const Way& way, std::string port) {
    const int remote = CO_TRY(port_of(port, 1));
    Session session{world, way, "port", {{"port", std::to_string(remote)}}};
    CO_TRY(co_await session.open());
    const StreamPtr stdio = world.stdio();
    CO_TRY(co_await join_stream(world, session, *stdio));
    co_return 0;
}

}  // namespace hostler::cli
