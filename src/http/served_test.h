// For this folder's tests: a server on one end of a memory pair; the test is the client, byte for byte.
#pragma once

#include <gtest/gtest.h>

#include <deque>

#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "core/testing/run.h"
#include "http/server.h"

namespace hostler::http {

using namespace std::chrono_literals;
using testing::ManualTimers;
using testing::MemoryStream;

// All that can be read now.
inline std::string drained(ManualTimers& timers, Stream& stream, bool* ended = nullptr) {
    std::string all;
    while (true) {
        timers.settle();
        char into[4096];
        const auto size = stream.try_read(into);
        if (size && *size == 0U && ended != nullptr) *ended = true;
        if (!size || !*size || **size == 0) return all;
        all.append(into, **size);
    }
}

inline void sent(ManualTimers& timers, Stream& stream, std::string_view bytes) {
    while (!bytes.empty()) {
        const asio::const_buffer buffer{bytes.data(), bytes.size()};
        const auto taken = stream.try_write({&buffer, 1});
        if (!taken || !*taken) return;
        bytes.remove_prefix(**taken);
        timers.settle();
    }
}

inline std::string without_date(std::string all) {
    while (true) {
        const auto date = all.find("Date: ");
        if (date == std::string::npos) return all;
        all.erase(date, all.find('\n', date) + 1 - date);
    }
}

struct Served {
    explicit Served(Handler on, ServerLimits with = {}, std::size_t room = 64 * 1024)
        : handler(std::move(on)), limits(with) {
        auto [mine, its] = testing::memory_pair(room);
        client = std::move(mine);
        group.start("serve", [](Served& me, StreamPtr stream) -> Task<> {
            auto result = co_await serve(std::move(stream), me.timers, me.limits, me.handler, &me.drain);
            me.over = true;
            co_return result;
        }(*this, std::move(its)));
        timers.settle();
    }
    ~Served() {
        group.cancel();
        timers.settle();
    }

    void send(std::string_view bytes) { sent(timers, *client, bytes); }
    // All that the server has said until now; `Date` is left out.
    std::string heard() { return without_date(drained(timers, *client, &ended)); }

    Loop loop;
    ManualTimers timers{loop};
    Handler handler;
    ServerLimits limits;
    Drain drain;
    bool over = false;
    bool ended = false;
    std::unique_ptr<MemoryStream> client;
    TaskGroup group{loop};
};

// Answers with method, target and body.
inline Handler echo() {
    return [](Exchange& exchange) -> Task<> {
        auto body = CO_TRY(co_await exchange.read_all(1 << 20));
        co_return co_await exchange.respond(
            {200, {}, exchange.request.method + exchange.request.target + body});
    };
}

// Gives out the streams it was given.
class Given : public Listener {
public:
    Task<StreamPtr> accept() override {
        while (!closed_ && streams.empty()) CO_TRY(co_await changed.wait());
        if (closed_) co_return fail(Code::cancelled, "closed");
        auto next = std::move(streams.front());
        streams.pop_front();
        co_return std::move(next);
    }
    std::string_view address() const override { return "memory"; }
    void close() override {
        closed_ = true;
        changed.notify_all();
    }
    std::deque<StreamPtr> streams;
    Signal changed;

private:
    bool closed_ = false;
};

}  // namespace hostler::http
