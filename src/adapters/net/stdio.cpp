#include "adapters/net/stdio.h"

#include <poll.h>
#include <unistd.h>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>

namespace hostler::net {

namespace {

using Descriptor = asio::posix::basic_stream_descriptor<Loop::executor_type>;
constexpr asio::use_awaitable_t<Loop::executor_type> awaiting{};

bool is_ready(int fd, short events) {
    pollfd one{.fd = fd, .events = events, .revents = 0};
    return ::poll(&one, 1, 0) != 0;
}

std::unexpected<Error> broken_off(const char* what) {
    return fail(Code::unavailable, std::string{what} + ": " + std::strerror(errno));
}

class Stdio final : public Stream {
public:
    explicit Stdio(Loop& loop)
        : in_(loop.get_executor(), ::dup(STDIN_FILENO)), out_(loop.get_executor(), ::dup(STDOUT_FILENO)) {}

    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        if (closed_) return fail(Code::unavailable, "standard input is closed");
        if (!is_ready(STDIN_FILENO, POLLIN)) return std::nullopt;
        const auto size = ::read(STDIN_FILENO, into.data(), into.size());
        if (size < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
        if (size < 0 && errno == EIO) return std::size_t{0};  // Its terminal is gone.
        if (size < 0) return broken_off("standard input");
        return static_cast<std::size_t>(size);
    }

    // A piece that a pipe with any room takes whole, so that this never blocks.
    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        constexpr std::size_t piece_max = 4096;
        if (closed_) return fail(Code::unavailable, "standard output is closed");
        for (const auto& buffer : from) {
            if (buffer.size() == 0) continue;
            if (!is_ready(STDOUT_FILENO, POLLOUT)) return std::nullopt;
            const auto size = ::write(STDOUT_FILENO, buffer.data(), std::min(buffer.size(), piece_max));
            if (size < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
            if (size < 0) return broken_off("standard output");
            return static_cast<std::size_t>(size);
        }
        return std::size_t{0};
    }

    Task<> readable() override { return wait(in_, Descriptor::wait_read); }
    Task<> writable() override { return wait(out_, Descriptor::wait_write); }
    Task<> finish() override {
        ::close(STDOUT_FILENO);
        co_return Result<>{};
    }
    void close() override {
        closed_ = true;
        boost::system::error_code ignored;
        in_.cancel(ignored);
        out_.cancel(ignored);
    }
    std::string_view address() const override { return "standard input"; }

private:
    Task<> wait(Descriptor& on, Descriptor::wait_type what) {
        if (closed_) co_return fail(Code::cancelled, "standard input is closed");
        boost::system::error_code wrong;
        co_await on.async_wait(what, asio::redirect_error(awaiting, wrong));
        // A file is always ready; it cannot be waited for.
        if (!wrong || wrong == asio::error::operation_not_supported) co_return Result<>{};
        if (wrong == asio::error::operation_aborted)
            co_return fail(Code::cancelled, "standard input is closed");
        co_return fail(Code::unavailable, "standard input: " + wrong.message());
    }

    Descriptor in_, out_;
    bool closed_ = false;
};

}  // namespace

StreamPtr stdio_stream(Loop& loop) { return std::make_unique<Stdio>(loop); }

std::function<Task<int>()> signals(Loop& loop, std::vector<int> numbers) {
    using Set = asio::basic_signal_set<Loop::executor_type>;
    const auto set = std::make_shared<Set>(loop.get_executor());
    for (const int number : numbers) set->add(number);
    return [set]() -> Task<int> {
        const auto kept = set;
        boost::system::error_code wrong;
        const int number = co_await kept->async_wait(asio::redirect_error(awaiting, wrong));
        if (wrong) co_return fail(Code::cancelled, "the wait for signals has ended");
        co_return number;
    };
}

}  // namespace hostler::net
