#include "roles/access/copy.h"

#include <vector>

namespace hostler::access {

namespace {

// Content lasts until the next wait.
std::span<char> scratch() {
    thread_local std::vector<char> bytes(128 * 1024);
    return bytes;
}

Task<> copy_one_way(Stream& from, Stream& to, std::uint64_t& copied) {
    while (true) {
        const auto taken = CO_TRY(from.try_read(scratch()));
        if (!taken) {
            CO_TRY(co_await from.readable());
            continue;
        }
        if (*taken == 0) co_return co_await to.finish();
        const asio::const_buffer buffer{scratch().data(), *taken};
        const std::size_t written = CO_TRY(to.try_write({&buffer, 1})).value_or(0);
        if (written < *taken) {
            // What did not go through needs a place of its own for as long as the receiver is slow.
            const std::string rest{scratch().data() + written, *taken - written};
            CO_TRY(co_await write_all(to, rest));
        }
        copied += *taken;
    }
}

// Ends both streams when this half breaks: the other half then ends too.
Task<> half(Stream& from, Stream& to, std::uint64_t& copied) {
    const auto result = co_await copy_one_way(from, to, copied);
    if (!result) {
        from.close();
        to.close();
    }
    co_return Result<>{};
}

}  // namespace

Task<> copy_both_ways(Loop& loop, Stream& a, Stream& b, Copied& copied) {
    TaskGroup back{loop};
    Signal ended;
    bool running = true;
    back.start("tunnel", [](Stream& from, Stream& to, std::uint64_t& bytes, bool& is_running, Signal& end) -> Task<> {
        co_await half(from, to, bytes);
        is_running = false;
        end.notify_all();
        co_return Result<>{};
    }(b, a, copied.back, running, ended));
    co_await half(a, b, copied.forth);
    while (running)
        if (!co_await ended.wait()) break;  // Cancelled: close() below ends the other half.
    co_await back.close();
    co_return Result<>{};
}

}  // namespace hostler::access
