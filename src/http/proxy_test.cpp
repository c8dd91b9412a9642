#include "http/proxy.h"

#include "http/served_test.h"

namespace hostler::http {
namespace {

// A gateway between a client and upstreams, both ends played by the test.
struct HttpProxy : ::testing::Test {
    HttpProxy() { connect(); }
    ~HttpProxy() override {
        group.cancel();
        timers.settle();
    }

    void connect(std::size_t its_room = 64 * 1024) {
        auto [mine, its] = testing::memory_pair(its_room);
        client = std::move(mine);
        over = ended = false;
        group.start("gateway", serve(std::move(its)));
        timers.settle();
    }

    Task<> serve(StreamPtr stream) {
        Inlet inlet{std::move(stream), timers, limits};
        while (true) {
            const auto more = co_await inlet.next();
            if (!more || !*more) break;
            auto outcome =
                CO_TRY(co_await proxy.pass(inlet, "key", [this] { return dial(); }, request, response));
            outcomes.push_back(outcome);
            if (outcome.status != 0 || outcome.client_gone) continue;
            (void)co_await inlet.respond(
                text_response(gateway_status(*outcome.error), outcome.error->message));
        }
        over = true;
        co_return Result<>{};
    }

    Task<StreamPtr> dial() {
        if (refuse) co_return fail(Code::unavailable, "refused");
        auto [mine, its] = testing::memory_pair(room);
        servers.push_back(std::move(its));
        co_return std::move(mine);
    }

    void ask(std::string_view bytes) { sent(timers, *client, bytes); }
    void say(std::string_view bytes, std::size_t server = 0) { sent(timers, *servers.at(server), bytes); }
    std::string asked(std::size_t server = 0) { return drained(timers, *servers.at(server)); }
    std::string said() { return drained(timers, *client, &ended); }

    Loop loop;
    ManualTimers timers{loop};
    ServerLimits limits;
    ProxyLimits proxy_limits{.answer_time = 20s, .body_time = 40s, .pipe_time = 60s};
    Proxy proxy{timers, proxy_limits};
    Rewrite request, response;
    TaskGroup group{loop};
    std::unique_ptr<MemoryStream> client;
    std::vector<std::unique_ptr<MemoryStream>> servers;
    std::vector<Outcome> outcomes;
    std::size_t room = 64 * 1024;
    bool refuse = false;
    bool over = false;
    bool ended = false;
};

constexpr std::string_view get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST_F(HttpProxy, ForwardsAndKeepsBothConnections) {
    for (int round = 0; round < 3; ++round) {
        ask("POST /a?b HTTP/1.1\r\nHost: x\r\nA: b\r\nContent-Length: 3\r\n\r\nabc");
        EXPECT_EQ(asked(), "POST /a?b HTTP/1.1\r\nHost: x\r\nA: b\r\nContent-Length: 3\r\n\r\nabc");
        say("HTTP/1.1 201 Made it\r\nC: d\r\nContent-Length: 2\r\n\r\nok");
        EXPECT_EQ(said(), "HTTP/1.1 201 Made it\r\nC: d\r\nContent-Length: 2\r\n\r\nok");
    }
    EXPECT_EQ(servers.size(), 1U);
    ASSERT_EQ(outcomes.size(), 3U);
    EXPECT_EQ(outcomes[2].status, 201);
    EXPECT_EQ(outcomes[2].request_bytes, 3U);
    EXPECT_EQ(outcomes[2].response_bytes, 2U);
}

TEST_F(HttpProxy, RewritesHeads) {
    static constexpr std::string_view of_request[] = {"Authorization", "X-Hostler-User"};
    static constexpr std::string_view of_response[] = {"Server"};
    request.remove = of_request;
    request.set = {{"X-Forwarded-For", "1.2.3.4"}};
    request.drop_cookies = {"session", "hostler_*"};
    request.host = "127.0.0.1:8080";
    request.target = "/inner";
    response.remove = of_response;
    response.drop_cookies = {"session"};
    ask("GET /outer HTTP/1.1\r\nHost: x\r\nauthorization: secret\r\nX_Hostler_User: root\r\n"
        "x-forwarded-for: 6.6.6.6\r\nX_Forwarded_For: 6.6.6.6\r\nCookie: a=b; session=secret;hostler_x=y ; "
        "c=d\r\n"
        "Cookie: session=secret\r\nKeep-Alive: 5\r\nTE: trailers\r\nProxy-Authorization: x\r\nConnection: "
        "close, "
        "X-Mine, Host\r\nX-Mine: y\r\nKept: z\r\n\r\n");
    EXPECT_EQ(asked(),
              "GET /inner HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nCookie: a=b; c=d\r\nKept: z\r\n"
              "X-Forwarded-For: 1.2.3.4\r\n\r\n");
    say("HTTP/1.1 200 OK\r\nServer: y\r\nConnection: keep-alive, X-Hop\r\nX-Hop: z\r\nKeep-Alive: 5\r\n"
        "Set-Cookie: session=fixed; Path=/\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(said(), "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(ended);
}

TEST_F(HttpProxy, ForwardsChunksAsTheyAreAndLeavesTrailersOut) {
    ask("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;e=f\r\nabc\r\n");
    EXPECT_EQ(asked(), "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;e=f\r\nabc\r\n");
    ask("2\r\nde\r\n0\r\nHost: evil\r\nAuthorization: evil\r\n\r\n");
    EXPECT_EQ(asked(), "2\r\nde\r\n0\r\n\r\n");
    say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n");
    EXPECT_EQ(said(), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n");
    ask(get);
    asked();
    say(ok);
    EXPECT_EQ(said(), ok);
    EXPECT_EQ(servers.size(), 1U);
}

TEST_F(HttpProxy, ForwardsPiecesAtOnceWhateverTheirSize) {
    const std::string text =
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
        "chunked\r\n\r\n3;e\r\nabc\r\nA\r\n0123456789\r\n0\r\nA: b\r\n\r\n";
    std::string whole;
    for (const char c : text) {
        ask({&c, 1});
        if (!servers.empty()) whole += asked();
    }
    EXPECT_EQ(whole, text.substr(0, text.find("A: b")) + "\r\n");
    const std::string answer =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
        "chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\nA: "
        "b\r\n\r\n";
    whole.clear();
    for (const char c : answer) {
        say({&c, 1});
        whole += said();
    }
    EXPECT_EQ(whole, answer.substr(0, answer.find("A: b")) + "\r\n");
}

TEST_F(HttpProxy, ForwardsInterimAnswersAndExpectations) {
    ask("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    EXPECT_EQ(asked(), "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    say("HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_EQ(said(), "HTTP/1.1 100 Continue\r\n\r\n");
    ask("abc");
    EXPECT_EQ(asked(), "abc");
    say("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
    EXPECT_EQ(said(), "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
    say(ok);
    EXPECT_EQ(said(), ok);
    EXPECT_FALSE(ended);
}

TEST_F(HttpProxy, KnowsAnswersWithoutBody) {
    ask("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
    EXPECT_EQ(said(), "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
    ask("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    EXPECT_EQ(said(), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    ask(get);
    say("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n");
    EXPECT_EQ(said(), "HTTP/1.1 204 No Content\r\n\r\n");
    ask(get);
    say("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n");
    EXPECT_EQ(said(), "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n");
    EXPECT_EQ(servers.size(), 1U);
}

TEST_F(HttpProxy, ForwardsAnAnswerThatEndsWithItsConnection) {
    ask(get);
    say("HTTP/1.1 200 OK\r\n\r\nall ");
    EXPECT_EQ(said(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall ");
    say("of it");
    servers[0]->close();
    EXPECT_EQ(said(), "of it");
    EXPECT_TRUE(ended);
    EXPECT_FALSE(outcomes.at(0).error);
}

TEST_F(HttpProxy, TranslatesForOldClients) {
    ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(asked(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    say("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
        "chunked\r\n\r\n2\r\nok\r\n1\r\n!\r\n0\r\n\r\n");
    EXPECT_EQ(said(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok!");
    EXPECT_TRUE(ended);
    connect();
    ask("GET / HTTP/1.0\r\nHost: y\r\nConnection: keep-alive\r\n\r\n");
    say(ok, servers.size() - 1);
    EXPECT_EQ(said(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok");
}

TEST_F(HttpProxy, AnswersForUpstreamsThatBreakTheRules) {
    for (const std::string answer :
         {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok",
          "HTTP/1.1 2 OK\r\n\r\n", "hello\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+2\r\nok\r\n",
          "HTTP/1.1 101 Switching\r\nUpgrade: a\r\n\r\n"}) {
        servers.clear();
        ask(get);
        say(answer);
        EXPECT_TRUE(said().starts_with("HTTP/1.1 502 Bad Gateway\r\n")) << answer;
        EXPECT_FALSE(ended);  // The client did nothing wrong.
    }
    refuse = true;
    ask(get);
    EXPECT_TRUE(said().starts_with("HTTP/1.1 502 Bad Gateway\r\n"));
}

TEST_F(HttpProxy, RepeatsWhenAKeptConnectionDies) {
    ask(get);
    say(ok);
    said();
    ask(get);
    servers[0]->close();
    timers.settle();
    ASSERT_EQ(servers.size(), 2U);
    say(ok, 1);
    EXPECT_EQ(said(), ok);
    ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
    servers[1]->close();
    EXPECT_TRUE(said().starts_with("HTTP/1.1 502 "));
    EXPECT_EQ(servers.size(), 2U);
}

TEST_F(HttpProxy, CutsAnAnswerThatItsUpstreamCut) {
    ask(get);
    say("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok");
    servers[0]->close();
    EXPECT_EQ(said(), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok");
    EXPECT_TRUE(ended);
    EXPECT_TRUE(outcomes.at(0).error);
    EXPECT_FALSE(outcomes.at(0).client_gone);
}

TEST_F(HttpProxy, ForwardsAnAnswerThatComesBeforeTheRequestEnds) {
    room = 100;
    ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n" + std::string(2000, 'a'));
    say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
    EXPECT_EQ(said(), "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    EXPECT_TRUE(ended);
    EXPECT_EQ(proxy.pool().size(), 0U);
}

TEST_F(HttpProxy, LetsAnAnswerAndItsRequestRunSideBySide) {
    ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc");
    asked();
    say("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc");
    EXPECT_EQ(said(), "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nabc");
    ask("def");
    EXPECT_EQ(asked(), "def");
    say("def");
    EXPECT_EQ(said(), "def");
}

TEST_F(HttpProxy, HoldsBackWhoeverIsTooFast) {
    room = 100;
    connect(100);
    const std::string big(1'000'000, 'a');
    std::size_t taken = 0;
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n";
    ask(head);
    for (int round = 0; round < 100; ++round) {
        const asio::const_buffer buffer{big.data(), big.size()};
        taken += client->try_write({&buffer, 1})->value_or(0);
        timers.settle();
    }
    EXPECT_LT(taken, 500U);  // What fits between them, not what the client has.
    EXPECT_EQ(asked().size(), taken + head.size());
    say("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    said();
    taken = 0;
    for (int round = 0; round < 100; ++round) {
        const asio::const_buffer buffer{big.data(), big.size()};
        taken += servers[0]->try_write({&buffer, 1})->value_or(0);
        timers.settle();
    }
    EXPECT_LT(taken, 500U);
    EXPECT_EQ(said().size(), taken);
}

TEST_F(HttpProxy, RefusesAMalformedBodyBeforeAndAfterItsFirstBytes) {
    ask("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n");
    EXPECT_TRUE(said().starts_with("HTTP/1.1 400 Bad Request\r\n"));
    EXPECT_TRUE(ended);
    ASSERT_EQ(servers.size(), 1U);
    EXPECT_EQ(asked(), "");
    connect();
    ask("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    ask("z\r\n");
    EXPECT_TRUE(said().starts_with("HTTP/1.1 400 Bad Request\r\n"));
    EXPECT_TRUE(ended);
}

TEST_F(HttpProxy, LeavesAnUpstreamWhoseClientHasGone) {
    ask(get);
    asked();
    client->close();
    timers.advance(2s);
    EXPECT_TRUE(over);
    EXPECT_FALSE(servers[0]->try_write({}));
    EXPECT_TRUE(outcomes.at(0).client_gone);

    connect();  // In the middle of its request.
    ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc");
    client->close();
    timers.settle();
    EXPECT_TRUE(over);
    EXPECT_FALSE(servers[1]->try_write({}));

    connect();  // In the middle of an answer that says nothing for long.
    ask(get);
    say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", 2);
    client->close();
    timers.advance(2s);
    EXPECT_TRUE(over);
    EXPECT_FALSE(servers[2]->try_write({}));
}

TEST_F(HttpProxy, EachWaitHasItsTime) {
    ask(get);
    timers.advance(19s);
    EXPECT_EQ(said(), "");
    timers.advance(2s);
    EXPECT_TRUE(said().starts_with("HTTP/1.1 504 Gateway Timeout\r\n"));
    EXPECT_FALSE(ended);

    ask(get);
    say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", 1);
    said();
    timers.advance(39s);
    EXPECT_FALSE(ended);
    timers.advance(2s);
    said();
    EXPECT_TRUE(ended);

    connect();  // A long upload is no slow answer.
    ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
    for (int count = 0; count < 9; ++count) {
        timers.advance(15s);
        ask("a");
    }
    timers.advance(15s);
    say(ok, 2);
    EXPECT_EQ(said(), ok);

    ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
    timers.advance(31s);  // The client does not send what it promised.
    EXPECT_TRUE(over);
}

TEST_F(HttpProxy, JoinsUpgradedStreams) {
    ask("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: "
        "websocket\r\nSec-WebSocket-Key: "
        "k\r\n\r\nearly");
    EXPECT_EQ(asked(),
              "GET /ws HTTP/1.1\r\nHost: x\r\nSec-WebSocket-Key: k\r\nConnection: Upgrade\r\nUpgrade: "
              "websocket\r\n\r\n");
    say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "
        "Upgrade\r\nSec-WebSocket-Accept: a\r\n\r\nfirst");
    EXPECT_EQ(
        said(),
        "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: a\r\nUpgrade: websocket\r\nConnection: "
        "Upgrade\r\n\r\nfirst");
    EXPECT_EQ(asked(), "early");
    ask("there");
    EXPECT_EQ(asked(), "there");
    say("back");
    EXPECT_EQ(said(), "back");
    servers[0]->close();
    said();
    EXPECT_TRUE(ended);
    client->close();
    timers.settle();
    EXPECT_TRUE(over);
    ASSERT_EQ(outcomes.size(), 1U);
    EXPECT_TRUE(outcomes[0].upgraded);
    EXPECT_EQ(outcomes[0].request_bytes, 10U);
    EXPECT_EQ(outcomes[0].response_bytes, 9U);
    EXPECT_EQ(proxy.pool().size(), 0U);
}

TEST_F(HttpProxy, ForwardsAnAnswerToAnUpgradeThatIsRefused) {
    ask("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    asked();
    say("HTTP/1.1 426 Upgrade Required\r\nUpgrade: h2\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(said(), "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n");
    ask(get);
    EXPECT_EQ(asked(), get);
}

TEST_F(HttpProxy, AnswersPipelinedRequestsInOrder) {
    ask("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(asked(), "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
    say(ok);
    EXPECT_EQ(asked(), "GET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    say(ok);
    EXPECT_EQ(said(), std::string{ok} + std::string{ok});
}

TEST_F(HttpProxy, ReusesNoConnectionWithBytesToSpare) {
    ask(get);
    say(std::string{ok} + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    EXPECT_EQ(said(), ok);
    ask(get);
    ASSERT_EQ(servers.size(), 2U);
    say(ok, 1);
    EXPECT_EQ(said(), ok);
}

}  // namespace
}  // namespace hostler::http
