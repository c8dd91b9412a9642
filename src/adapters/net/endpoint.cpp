#include "adapters/net/endpoint.h"

#include <sys/un.h>

#include <boost/asio/ip/tcp.hpp>
#include <charconv>
#include <cstring>

#include "core/suspend.h"

namespace hostler::net {

namespace {

using Resolver = asio::ip::basic_resolver<asio::ip::tcp, Loop::executor_type>;

std::unexpected<Error> not_an_address(std::string_view text) {
    return fail(Code::invalid,
                fmt::format("'{}' is not an address; write host:port, [::1]:port or unix:/path", text));
}

Result<Endpoint> unix_endpoint(std::string_view path) {
    Endpoint endpoint;
    auto& address = reinterpret_cast<sockaddr_un&>(endpoint.storage);
    if (path.empty() || path.size() >= sizeof(address.sun_path))
        return fail(Code::invalid, fmt::format("'unix:{}': a socket's path has 1 to {} bytes", path,
                                               sizeof(address.sun_path) - 1));
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    endpoint.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
    return endpoint;
}

Endpoint tcp_endpoint(const asio::ip::tcp::endpoint& from) {
    Endpoint endpoint;
    std::memcpy(&endpoint.storage, from.data(), from.size());
    endpoint.size = static_cast<socklen_t>(from.size());
    return endpoint;
}

struct HostPort {
    std::string host;
    std::uint16_t port = 0;
};

Result<HostPort> split(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return not_an_address(text);
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    if (host.starts_with('[')) {
        if (!host.ends_with(']') || host.size() < 3) return not_an_address(text);
        host = host.substr(1, host.size() - 2);
    } else if (host.contains(':')) {
        return not_an_address(text);
    }
    HostPort split{std::string{host}, 0};
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), split.port);
    if (digits.empty() || end.ec != std::errc{} || end.ptr != digits.data() + digits.size())
        return not_an_address(text);
    return split;
}

// The lookup itself cannot be interrupted: when the caller goes, its answer is dropped.
Task<std::vector<Endpoint>> look_up(Loop& loop, Timers& timers, HostPort name, Duration deadline) {
    using Found = std::vector<Endpoint>;
    WakerPtr<Found> sleeper;
    Deadline limit{timers, deadline, [&] {
                       sleeper->wake(fail(Code::timeout,
                                          fmt::format("the name '{}' was not resolved in time", name.host)));
                   }};
    co_return co_await suspend<Found>([&](WakerPtr<Found> waker) {
        sleeper = waker;
        auto resolver = std::make_shared<Resolver>(loop);
        resolver->async_resolve(
            name.host, std::to_string(name.port), asio::ip::resolver_base::numeric_service,
            [waker = std::move(waker), resolver, host = name.host](boost::system::error_code error,
                                                                   auto results) {
                if (error)
                    return waker->wake(
                        fail(Code::unavailable,
                             fmt::format("the name '{}' does not resolve: {}", host, error.message())));
                Found found;
                for (const auto& result : results) found.push_back(tcp_endpoint(result.endpoint()));
                waker->wake(std::move(found));
            });
    });
}

}  // namespace

std::string Endpoint::text() const {
    if (family() == AF_UNIX)
        return fmt::format("unix:{}", reinterpret_cast<const sockaddr_un&>(storage).sun_path);
    asio::ip::tcp::endpoint tcp;
    std::memcpy(tcp.data(), &storage, size);
    tcp.resize(size);
    const std::string host = tcp.address().to_string();
    return family() == AF_INET6 ? fmt::format("[{}]:{}", host, tcp.port())
                                : fmt::format("{}:{}", host, tcp.port());
}

Task<std::vector<Endpoint>> resolve(Loop& loop, Timers& timers, std::string address, Duration deadline) {
    constexpr std::string_view local = "unix:";
    if (address.starts_with(local))
        co_return std::vector{CO_TRY(unix_endpoint(std::string_view{address}.substr(local.size())))};
    auto name = CO_TRY(split(address));
    boost::system::error_code error;
    const auto numeric = asio::ip::make_address(name.host, error);
    if (!error) co_return std::vector{tcp_endpoint({numeric, name.port})};
    // Resolvers that do not know RFC 6761 section 6.3 would ask the world.
    if (name.host.ends_with(".localhost"))
        co_return std::vector{tcp_endpoint({asio::ip::address_v4::loopback(), name.port}),
                              tcp_endpoint({asio::ip::address_v6::loopback(), name.port})};
    co_return co_await look_up(loop, timers, std::move(name), deadline);
}

}  // namespace hostler::net
