#include "http/client.h"

#include <gtest/gtest.h>

#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "core/testing/run.h"
#include "http/server.h"

namespace hostler::http {
namespace {

using namespace std::chrono_literals;
using testing::ManualTimers;
using testing::MemoryStream;

// A network of memory pairs: the test holds the server's ends.
class MemoryNet : public Net {
public:
    Task<StreamPtr> dial(std::string address, Duration) override {
        dialled.push_back(address);
        if (refuse) co_return fail(Code::unavailable, "refused");
        auto [client, server] = testing::memory_pair(room);
        servers.push_back(std::move(server));
        if (on_dial) on_dial();
        co_return std::move(client);
    }
    Task<ListenerPtr> listen(std::string) override { co_return fail(Code::internal, "not here"); }
    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side, Duration) override {
        secured.push_back(how.expect);
        co_return std::move(raw);
    }
    std::vector<std::string> dialled;
    std::vector<std::string> secured;
    std::vector<std::unique_ptr<MemoryStream>> servers;
    std::function<void()> on_dial;
    bool refuse = false;
    std::size_t room = 64 * 1024;
};

struct Fixture : ::testing::Test {
    Loop loop;
    ManualTimers timers{loop};
    MemoryNet net;
    Client client{net, timers};
    TaskGroup group{loop};
    std::optional<Result<Response>> response;
    std::optional<Result<ReplyPtr>> reply;

    ~Fixture() override {
        reply.reset();
        group.cancel();
        timers.settle();
    }

    void fetch(Request request, Patience patience = {}) {
        response.reset();
        group.start("fetch", [](Fixture& me, Request ask, Patience wait) -> Task<> {
            me.response.emplace(co_await me.client.fetch({"host:80"}, std::move(ask), wait));
            co_return Result<>{};
        }(*this, std::move(request), patience));
        timers.settle();
    }
    void start(Call call) {
        reply.reset();
        group.start("start", [](Fixture& me, Call ask) -> Task<> {
            me.reply.emplace(co_await me.client.start({"unix:/run/x.sock"}, std::move(ask)));
            co_return Result<>{};
        }(*this, std::move(call)));
        timers.settle();
    }
    std::string heard(std::size_t server = 0) {
        std::string all;
        while (true) {
            timers.settle();
            char into[4096];
            const auto size = net.servers.at(server)->try_read(into);
            if (!size || !*size || **size == 0) return all;
            all.append(into, **size);
        }
    }
    void say(std::string_view bytes, std::size_t server = 0) {
        ASSERT_TRUE(testing::run(loop, write_all(*net.servers.at(server), bytes)));
        timers.settle();
    }
};

TEST_F(Fixture, FetchesAndKeepsTheConnection) {
    fetch({.target = "/a?b"});
    EXPECT_EQ(heard(), "GET /a?b HTTP/1.1\r\nHost: host:80\r\n\r\n");
    say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    ASSERT_TRUE(response && *response);
    EXPECT_EQ((*response)->body, "hi");
    EXPECT_EQ(client.idle_connections(), 1U);

    fetch({.method = "POST", .target = "/b", .body = "xyz"});
    EXPECT_EQ(net.dialled.size(), 1U);
    EXPECT_EQ(heard(), "POST /b HTTP/1.1\r\nHost: host:80\r\nContent-Length: 3\r\n\r\nxyz");
    say("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    ASSERT_TRUE(response && *response);
    EXPECT_EQ((*response)->status, 201);
    EXPECT_EQ((*response)->body, "abc");
    timers.advance(2min);
    EXPECT_EQ(client.idle_connections(), 0U);
}

}  // namespace
}  // namespace hostler::http
