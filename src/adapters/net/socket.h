// A connected TCP or unix socket as a Stream.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>

#include "core/stream.h"

namespace hostler::net {

using Descriptor = asio::posix::basic_stream_descriptor<Loop::executor_type>;

class Socket final : public Stream {
public:
    Socket(Loop& loop, int fd, std::string address);  // Owns `fd`, which does not block.

    Result<std::optional<std::size_t>> try_read(std::span<char> into) override;
    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override;
    Task<> readable() override;
    Task<> writable() override;
    Task<> finish() override;
    void close() override;
    std::string_view address() const override { return address_; }

    int fd() { return descriptor_.native_handle(); }

private:
    Descriptor descriptor_;
    std::string address_;
};

// Waits by the event loop. Errors: cancelled, also when the descriptor is closed meanwhile; unavailable.
// Touches nothing once it wakes.
Task<> wait_for(Descriptor& descriptor, Descriptor::wait_type what);

// "…: Connection refused", with the words of errno.
std::unexpected<Error> socket_failure(std::string_view what, std::string_view address, int error);

}  // namespace hostler::net
