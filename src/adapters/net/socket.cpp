#include "adapters/net/socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace hostler::net {

namespace {

constexpr std::size_t buffers_max = 16;  // More are left for the next call.

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

std::unexpected<Error> socket_failure(std::string_view what, std::string_view address, int error) {
    return fail(Code::unavailable,
                fmt::format("{} {}: {}", what, address, std::generic_category().message(error)));
}

Socket::Socket(Loop& loop, int fd, std::string address) : watch_(loop, fd), address_(std::move(address)) {}

Result<std::optional<std::size_t>> Socket::try_read(std::span<char> into) {
    if (!watch_.open()) return fail(Code::unavailable, "the connection is closed");
    if (watch_.silent()) return std::nullopt;
    while (true) {
        const ssize_t size = ::recv(fd(), into.data(), into.size(), MSG_DONTWAIT);
        // Less than there was room for is all there is.
        if (size < std::ssize(into)) watch_.drained();
        if (size >= 0) return static_cast<std::size_t>(size);
        if (would_block(errno)) return std::nullopt;
        if (errno != EINTR) return socket_failure("reading from", address_, errno);
    }
}

Result<std::optional<std::size_t>> Socket::try_write(std::span<const asio::const_buffer> from) {
    if (!watch_.open()) return fail(Code::unavailable, "the connection is closed");
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
        if (would_block(errno)) {
            watch_.full();
            return std::nullopt;
        }
        if (errno != EINTR) return socket_failure("writing to", address_, errno);
    }
}

Task<> Socket::finish() {
    if (!watch_.open()) co_return fail(Code::unavailable, "the connection is closed");
    if (::shutdown(fd(), SHUT_WR) != 0) co_return socket_failure("finishing towards", address_, errno);
    co_return Result<>{};
}

}  // namespace hostler::net
