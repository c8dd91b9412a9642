// Requests of any bytes in any pieces: the server never crashes, its answers are well formed, and a head that
// it takes means the same after our own serializer has written it.
#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "http/server.h"

using namespace hostler;
using namespace hostler::http;

namespace {

void check_round_trip(const Request& request) {
    std::string text;
    write_head(text, request);
    const HeadLimits limits{.bytes_max = 1 << 20, .start_line_max = 1 << 20, .headers_max = 1000};
    HeadScanner scanner;
    HOSTLER_ASSERT(scanner.scan(text, limits) == HeadScanner::Found::head && scanner.size() == text.size());
    RequestHead again;
    HOSTLER_ASSERT(parse(text, limits, again));
    HOSTLER_ASSERT(again.method == request.method && again.target == request.target);
    HOSTLER_ASSERT(owned(again) == request.headers);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size < 1) return 0;
    const std::size_t piece = 1 + bytes[0] % 32;  // The first byte says how the rest is cut.
    const std::string_view text{reinterpret_cast<const char*>(bytes) + 1, size - 1};
    Loop loop;
    testing::ManualTimers timers{loop};
    const ServerLimits limits{.head = {.bytes_max = 2048, .start_line_max = 512, .headers_max = 16},
                              .body_bytes_max = 4096,
                              .discard_bytes_max = 256};
    std::uint64_t read = 0;
    const Handler handler = [&](Exchange& exchange) -> Task<> {
        check_round_trip(exchange.request);
        auto body = CO_TRY(co_await exchange.read_all(limits.body_bytes_max));
        HOSTLER_ASSERT(body.size() <= limits.body_bytes_max);
        read += body.size();
        co_return co_await exchange.respond({200, {}, std::move(body)});
    };
    auto [client, server] = testing::memory_pair(1 << 20);
    TaskGroup group{loop};
    group.start("serve", serve(std::move(server), timers, limits, handler));
    for (std::size_t at = 0; at < text.size(); at += piece) {
        const asio::const_buffer buffer{text.data() + at, std::min(piece, text.size() - at)};
        if (!client->try_write({&buffer, 1})) break;
        timers.settle();
    }
    HOSTLER_ASSERT(read <= text.size());
    const auto heard = client->unread();
    HOSTLER_ASSERT(heard.empty() || heard.starts_with("HTTP/1.1 "));
    client->close();
    timers.advance(std::chrono::minutes{5});
    HOSTLER_ASSERT(group.size() == 0);
    return 0;
}
