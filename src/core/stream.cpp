#include "core/stream.h"

namespace hostler {

Task<std::size_t> read_some(Stream& stream, std::span<char> into) {
    while (true) {
        if (const auto taken = CO_TRY(stream.try_read(into))) co_return *taken;
        CO_TRY(co_await stream.readable());
    }
}

Task<> read_exactly(Stream& stream, std::span<char> into) {
    while (!into.empty()) {
        const std::size_t taken = CO_TRY(co_await read_some(stream, into));
        if (taken == 0) co_return fail(Code::unavailable, "the connection ended in the middle of a message");
        into = into.subspan(taken);
    }
    co_return Result<>{};
}

Task<> write_all(Stream& stream, std::string_view bytes) {
    while (!bytes.empty()) {
        const asio::const_buffer buffer{bytes.data(), bytes.size()};
        if (const auto taken = CO_TRY(stream.try_write({&buffer, 1})))
            bytes.remove_prefix(*taken);
        else
            CO_TRY(co_await stream.writable());
    }
    co_return Result<>{};
}

Task<> write_all(Stream& stream, std::span<const asio::const_buffer> buffers) {
    constexpr std::size_t buffers_max = 16;
    HOSTLER_ASSERT(buffers.size() <= buffers_max);
    std::array<asio::const_buffer, buffers_max> rest{};
    std::copy(buffers.begin(), buffers.end(), rest.begin());
    std::span<asio::const_buffer> left{rest.data(), buffers.size()};
    while (!left.empty()) {
        if (left.front().size() == 0) {
            left = left.subspan(1);
            continue;
        }
        const auto taken = CO_TRY(stream.try_write(left));
        if (!taken) {
            CO_TRY(co_await stream.writable());
            continue;
        }
        for (std::size_t gone = *taken; gone > 0;) {
            const std::size_t step = std::min(gone, left.front().size());
            left.front() += step;
            gone -= step;
            if (left.front().size() == 0) left = left.subspan(1);
        }
    }
    co_return Result<>{};
}

}  // namespace hostler
