// What comes to a listener that speaks TLS; the handshake itself is the network's.
#include "http/arrival.h"

#include <gmock/gmock.h>

#include "http/served_test.h"

namespace hostler::http {
namespace {

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
        server = std::make_unique<Server>(loop, timers, 100, client_most);
        auto listening = std::make_unique<Given>();
        listener = listening.get();
        Arrival arrival{.net = &net, .certificate = [this] { return own; }, .time = 10s};
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
    MemoryStream& connect(std::string_view bytes = "") {
        auto [its, mine] = testing::memory_pair(64 * 1024, "server", "192.0.2.1:5000");
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
    const Handler handler = echo();
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

}  // namespace
}  // namespace hostler::http
