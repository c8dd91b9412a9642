#include "roles/agent/pump.h"

#include <array>

#include "core/signal.h"
#include "core/task_group.h"

namespace hostler::agent {

namespace {

// What could not be written at once waits in `rest`; nothing more is read meanwhile.
Task<> copy(Stream& from, Stream& to, const std::function<void()>& seen) {
    constexpr int turns_max = 16;  // Then the loop's other tasks have their turn.
    for (int turns = 1;; ++turns) {
        std::string rest;
        {
            // Nothing is awaited while it is used: all pumps share it.
            thread_local std::array<char, 64 * 1024> scratch;
            const auto size = CO_TRY(from.try_read(scratch));
            if (size == 0U) break;
            if (size) {
                if (seen) seen();
                const asio::const_buffer all{scratch.data(), *size};
                const std::size_t taken = CO_TRY(to.try_write({&all, 1})).value_or(0);
                rest.assign(scratch.data() + taken, *size - taken);
                if (rest.empty() && turns < turns_max) continue;
            }
        }
        turns = 0;
        if (rest.empty())
            CO_TRY(co_await from.readable());
        else
            CO_TRY(co_await write_all(to, rest));
    }
    co_return co_await to.finish();
}

}  // namespace

Task<> pump(Loop& loop, Stream& a, Stream& b, const PumpSeen& seen) {
    int running = 2;
    Signal ended;
    TaskGroup tasks{loop};
    const auto half = [](Stream& from, Stream& to, const std::function<void()>& moved, int& left,
                         Signal& done) -> Task<> {
        const auto copied = co_await copy(from, to, moved);
        if (!copied) {  // A broken half ends the other.
            from.close();
            to.close();
        }
        --left;
        done.notify_all();
        co_return Result<>{};
    };
    tasks.start("tunnel", half(a, b, seen.forth, running, ended));
    tasks.start("tunnel", half(b, a, seen.back, running, ended));
    Result<> waited{};
    while (running > 0 && waited) waited = co_await ended.wait();
    (void)co_await tasks.close();
    co_return waited;
}

}  // namespace hostler::agent
