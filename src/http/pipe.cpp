#include "http/pipe.h"

#include "core/signal.h"
#include "core/task_group.h"
#include "http/conn.h"

namespace hostler::http {

namespace {

struct Both {
    Stream& a;
    Stream& b;
    Duration idle_time;
    Alarm idle;
    Signal ended;
    bool back_done = false;

    void close() {
        a.close();
        b.close();
    }
};

Task<> one_way(Both& both, Stream& from, Stream& to, std::uint64_t& bytes) {
    std::string rest;  // What `to` has not taken yet.
    while (true) {
        const auto into = scratch();
        const auto size = CO_TRY(from.try_read(into));
        if (!size) {
            CO_TRY(co_await from.readable());
            continue;
        }
        both.idle.set(both.idle_time);
        if (*size == 0) co_return co_await to.finish();
        bytes += *size;
        const asio::const_buffer buffer{into.data(), *size};
        const std::size_t taken = CO_TRY(to.try_write({&buffer, 1})).value_or(0);
        rest.assign(into.data() + taken, *size - taken);
        while (!rest.empty()) {
            CO_TRY(co_await to.writable());
            const asio::const_buffer left{rest.data(), rest.size()};
            const std::size_t more = CO_TRY(to.try_write({&left, 1})).value_or(0);
            if (more > 0) both.idle.set(both.idle_time);
            rest.erase(0, more);
        }
    }
}

Task<> way_back(Both& both, std::uint64_t& bytes) {
    if (!co_await one_way(both, both.b, both.a, bytes)) both.close();
    both.back_done = true;
    both.ended.notify_all();
    co_return Result<>{};
}

}  // namespace

Task<Piped> pipe(Stream& a, Stream& b, Timers& timers, Duration idle_time) {
    Piped piped;
    Both both{a, b, idle_time, Alarm{timers, [&] {
                                         piped.idle = true;
                                         both.close();
                                     }}};
    both.idle.set(idle_time);
    TaskGroup group{static_cast<Loop&>((co_await asio::this_coro::executor).context())};
    group.start("pipe", way_back(both, piped.back));
    if (!co_await one_way(both, a, b, piped.forth)) both.close();
    while (!both.back_done)
        if (!co_await both.ended.wait()) break;
    both.close();
    co_await group.close();
    CO_TRY(co_await check_cancelled());
    co_return piped;
}

}  // namespace hostler::http
