// A connected TCP or unix socket as a Stream.
#pragma once

#include "adapters/net/poller.h"
#include "core/stream.h"

namespace hostler::net {

class Socket final : public Stream {
public:
    Socket(Loop& loop, int fd, std::string address);  // Owns `fd`, which does not block.

    Result<std::optional<std::size_t>> try_read(std::span<char> into) override;
    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override;
    Task<> readable() override { return watch_.readable(); }
    Task<> writable() override { return watch_.writable(); }
    Task<> finish() override;
    void close() override { watch_.close(); }
    std::string_view address() const override { return address_; }

    int fd() const { return watch_.fd(); }

private:
    Watch watch_;
    std::string address_;
};

// "…: Connection refused", with the words of errno.
std::unexpected<Error> socket_failure(std::string_view what, std::string_view address, int error);

}  // namespace hostler::net
