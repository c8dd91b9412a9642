#include "wire/speed.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

namespace hostler::wire {

namespace {

// "take N": N bytes follow, and the last of them are said back. "give N": a nonce follows, and is wanted back
// at the head of N bytes.
constexpr std::string_view take = "take ", give = "give ";
constexpr std::size_t nonce_size = 16;
constexpr std::size_t line_max = 32;
constexpr std::size_t block_size = 64 * 1024;

using Nonce = std::array<char, nonce_size>;

Nonce nonce_of(Random& random) {
    Nonce made;
    random.fill({reinterpret_cast<std::uint8_t*>(made.data()), made.size()});
    return made;
}

std::string_view text(const Nonce& nonce) { return {nonce.data(), nonce.size()}; }

// Nothing on the way makes less of it.
std::string block_of(Random& random) {
    std::string made(block_size, '\0');
    random.fill({reinterpret_cast<std::uint8_t*>(made.data()), made.size()});
    return made;
}

Task<> write_block(Stream& to, const std::string& block, std::size_t bytes) {
    while (bytes > 0) {
        const std::size_t piece = std::min(bytes, block.size());
        CO_TRY(co_await write_all(to, std::string_view{block}.substr(0, piece)));
        bytes -= piece;
    }
    co_return Result<>{};
}

Task<> read_away(Stream& from, std::string& into, std::size_t bytes) {
    while (bytes > 0) {
        const std::size_t taken =
            CO_TRY(co_await read_some(from, {into.data(), std::min(bytes, into.size())}));
        if (taken == 0) co_return fail(Code::unavailable, "the other end has gone");
        bytes -= taken;
    }
    co_return Result<>{};
}

Task<> read_nonce(Stream& from, Nonce expected) {
    Nonce said;
    CO_TRY(co_await read_exactly(from, said));
    if (said != expected) co_return fail(Code::invalid, "the other end says what it was not asked for");
    co_return Result<>{};
}

class Asker {
public:
    Asker(Stream& peer, Timers& timers, Random& random, const SpeedLimits& limits)
        : peer_(peer), timers_(timers), random_(random), limits_(limits), block_(block_of(random)) {}

    Task<Speed> all() {
        std::vector<Duration> trips;
        for (int i = 0; i < limits_.round_trips; ++i) trips.push_back(CO_TRY(co_await send(nonce_size)));
        const auto middle = trips.begin() + static_cast<std::ptrdiff_t>(trips.size() / 2);
        std::ranges::nth_element(trips, middle);
        trip_ = *middle;
        Speed speed{.round_trip = trip_};
        speed.down_kbit_s = CO_TRY(co_await best_of(&Asker::send));
        speed.up_kbit_s = CO_TRY(co_await best_of(&Asker::fetch));
        speed.bytes = bytes_;
        co_return speed;
    }

private:
    // Of the largest piece: before it the connection has learned how much the way bears.
    Task<std::int64_t> best_of(Task<Duration> (Asker::*move)(std::size_t)) {
        for (std::size_t bytes = limits_.first_bytes;; bytes = std::min(bytes * 4, limits_.bytes_max)) {
            const Duration took = CO_TRY(co_await (this->*move)(bytes));
            // Its answer came back, too. What is near to a round trip is not told apart from it.
            const Duration alone =
                std::max<Duration>({took - trip_, took / 10, std::chrono::microseconds{1}});
            if (alone >= limits_.enough || bytes >= limits_.bytes_max)
                co_return static_cast<std::int64_t>(static_cast<double>(bytes) * 8e-3 /
                                                    std::chrono::duration<double>{alone}.count());
        }
    }

    Task<Duration> send(std::size_t bytes) {
        const Nonce nonce = nonce_of(random_);
        const Instant begun = timers_.now();
        CO_TRY(co_await write_all(peer_, fmt::format("{}{}\n", take, bytes)));
        CO_TRY(co_await write_block(peer_, block_, bytes - nonce_size));
        CO_TRY(co_await write_all(peer_, text(nonce)));
        CO_TRY(co_await read_nonce(peer_, nonce));
        bytes_ += bytes;
        co_return timers_.now() - begun;
    }

    Task<Duration> fetch(std::size_t bytes) {
        const Nonce nonce = nonce_of(random_);
        const Instant begun = timers_.now();
        CO_TRY(co_await write_all(peer_, fmt::format("{}{}\n{}", give, bytes, text(nonce))));
        CO_TRY(co_await read_nonce(peer_, nonce));
        CO_TRY(co_await read_away(peer_, into_, bytes - nonce_size));
        bytes_ += bytes;
        co_return timers_.now() - begun;
    }

    Stream& peer_;
    Timers& timers_;
    Random& random_;
    const SpeedLimits& limits_;
    const std::string block_;
    std::string into_ = std::string(block_size, '\0');
    Duration trip_{};
    std::uint64_t bytes_ = 0;
};

// Without its end. Empty: the stream has ended. Byte by byte: what follows may be a nonce.
Task<std::string> read_line(Stream& from) {
    std::string line;
    while (line.size() < line_max) {
        char c = 0;
        const std::size_t taken = CO_TRY(co_await read_some(from, {&c, 1}));
        if (taken == 0) co_return std::string{};
        if (c == '\n') co_return line;
        line += c;
    }
    co_return fail(Code::invalid, "a line is too long");
}

Result<std::size_t> bytes_in(std::string_view line, const AnswerLimits& limits) {
    line.remove_prefix(std::min(line.size(), take.size()));
    std::size_t bytes = 0;
    const auto [end, wrong] = std::from_chars(line.data(), line.data() + line.size(), bytes);
    if (wrong != std::errc{} || end != line.data() + line.size() || bytes < nonce_size)
        return fail(Code::invalid, "a piece has no size");
    if (bytes > limits.piece_max)
        return fail(Code::exhausted, fmt::format("a piece of {} bytes is wanted", bytes));
    return bytes;
}

}  // namespace

Task<Speed> measure_speed(Stream& peer, Timers& timers, Random& random, SpeedLimits limits) {
    Asker asker{peer, timers, random, limits};
    co_return co_await asker.all();
}

Task<> answer_speed(Stream& asker, Random& random, AnswerLimits limits) {
    const std::string block = block_of(random);
    std::string into(block_size, '\0');
    while (true) {
        const std::string line = CO_TRY(co_await read_line(asker));
        if (line.empty()) co_return Result<>{};
        const bool takes = line.starts_with(take);
        if (!takes && !line.starts_with(give)) co_return fail(Code::invalid, "unknown request");
        const std::size_t bytes = CO_TRY(bytes_in(line, limits));
        if (bytes > limits.bytes_max) co_return fail(Code::exhausted, "more than enough was measured");
        limits.bytes_max -= bytes;
        Nonce nonce;
        if (takes) CO_TRY(co_await read_away(asker, into, bytes - nonce_size));
        CO_TRY(co_await read_exactly(asker, nonce));
        CO_TRY(co_await write_all(asker, text(nonce)));
        if (!takes) CO_TRY(co_await write_block(asker, block, bytes - nonce_size));
    }
}

}  // namespace hostler::wire
