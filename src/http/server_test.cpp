#include "http/served_test.h"

namespace hostler::http {
namespace {

TEST(Server, AnswersAndKeepsTheConnection) {
    Served served{echo()};
    served.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nGET/a");
    served.send("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nxyz");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nPOST/bxyz");
    EXPECT_FALSE(served.over);
}

TEST(Server, SaysTheDate) {
    Served served{echo()};
    served.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_NE(drained(served.timers, *served.client).find("\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n"),
              std::string::npos);
}

TEST(Server, AnswersNameTheirRequest) {
    int count = 0;
    Served served{[&](Exchange& exchange) -> Task<> {
        if (++count < 3) exchange.set_request_id(fmt::format("r-{}", count));
        if (count == 2) co_return fail(Code::internal, "broken");
        co_return co_await exchange.respond({200, {}, std::string{exchange.request_id()}});
    }};
    const std::string ask = "GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: own\r\n\r\n";
    served.send(ask);
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-Request-Id: r-1\r\n\r\nr-1");
    served.send(ask);
    EXPECT_NE(served.heard().find("\r\nX-Request-Id: r-2\r\n"), std::string::npos) << "of an error, too";
    served.send(ask);
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        << "the id of one request is not that of the next on its connection";
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
    EXPECT_TRUE(served.ended);
    served.timers.advance(5s);
    EXPECT_TRUE(served.over);
}

TEST(Server, AnswersHeadWithoutABody) {
    Served served{[](Exchange& exchange) -> Task<> {
        if (exchange.request.path() == "/stream") {
            CO_TRY(co_await exchange.start({}));
            CO_TRY(co_await exchange.write("abc"));
            co_return co_await exchange.end();
        }
        co_return co_await exchange.respond({200, {}, "abc"});
    }};
    served.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
    served.send("HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    served.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
}

TEST(Server, KnowsAnswersWithoutBody) {
    Served served{
        [](Exchange& exchange) -> Task<> { co_return co_await exchange.respond({204, {}, "none"}); }};
    served.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST(Server, SpeaksWithOldClients) {
    Served served{[](Exchange& exchange) -> Task<> {
        if (exchange.request.path() == "/whole") co_return co_await exchange.respond({200, {}, "abc"});
        CO_TRY(co_await exchange.start({}));
        CO_TRY(co_await exchange.write("abc"));
        co_return co_await exchange.end();
    }};
    served.send("GET /whole HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\nabc");
    EXPECT_FALSE(served.ended);
    served.send("GET /stream HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");  // No chunks in 1.0.
    EXPECT_TRUE(served.ended);
}

TEST(Server, TellsTheClientToGoOnWhenTheBodyIsRead) {
    Served served{echo()};
    served.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 100 Continue\r\n\r\n");
    served.send("b");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nPOST/ab");
}

TEST(Server, DoesNotAskForABodyNobodyReads) {
    Served served{[](Exchange& exchange) -> Task<> { co_return co_await exchange.respond({403, {}, ""}); }};
    served.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    EXPECT_TRUE(served.ended);  // Whether the body comes is the client's choice: the next bytes mean nothing.
}

TEST(Server, DiscardsASmallUnreadBodyAndNotALargeOne) {
    Served served{[](Exchange& exchange) -> Task<> { co_return co_await exchange.respond({200, {}, ""}); },
                  {.discard_bytes_max = 4}};
    served.send(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcdGET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(),
              "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    served.send(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabcdefghiGET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    EXPECT_TRUE(served.ended);
}

TEST(Server, RefusesABodyOverTheLimit) {
    const Handler reads = [](Exchange& exchange) -> Task<> {
        CO_TRY(co_await exchange.read_all(4));
        co_return co_await exchange.respond({200, {}, ""});
    };
    for (const std::string body : {"Content-Length: 5\r\n\r\nabcde",
                                   "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"}) {
        Served served{reads};
        served.send("POST / HTTP/1.1\r\nHost: x\r\n" + body);
        EXPECT_TRUE(served.heard().starts_with("HTTP/1.1 413 Content Too Large\r\n")) << body;
        EXPECT_TRUE(served.ended) << body;
    }
    Served served{reads};
    served.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd");
    EXPECT_TRUE(served.heard().starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST(Server, StreamsPiecesAtOnce) {
    Signal go;
    Served served{[&](Exchange& exchange) -> Task<> {
        CO_TRY(co_await exchange.start({200, {{"Content-Type", "text/event-stream"}}}));
        CO_TRY(co_await exchange.write("data: 1\n\n"));
        CO_TRY(co_await go.wait());
        CO_TRY(co_await exchange.write("data: 2\n\n"));
        co_return co_await exchange.end();
    }};
    served.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(),
              "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
              "9\r\ndata: 1\n\n\r\n");
    go.notify_all();
    EXPECT_EQ(served.heard(), "9\r\ndata: 2\n\n\r\n0\r\n\r\n");
}

TEST(Server, CutsAnAnswerShorterThanItPromised) {
    Served served{[](Exchange& exchange) -> Task<> {
        CO_TRY(co_await exchange.start({200, {{"Content-Length", "4"}}}));
        CO_TRY(co_await exchange.write("abc"));
        co_return co_await exchange.end();
    }};
    served.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc");
    EXPECT_TRUE(served.over);
}

TEST(Server, CancelsTheHandlerOfAClientThatHasGone) {
    Signal never;
    std::optional<Code> end;
    Served served{[&](Exchange& exchange) -> Task<> {
        CO_TRY(co_await exchange.start({}));
        const auto waited = co_await never.wait();
        end = waited.error().code;
        co_return waited;
    }};
    served.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    served.timers.advance(10s);
    EXPECT_FALSE(end);
    served.client->close();
    served.timers.advance(1s);
    EXPECT_EQ(end, Code::cancelled);
    EXPECT_TRUE(served.over);
}

TEST(Server, WatchingAClientLosesNoneOfItsBytes) {
    Signal go;
    Served served{[&](Exchange& exchange) -> Task<> {
        if (exchange.request.target == "/1") CO_TRY(co_await go.wait());
        auto body = CO_TRY(co_await exchange.read_all(100));
        co_return co_await exchange.respond({200, {}, exchange.request.target + body});
    }};
    served.send("POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab");
    served.timers.advance(3s);
    served.send("cdPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n");
    served.timers.advance(3s);
    served.send("e");
    go.notify_all();
    EXPECT_EQ(
        served.heard(),
        "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n/1abcdHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n/2e");
}

TEST(Server, AnswersForAHandlerThatFails) {
    Served served{[](Exchange& exchange) -> Task<> {
        if (exchange.request.path() == "/late") CO_TRY(co_await exchange.start({}));
        if (exchange.request.path() == "/silent") co_return Result<>{};
        co_return fail(Code::conflict, "it is in use");
    }};
    served.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(),
              "HTTP/1.1 409 Conflict\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 13\r\n\r\n"
              "it is in use\n");
    served.send("GET /silent HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(served.heard().starts_with("HTTP/1.1 500 "));
    served.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    EXPECT_TRUE(served.ended);  // Cut without the last chunk: nobody takes it for whole.
}

TEST(Server, ValuesCannotEndTheirLine) {
    Served served{[](Exchange& exchange) -> Task<> {
        co_return co_await exchange.respond(
            {302, {{"Location", "/a\r\nSet-Cookie: b"}, {"Bad name", "c"}}, ""});
    }};
    served.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(served.heard(),
              "HTTP/1.1 302 Found\r\nLocation: /a  Set-Cookie: b\r\nContent-Length: 0\r\n\r\n");
}

TEST(Server, HandsOverAnUpgradedStreamWithTheBytesThatCame) {
    std::string came;
    Served served{[&](Exchange& exchange) -> Task<> {
        EXPECT_TRUE(exchange.wants_upgrade());
        auto stream = CO_TRY(co_await exchange.upgrade({{"Upgrade", "echo"}}));
        char into[16];
        const std::size_t first = CO_TRY(co_await read_some(*stream, into));
        came.append(into, first);
        CO_TRY(co_await write_all(*stream, "yes"));
        const std::size_t second = CO_TRY(co_await read_some(*stream, into));
        came.append(into, second);
        co_return Result<>{};
    }};
    served.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly");
    EXPECT_EQ(served.heard(),
              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nyes");
    served.timers.advance(10s);  // Nobody looks any more whether the client of a waiting request has gone.
    served.send("late");
    EXPECT_EQ(came, "earlylate");
    EXPECT_TRUE(served.over);
    EXPECT_EQ(served.client->try_read(std::span<char>{}).value_or(1), 0U);
}

TEST(ServerTime, ClosesAnIdleConnectionSilently) {
    Served served{echo()};
    served.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    served.heard();
    served.timers.advance(74s);
    EXPECT_FALSE(served.over);
    served.timers.advance(2s);
    EXPECT_TRUE(served.over);
    EXPECT_EQ(served.heard(), "");
}

TEST(ServerTime, LimitsAHeadAsAWholeHoweverItDribbles) {
    Served served{echo()};
    for (const char c : std::string_view{"GET / HT"}) {
        served.send({&c, 1});
        served.timers.advance(1s);
    }
    EXPECT_FALSE(served.over);
    for (const char c : std::string_view{"TP"}) {
        served.send({&c, 1});
        served.timers.advance(1s);
    }
    EXPECT_TRUE(served.heard().starts_with("HTTP/1.1 408 Request Timeout\r\n"));
    EXPECT_TRUE(served.over);
}

TEST(ServerTime, LimitsThePausesOfABody) {
    Served served{echo()};
    served.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na");
    served.timers.advance(29s);
    served.send("b");
    served.timers.advance(29s);
    EXPECT_FALSE(served.over);
    served.timers.advance(2s);
    EXPECT_TRUE(served.over);
}

TEST(ServerTime, LimitsAClientThatDoesNotRead) {
    Result<> written;
    Served served{[&](Exchange& exchange) -> Task<> {
                      written = co_await exchange.respond({200, {}, std::string(1000, 'a')});
                      co_return written;
                  },
                  {},
                  100};
    served.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    served.timers.advance(29s);
    EXPECT_EQ(served.heard().substr(0, 15), "HTTP/1.1 200 OK");  // Progress: the time counts anew.
    Served slow{served.handler, {}, 100};
    slow.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    slow.timers.advance(31s);
    EXPECT_TRUE(slow.over);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Code::timeout);
}

TEST(ServerDrain, EndsIdleConnectionsAndLetsBusyOnesFinish) {
    Signal go;
    const Handler waits = [&](Exchange& exchange) -> Task<> {
        CO_TRY(co_await go.wait());
        co_return co_await exchange.respond({200, {}, "a"});
    };
    Served idle{waits}, busy{waits};
    busy.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    idle.drain.begin();
    busy.drain.begin();
    idle.timers.settle();
    EXPECT_TRUE(idle.over);
    busy.timers.settle();
    EXPECT_FALSE(busy.over);
    go.notify_all();
    EXPECT_EQ(busy.heard(), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na");
    busy.client->close();
    busy.timers.settle();
    EXPECT_TRUE(busy.over);
}

TEST(Server, AcceptsWithinItsLimitAndStopsGracefully) {
    Loop loop;
    ManualTimers timers{loop};
    const ServerLimits limits;
    const Handler handler = [answer = echo()](Exchange& exchange) {
        exchange.is_known();
        return answer(exchange);
    };
    Server server{loop, timers, 2};
    auto given = std::make_unique<Given>();
    Given& listener = *given;
    TaskGroup group{loop};
    std::vector<std::unique_ptr<MemoryStream>> clients;
    for (int count = 0; count < 3; ++count) {
        auto [mine, its] = testing::memory_pair();
        clients.push_back(std::move(mine));
        listener.streams.push_back(std::move(its));
        sent(timers, *clients.back(), "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    group.start("accept", server.run(std::move(given), [&](StreamPtr stream, Place& place) {
        return serve(std::move(stream), timers, limits, handler, &server.drain(), &place);
    }));
    timers.settle();
    EXPECT_EQ(server.connections(), 2U);
    EXPECT_NE(drained(timers, *clients[1]), "");
    EXPECT_EQ(drained(timers, *clients[2]), "");
    clients[0]->close();
    EXPECT_NE(drained(timers, *clients[2]), "");  // Its turn has come.

    sent(timers, *clients[1], "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n");
    bool stopped = false;
    group.start("stop", [](Server& it, bool& done) -> Task<> {
        auto result = co_await it.stop(5s);
        done = true;
        co_return result;
    }(server, stopped));
    timers.settle();
    EXPECT_EQ(server.connections(), 1U);  // The idle one has ended.
    timers.advance(4s);
    EXPECT_FALSE(stopped);
    timers.advance(1s);
    EXPECT_TRUE(stopped);
    EXPECT_EQ(server.connections(), 0U);
    EXPECT_EQ(group.size(), 0U);
}

}  // namespace
}  // namespace hostler::http
