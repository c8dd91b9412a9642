#include "http/places.h"

#include "http/served_test.h"

namespace hostler::http {
namespace {

// A server whose handler knows those who send `X-Key: good`, and lets /wait wait.
class PlacesTest : public ::testing::Test {
protected:
    void begin(std::size_t most, std::size_t client_most = SIZE_MAX) {
        server = std::make_unique<Server>(loop, timers, most, client_most);
        auto listening = std::make_unique<Given>();
        listener = listening.get();
        group.start("accept", server->run(std::move(listening), [this](StreamPtr stream, Place& place) {
            return serve(std::move(stream), timers, limits, handler, &server->drain(), &place);
        }));
        timers.settle();
    }
    ~PlacesTest() override {
        group.start("stop", server->stop({}));
        timers.settle();
        group.cancel();
        timers.settle();
    }
    MemoryStream& connect(const std::string& address, std::string_view bytes = "") {
        auto [its, mine] = testing::memory_pair(64 * 1024, "server", address);
        auto& client = *clients.emplace_back(std::move(mine));
        sent(timers, client, bytes);
        listener->streams.push_back(std::move(its));
        listener->changed.notify_all();
        timers.settle();
        return client;
    }
    std::string heard(MemoryStream& client) { return drained(timers, client); }
    bool over(MemoryStream& client) {
        bool ended = false;
        drained(timers, client, &ended);
        return ended;
    }

    static constexpr std::string_view get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    static constexpr std::string_view get_by_key = "GET / HTTP/1.1\r\nHost: x\r\nX-Key: good\r\n\r\n";
    static constexpr std::string_view wait = "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n";

    Loop loop;
    ManualTimers timers{loop};
    const ServerLimits limits;
    Signal go;
    const Handler handler = [this](Exchange& exchange) -> Task<> {
        if (exchange.request.headers.find("X-Key") == "good") exchange.is_known();
        if (exchange.request.path() == "/wait") CO_TRY(co_await go.wait());
        co_return co_await exchange.respond({200, {}, "ok"});
    };
    TaskGroup group{loop};
    std::unique_ptr<Server> server;
    Given* listener = nullptr;
    std::vector<std::unique_ptr<MemoryStream>> clients;
};

TEST_F(PlacesTest, NewcomersNeverWaitBehindStrangers) {
    begin(3);
    MemoryStream& first = connect("10.0.0.1:1");
    MemoryStream& second = connect("10.0.0.2:1");
    connect("10.0.0.3:1");
    EXPECT_FALSE(over(first));
    MemoryStream& newcomer = connect("10.0.0.4:1", get_by_key);
    EXPECT_TRUE(heard(newcomer).starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(over(first)) << "the oldest makes room";
    EXPECT_FALSE(over(second));
    EXPECT_EQ(server->connections(), 3U);
    EXPECT_EQ(server->places().count().made_room, 1U);
}

TEST_F(PlacesTest, WhoHasShownAKeyStaysThroughAFlood) {
    begin(4);
    MemoryStream& known = connect("10.0.0.1:1", get_by_key);
    heard(known);
    for (int i = 0; i < 100; ++i) connect("10.0.1." + std::to_string(i) + ":1", i % 2 == 0 ? get : "");
    sent(timers, known, get);
    EXPECT_TRUE(heard(known).starts_with("HTTP/1.1 200 "));
    EXPECT_EQ(server->connections(), 4U);
}

TEST_F(PlacesTest, NewcomersWaitWhereAllAreKnown) {
    begin(2);
    MemoryStream& first = connect("10.0.0.1:1", get_by_key);
    connect("10.0.0.2:1", get_by_key);
    MemoryStream& newcomer = connect("10.0.0.3:1", get_by_key);
    EXPECT_EQ(heard(newcomer), "");
    first.close();
    EXPECT_TRUE(heard(newcomer).starts_with("HTTP/1.1 200 "));
}

TEST_F(PlacesTest, TheSilentGoBeforeThoseThatRestAndTheseBeforeThoseThatAsk) {
    begin(3);
    MemoryStream& asking = connect("10.0.0.1:1", wait);
    MemoryStream& resting = connect("10.0.0.2:1", get);
    MemoryStream& silent = connect("10.0.0.3:1");
    heard(resting);
    connect("10.0.0.4:1", get_by_key);
    EXPECT_TRUE(over(silent));
    EXPECT_FALSE(over(resting));
    connect("10.0.0.5:1", get_by_key);
    EXPECT_TRUE(over(resting));
    EXPECT_FALSE(over(asking));
    connect("10.0.0.6:1", get_by_key);
    EXPECT_TRUE(over(asking));
    timers.advance(2s);
    EXPECT_EQ(server->connections(), 3U);
}

TEST_F(PlacesTest, OneAddressHasItsShareAlone) {
    begin(100, 2);
    MemoryStream& other = connect("10.0.0.9:1");
    MemoryStream& first = connect("10.0.0.1:1");
    MemoryStream& second = connect("10.0.0.1:2", get_by_key);
    heard(second);
    MemoryStream& third = connect("10.0.0.1:3", get_by_key);
    EXPECT_TRUE(over(first)) << "its own stranger makes room";
    EXPECT_TRUE(heard(third).starts_with("HTTP/1.1 200 "));
    MemoryStream& fourth = connect("10.0.0.1:4", get_by_key);
    EXPECT_TRUE(heard(fourth).starts_with("HTTP/1.1 429 ")) << "both are known";
    EXPECT_TRUE(over(fourth));
    EXPECT_FALSE(over(second));
    EXPECT_FALSE(over(other));
    EXPECT_EQ(server->places().count().refused, 1U);
    second.close();
    timers.settle();
    EXPECT_TRUE(heard(connect("10.0.0.1:5", get_by_key)).starts_with("HTTP/1.1 200 "));
}

TEST_F(PlacesTest, ANetworkOfIPv6IsOneClient) {
    begin(100, 1);
    MemoryStream& first = connect("[2001:db8::1]:1");
    connect("[2001:db8::2]:1");
    EXPECT_TRUE(over(first));
    connect("[2001:db8:0:1::1]:1");
    EXPECT_EQ(server->connections(), 2U);
}

TEST_F(PlacesTest, WhoSaysNothingIsClosedSoon) {
    begin(100);
    MemoryStream& silent = connect("10.0.0.1:1");
    MemoryStream& asked = connect("10.0.0.2:1", get);
    timers.advance(limits.first_time - 1s);
    EXPECT_FALSE(over(silent));
    timers.advance(2s);
    EXPECT_TRUE(over(silent));
    EXPECT_FALSE(over(asked));
    EXPECT_EQ(server->places().count().late, 1U);
    EXPECT_EQ(server->connections(), 1U);
    EXPECT_EQ(server->places().clients(), 1U);
}

}  // namespace
}  // namespace hostler::http
