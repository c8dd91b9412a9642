#include "adapters/net/socket.h"

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace hostler::net {

namespace {

constexpr std::size_t buffers_max = 16;  // More are left for the next call.

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

Task<> wait_for(Descriptor& descriptor, Descriptor::wait_type what) {
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) co_return fail(Code::cancelled, "cancelled");
    const auto [error] =
        co_await descriptor.async_wait(what, asio::as_tuple(asio::use_awaitable_t<Loop::executor_type>{}));
    if (!error) co_return Result<>{};
    if (error == asio::error::operation_aborted || error == asio::error::bad_descriptor)
        co_return fail(Code::cancelled, "the connection was closed");
    co_return fail(Code::unavailable, fmt::format("waiting for a connection: {}", error.message()));
}

std::unexpected<Error> socket_failure(std::string_view what, std::string_view address, int error) {
    return fail(Code::unavailable,
                fmt::format("{} {}: {}", what, address, std::generic_category().message(error)));
}

Socket::Socket(Loop& loop, int fd, std::string address)
    : descriptor_(loop, fd), address_(std::move(address)) {}

Result<std::optional<std::size_t>> Socket::try_read(std::span<char> into) {
    if (!descriptor_.is_open()) return fail(Code::unavailable, "the connection is closed");
    while (true) {
        const ssize_t size = ::recv(fd(), into.data(), into.size(), MSG_DONTWAIT);
        if (size >= 0) return static_cast<std::size_t>(size);
        if (would_block(errno)) return std::nullopt;
        if (errno != EINTR) return socket_failure("reading from", address_, errno);
    }
}

Result<std::optional<std::size_t>> Socket::try_write(std::span<const asio::const_buffer> from) {
    if (!descriptor_.is_open()) return fail(Code::unavailable, "the connection is closed");
    std::array<iovec, buffers_max> parts;
    std::size_t count = 0;
    for (const auto& buffer : from.first(std::min(from.size(), buffers_max)))
        if (buffer.size() > 0) parts[count++] = {const_cast<void*>(buffer.data()), buffer.size()};
    if (count == 0) return std::size_t{0};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    while (true) {
        const ssize_t size = ::sendmsg(fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (size >= 0) return static_cast<std::size_t>(size);
        if (would_block(errno)) return std::nullopt;
        if (errno != EINTR) return socket_failure("writing to", address_, errno);
    }
}

Task<> Socket::readable() { return wait_for(descriptor_, Descriptor::wait_read); }

Task<> Socket::writable() { return wait_for(descriptor_, Descriptor::wait_write); }

Task<> Socket::finish() {
    if (!descriptor_.is_open()) co_return fail(Code::unavailable, "the connection is closed");
    if (::shutdown(fd(), SHUT_WR) != 0) co_return socket_failure("finishing towards", address_, errno);
    co_return Result<>{};
}

void Socket::close() {
    boost::system::error_code ignored;
    descriptor_.close(ignored);
}

}  // namespace hostler::net
