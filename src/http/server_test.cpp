#include "http/server.h"

#include <gtest/gtest.h>

#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "core/testing/run.h"

namespace hostler::http {
namespace {

using namespace std::chrono_literals;
using testing::ManualTimers;
using testing::MemoryStream;

// A server on one end of a memory pair; the test is the client, byte for byte.
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

    void send(std::string_view bytes) {
        while (!bytes.empty()) {
            const asio::const_buffer buffer{bytes.data(), bytes.size()};
            const auto taken = client->try_write({&buffer, 1});
            if (!taken || !*taken) return;
            bytes.remove_prefix(**taken);
            timers.settle();
        }
    }
    // All that the server has said until now; `Date` is left out.
    std::string heard() {
        timers.settle();
        while (true) {
            char into[4096];
            const auto size = client->try_read(into);
            if (size && *size == 0U) ended = true;
            if (!size || !*size || **size == 0) break;
            text.append(into, **size);
            timers.settle();
        }
        std::string all = std::exchange(text, {});
        while (true) {
            const auto date = all.find("Date: ");
            if (date == std::string::npos) return all;
            all.erase(date, all.find('\n', date) + 1 - date);
        }
    }

    Loop loop;
    ManualTimers timers{loop};
    Handler handler;
    ServerLimits limits;
    Drain drain;
    bool over = false;
    bool ended = false;
    std::string text;
    std::unique_ptr<MemoryStream> client;
    TaskGroup group{loop};
};

Handler echo() {
    return [](Exchange& exchange) -> Task<> {
        auto body = CO_TRY(co_await exchange.read_all(1 << 20));
        co_return co_await exchange.respond(
            {200, {}, exchange.request.method + exchange.request.target + body});
    };
}

TEST(Server, AnswersAndKeepsTheConnection) {
    Served served{echo()};
    served.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nGET/a");
    served.send("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nxyz");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nPOST/bxyz");
    EXPECT_FALSE(served.over);
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
    Served served{echo()};
    served.send(
        "POST /1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;q=1\r\nc\r\n0\r\nX: "
        "y\r\n\r\n"
        "GET /2 HTTP/1.1\r\nHost: x\r\n\r\n"
        "GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /4 HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(),
              "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nPOST/1abc"
              "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nGET/2"
              "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nGET/3");
    served.timers.advance(5s);
    EXPECT_TRUE(served.over);
}

}  // namespace
}  // namespace hostler::http
