// What comes to a listener that speaks TLS, or by a proxy; the handshake itself is the network's.
#include "http/arrival.h"

#include <gmock/gmock.h>

#include "http/served_test.h"

namespace hostler::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view hello{"\x16\x03\x01hello", 8};

// Takes as a handshake whatever begins with `hello`.
class Handshakes : public Net {
public:
    explicit Handshakes(Timers& timers) : timers_(timers) {}
    Task<StreamPtr> dial(std::string, Duration) override { co_return fail(Code::unavailable, "no network"); }
    Task<ListenerPtr> listen(std::string) override { co_return fail(Code::unavailable, "no network"); }
    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side side, Duration deadline) override {
        seen.push_back(how);
        EXPECT_EQ(side, Side::server);
        Deadline limit{timers_, deadline, [&] { raw->close(); }};
        std::string said(hello.size(), '\0');
        const auto read = co_await read_exactly(*raw, said);
        if (limit.expired()) co_return fail(Code::timeout, "late");
        CO_TRY(read);
        if (said != hello) co_return fail(Code::unauthenticated, "no");
        co_return raw;
    }
    std::vector<Secure> seen;

private:
    Timers& timers_;
};

class ArrivalTest : public ::testing::Test {
protected:
    void begin(std::size_t client_most = SIZE_MAX) {
        begin({.net = &net, .certificate = [this] { return own; }, .time = 10s}, client_most);
    }
    void begin(Arrival arrival, std::size_t client_most = SIZE_MAX) {
        server = std::make_unique<Server>(loop, timers, 100, client_most);
        auto listening = std::make_unique<Given>();
        listener = listening.get();
        group.start("accept", server->run(
                                  std::move(listening),
                                  [this](StreamPtr stream, Place& place) {
                                      return serve(std::move(stream), timers, limits, handler,
                                                   &server->drain(), &place);
                                  },
                                  std::move(arrival)));
        timers.settle();
    }
    ~ArrivalTest() override {
        group.start("stop", server->stop({}));
        timers.settle();
        group.cancel();
        timers.settle();
    }
    MemoryStream& connect(std::string_view bytes = "", const std::string& from = "192.0.2.1:5000") {
        auto [its, mine] = testing::memory_pair(64 * 1024, "server", from);
        auto& client = *clients.emplace_back(std::move(mine));
        listener->streams.push_back(std::move(its));
        listener->changed.notify_all();
        timers.settle();
        sent(timers, client, bytes);
        return client;
    }
    std::string heard(MemoryStream& client) { return without_date(drained(timers, client, &ended)); }

    Loop loop;
    ManualTimers timers{loop};
    const ServerLimits limits;
    // Answers with who asks, and waits before where the path is /wait.
    Signal go;
    const Handler handler = [this](Exchange& exchange) -> Task<> {
        auto body = CO_TRY(co_await exchange.read_all(1 << 20));
        if (exchange.request.headers.has("X-Key")) exchange.is_known();
        if (exchange.request.path() == "/wait") CO_TRY(co_await go.wait());
        co_return co_await exchange.respond(
            {200,
             {},
             fmt::format("{}{}{} for {} {}", exchange.request.method, exchange.request.target, body,
                         exchange.peer(), exchange.scheme())});
    };
    Handshakes net{timers};
    std::shared_ptr<const Credentials> own = std::make_shared<Credentials>();
    TaskGroup group{loop};
    std::unique_ptr<Server> server;
    Given* listener = nullptr;
    std::vector<std::unique_ptr<MemoryStream>> clients;
    bool ended = false;
};

TEST_F(ArrivalTest, AHandshakeComesBeforeTheFirstRequest) {
    begin();
    MemoryStream& client = connect(hello);
    sent(timers, client, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(heard(client), HasSubstr("GET/a"));
    ASSERT_EQ(net.seen.size(), 1U);
    EXPECT_TRUE(net.seen.front().web);
    EXPECT_FALSE(net.seen.front().peer_required);
    EXPECT_EQ(net.seen.front().own, own);
}

TEST_F(ArrivalTest, TheNextHandshakeShowsTheNextCertificate) {
    begin();
    connect(hello);
    own = std::make_shared<Credentials>();
    connect(hello);
    ASSERT_EQ(net.seen.size(), 2U);
    EXPECT_NE(net.seen[0].own, net.seen[1].own);
    EXPECT_EQ(net.seen[1].own, own);
}

TEST_F(ArrivalTest, PlainHttpIsToldSo) {
    begin();
    MemoryStream& get = connect("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string told = heard(get);
    EXPECT_THAT(told, StartsWith("HTTP/1.1 400 Bad Request\r\n"));
    EXPECT_THAT(told, HasSubstr("Connection: close\r\n"));
    EXPECT_THAT(told, HasSubstr("this port speaks TLS; use https://"));
    EXPECT_TRUE(ended);
    MemoryStream& post = connect("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nsomething");
    EXPECT_THAT(heard(post), StartsWith("HTTP/1.1 400 "));
    EXPECT_THAT(heard(connect("\r\n\r\n\xff\r\nQUIT\n")), StartsWith("HTTP/1.1 400 "))
        << "what is no HTTP either";
    EXPECT_TRUE(net.seen.empty());
    EXPECT_EQ(server->arrivals().plain, 3U);
    timers.advance(30s);
    EXPECT_EQ(server->connections(), 0U);
}

TEST_F(ArrivalTest, SilenceAndSlownessEnd) {
    begin();
    bool silent_ended = false;
    MemoryStream& silent = connect();
    MemoryStream& slow = connect(hello.substr(0, 3));
    MemoryStream& wrong = connect("\x16no hello");
    timers.advance(1s);
    EXPECT_EQ(server->arrivals().failed, 1U);
    EXPECT_EQ(server->connections(), 2U);
    timers.advance(10s);
    EXPECT_EQ(server->connections(), 0U);
    EXPECT_EQ(server->arrivals().failed, 2U);
    EXPECT_EQ(server->places().count().late, 2U);
    EXPECT_EQ(drained(timers, silent, &silent_ended), "");
    EXPECT_TRUE(silent_ended);
    EXPECT_EQ(heard(slow) + heard(wrong), "");
}

// A flood costs no handshakes, and what is said in plain words would only confuse TLS.
TEST_F(ArrivalTest, WhoHasAllThatHeMayIsClosedWithoutAWord) {
    begin(1);
    MemoryStream& first = connect(hello);
    sent(timers, first, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
    MemoryStream& second = connect(hello);
    EXPECT_EQ(heard(second), "");
    EXPECT_TRUE(ended);
    EXPECT_EQ(net.seen.size(), 1U);
    EXPECT_EQ(server->places().count().refused, 1U);
}

// ── By a proxy

class ProxiedTest : public ArrivalTest {
protected:
    void begin(ProxyWord word, std::size_t client_most = SIZE_MAX, bool tls = false) {
        Arrival arrival{.net = &net, .time = 10s};
        if (tls) arrival.certificate = [this] { return own; };
        arrival.proxies = std::make_shared<TrustedProxies>(TrustedProxies::parse({"10.0.0.1"}, word).value());
        ArrivalTest::begin(std::move(arrival), client_most);
    }
    MemoryStream& proxy(std::string_view bytes = "") { return connect(bytes, "10.0.0.1:700"); }
    // From 203.0.113.`client`, port 5000.
    static std::string preamble(char client) {
        return std::string{"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xcb\x00\x71", 19} + client +
               std::string{"\x0a\x00\x00\x01\x13\x88\x01\xbb", 8};
    }
    static std::string get(const std::string& client, const std::string& path = "/",
                           const std::string& more = "") {
        return fmt::format("GET {} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {}\r\n{}\r\n", path, client, more);
    }
    static constexpr std::string_view plain_get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
};

TEST_F(ProxiedTest, ThePreambleNamesTheClient) {
    begin(ProxyWord::proxy_protocol);
    MemoryStream& client = proxy(preamble('\5').substr(0, 15));
    sent(timers, client, preamble('\5').substr(15) + std::string{plain_get});
    EXPECT_THAT(heard(client), HasSubstr("GET/a for 203.0.113.5:5000"));
    // A header is the client's own word then.
    sent(timers, client, get("1.1.1.1"));
    EXPECT_THAT(heard(client), HasSubstr("for 203.0.113.5:5000"));
    EXPECT_THAT(heard(proxy(std::string{"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16} + std::string{plain_get})),
                HasSubstr("for 10.0.0.1:700"));
}

TEST_F(ProxiedTest, TheHandshakeComesBehindThePreamble) {
    begin(ProxyWord::proxy_protocol, SIZE_MAX, true);
    MemoryStream& client = proxy(preamble('\5') + std::string{hello});
    sent(timers, client, plain_get);
    EXPECT_THAT(heard(client), HasSubstr("for 203.0.113.5:5000"));
    EXPECT_EQ(net.seen.size(), 1U);
}

TEST_F(ProxiedTest, WithoutAGoodPreambleAProxyIsClosed) {
    begin(ProxyWord::proxy_protocol);
    EXPECT_EQ(heard(proxy(plain_get)), "");
    EXPECT_TRUE(ended);
    proxy(preamble('\5').substr(0, 15));
    proxy();
    EXPECT_EQ(server->arrivals().unannounced, 1U);
    timers.advance(11s);
    EXPECT_EQ(server->connections(), 0U);
    EXPECT_EQ(server->places().count().late, 2U);
}

TEST_F(ProxiedTest, AStrangersPreambleIsABadRequest) {
    begin(ProxyWord::proxy_protocol);
    EXPECT_THAT(heard(connect(preamble('\5') + std::string{plain_get})), StartsWith("HTTP/1.1 400 "));
    EXPECT_THAT(heard(connect(plain_get)), HasSubstr("for 192.0.2.1:5000"));
}

TEST_F(ProxiedTest, AClientHasItsNumberOfConnectionsWhateverBringsThem) {
    begin(ProxyWord::proxy_protocol, 2);
    const std::string wait = "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n";
    for (int i = 0; i < 2; ++i) proxy(preamble('\5') + wait);
    EXPECT_THAT(heard(proxy(preamble('\5') + std::string{plain_get})), StartsWith("HTTP/1.1 429 "));
    EXPECT_TRUE(ended);
    EXPECT_EQ(server->places().count().refused, 1U);
    EXPECT_THAT(heard(connect(plain_get, "203.0.113.5:9")), StartsWith("HTTP/1.1 429 "));
    EXPECT_THAT(heard(proxy(preamble('\6') + std::string{plain_get})), HasSubstr("for 203.0.113.6:5000"));
}

TEST_F(ProxiedTest, AHeaderNamesTheClientOfEachRequest) {
    begin(ProxyWord::x_forwarded_for);
    MemoryStream& client = proxy(get("203.0.113.5", "/", "X-Forwarded-Proto: https\r\n"));
    EXPECT_THAT(heard(client), HasSubstr("for 203.0.113.5 https"));
    sent(timers, client, get("1.1.1.1, 203.0.113.6"));
    EXPECT_THAT(heard(client), HasSubstr("for 203.0.113.6 "));
    sent(timers, client, plain_get);
    EXPECT_THAT(heard(client), HasSubstr("for 10.0.0.1 "));
    EXPECT_THAT(heard(connect(get("1.1.1.1", "/", "X-Forwarded-Proto: https\r\n"))),
                EndsWith("for 192.0.2.1:5000 "));
}

// What one client has under way through a proxy is bounded; others have theirs on the same connections.
TEST_F(ProxiedTest, AClientHasItsNumberOfRequestsThroughAProxy) {
    begin(ProxyWord::x_forwarded_for, 2);
    MemoryStream& first = proxy(get("203.0.113.5", "/wait"));
    MemoryStream& second = proxy(get("203.0.113.5", "/wait", "X-Key: good\r\n"));
    MemoryStream& third = proxy(get("203.0.113.5"));
    EXPECT_THAT(heard(third), StartsWith("HTTP/1.1 429 "));
    sent(timers, third, get("203.0.113.6"));
    EXPECT_THAT(heard(third), HasSubstr("for 203.0.113.6 "));
    EXPECT_EQ(server->places().count().refused, 1U);
    go.notify_all();
    timers.settle();
    EXPECT_THAT(heard(first) + heard(second), HasSubstr("for 203.0.113.5 "));
    sent(timers, third, get("203.0.113.5"));
    EXPECT_THAT(heard(third), HasSubstr("for 203.0.113.5 ")) << "between requests a connection is nobody's";
    EXPECT_EQ(server->places().count().made_room, 0U);
}

}  // namespace
}  // namespace hostler::http
