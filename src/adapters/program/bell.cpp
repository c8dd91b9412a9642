#include "adapters/program/bell.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>

#include "core/task_group.h"

namespace hostler::program {

namespace {

std::string path_in(const std::string& state_folder) { return state_folder + "/bell"; }

}  // namespace

Bell::Bell(Loop& loop, std::string state_folder) : path_(path_in(state_folder)), pipe_(loop.get_executor()) {}

// It is a writer, too: without one a pipe would be at its end, which is always readable.
Result<> Bell::open() {
    if (pipe_.is_open()) return {};
    if (::mkfifo(path_.c_str(), 0600) != 0 && errno != EEXIST)
        return fail(Code::unavailable, fmt::format("cannot make {}: {}", path_, std::strerror(errno)));
    const int fd = ::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return fail(Code::unavailable, fmt::format("cannot open {}: {}", path_, std::strerror(errno)));
    boost::system::error_code wrong;
    pipe_.assign(fd, wrong);
    if (!wrong) return {};
    ::close(fd);
    return fail(Code::unavailable, fmt::format("cannot wait for {}: {}", path_, wrong.message()));
}

Task<> Bell::rung() {
    CO_TRY(open());
    boost::system::error_code wrong;
    co_await pipe_.async_wait(pipe_.wait_read,
                              asio::redirect_error(asio::use_awaitable_t<Loop::executor_type>{}, wrong));
    CO_TRY(co_await check_cancelled());
    if (wrong)
        co_return fail(Code::unavailable, fmt::format("cannot wait for {}: {}", path_, wrong.message()));
    char piece[512];
    while (::read(pipe_.native_handle(), piece, sizeof piece) > 0) {
    }
    co_return Result<>{};
}

void ring(const std::string& state_folder) {
    const int fd = ::open(path_in(state_folder).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return;
    (void)!::write(fd, "!", 1);  // A full pipe wakes it as well.
    ::close(fd);
}

}  // namespace hostler::program
