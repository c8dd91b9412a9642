// Answers of any bytes in any pieces, to each kind of request: the client never crashes, ends, and delivers
// no more than came; a head that it takes means the same after our own serializer has written it.
#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "http/outlet.h"

#include "core/task_group.h"

using namespace hostler;
using namespace hostler::http;

namespace {

constexpr HeadLimits limits{.bytes_max = 2048, .start_line_max = 512, .headers_max = 16};

void check_round_trip(const ResponseHead& head, std::string_view method) {
    std::string text;
    write_head(text, Response{head.status, owned(head), {}});
    constexpr HeadLimits wide{.bytes_max = 1 << 20, .start_line_max = 1 << 20, .headers_max = 1000};
    HeadScanner scanner;
    HOSTLER_ASSERT(scanner.scan(text, wide) == HeadScanner::Found::head && scanner.size() == text.size());
    ResponseHead again;
    HOSTLER_ASSERT(parse(text, wide, method, again));
    HOSTLER_ASSERT(again.status == head.status && owned(again) == owned(head));
}

Task<> read_answers(Outlet& outlet, std::string_view method, std::uint64_t& read) {
    for (int count = 0; count < 64; ++count) {
        outlet.begin();
        CO_TRY(co_await outlet.read_head(method, limits, std::chrono::seconds{5}));
        check_round_trip(outlet.head(), method);
        while (true) {
            std::array<char, 100> into;
            const std::size_t size = CO_TRY(co_await outlet.read_body(into, std::chrono::seconds{5}));
            read += size;
            if (size == 0) break;
        }
        HOSTLER_ASSERT(outlet.body().done());
    }
    co_return Result<>{};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size < 1) return 0;
    const std::size_t piece = 1 + bytes[0] % 32;
    constexpr std::array<std::string_view, 3> methods{"GET", "HEAD", "POST"};
    const std::string_view text{reinterpret_cast<const char*>(bytes) + 1, size - 1};
    Loop loop;
    testing::ManualTimers timers{loop};
    auto [client, server] = testing::memory_pair(1 << 20);
    Outlet outlet{std::move(client), timers};
    std::uint64_t read = 0;
    TaskGroup group{loop};
    group.start("read", [](Outlet& from, std::string_view method, std::uint64_t& into) -> Task<> {
        (void)co_await read_answers(from, method, into);
        co_return Result<>{};
    }(outlet, methods[bytes[0] / 32 % methods.size()], read));
    for (std::size_t at = 0; at < text.size(); at += piece) {
        const asio::const_buffer buffer{text.data() + at, std::min(piece, text.size() - at)};
        if (!server->try_write({&buffer, 1})) break;
        timers.settle();
    }
    server->close();
    timers.advance(std::chrono::minutes{1});
    HOSTLER_ASSERT(read <= text.size());
    HOSTLER_ASSERT(group.size() == 0);
    return 0;
}
