#include "http/client.h"

#include "http/served_test.h"

namespace hostler::http {
namespace {

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

struct HttpClient : ::testing::Test {
    Loop loop;
    ManualTimers timers{loop};
    MemoryNet net;
    Client client{net, timers};
    TaskGroup group{loop};
    std::optional<Result<Response>> response;
    std::optional<Result<ReplyPtr>> reply;

    ~HttpClient() override {
        reply.reset();
        group.cancel();
        timers.settle();
    }

    void fetch(Request request, Patience patience = {}) {
        response.reset();
        group.start("fetch", [](HttpClient& me, Request ask, Patience wait) -> Task<> {
            me.response.emplace(co_await me.client.fetch({"host:80"}, std::move(ask), wait));
            co_return Result<>{};
        }(*this, std::move(request), patience));
        timers.settle();
    }
    void start(Call call) {
        reply.reset();
        group.start("start", [](HttpClient& me, Call ask) -> Task<> {
            me.reply.emplace(co_await me.client.start({"unix:/run/x.sock"}, std::move(ask)));
            co_return Result<>{};
        }(*this, std::move(call)));
        timers.settle();
    }
    std::string heard(std::size_t server = 0) { return drained(timers, *net.servers.at(server)); }
    void say(std::string_view bytes, std::size_t server = 0) { sent(timers, *net.servers.at(server), bytes); }
    // What is left of the reply's body.
    Result<std::string> rest() { return testing::run(loop, (**reply)->read_all(1 << 20)); }
};

TEST_F(HttpClient, FetchesAndKeepsTheConnection) {
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

constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

bool has_code(const std::optional<Result<Response>>& response, Code code) {
    return response && !*response && response->error().code == code;
}

TEST_F(HttpClient, ClosesWhatCannotBeKept) {
    for (const std::string answer :
         {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
          "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n"}) {
        net.servers.clear();
        fetch({});
        say(answer);
        ASSERT_TRUE(response && *response) << answer;
        EXPECT_EQ((*response)->body, "ok");
        EXPECT_EQ(client.idle_connections(), 0U) << answer;
    }
}

TEST_F(HttpClient, ReadsABodyThatEndsWithItsConnection) {
    fetch({});
    say("HTTP/1.1 200 OK\r\n\r\nall that ");
    say("comes");
    EXPECT_FALSE(response);
    net.servers[0]->close();
    timers.settle();
    ASSERT_TRUE(response && *response);
    EXPECT_EQ((*response)->body, "all that comes");
}

TEST_F(HttpClient, DoesNotTakeABrokenBodyForWhole) {
    for (const std::string answer : {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
                                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"}) {
        net.servers.clear();
        fetch({});
        say(answer);
        net.servers[0]->close();
        timers.settle();
        EXPECT_TRUE(has_code(response, Code::unavailable)) << answer;
    }
}

TEST_F(HttpClient, KnowsAnswersWithoutBody) {
    fetch({.method = "HEAD"});
    say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
    ASSERT_TRUE(response && *response);
    EXPECT_EQ((*response)->headers.find("Content-Length"), "9");
    fetch({});
    say("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n");
    ASSERT_TRUE(response && *response);
    fetch({.method = "DELETE"});
    say("HTTP/1.1 204 No Content\r\n\r\n");
    ASSERT_TRUE(response && *response);
    EXPECT_EQ(net.dialled.size(), 1U);
}

TEST_F(HttpClient, RefusesMalformedAnswers) {
    for (const std::string answer :
         {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
          "chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok", "HTTP/1.1 20 OK\r\n\r\n",
          "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 600 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
          "HTTP/1.1 200 OK\nContent-Length: 0\n\n", "HTTP/2.0 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n",
          "hello\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
          "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+2\r\nok\r\n0\r\n\r\n"}) {
        net.servers.clear();
        fetch({});
        say(answer);
        ASSERT_TRUE(has_code(response, Code::unavailable)) << answer;
        EXPECT_EQ(response->error().reason, "bad_response") << answer;
        EXPECT_TRUE(net.servers[0]->try_write({}).error().code == Code::unavailable) << answer;  // Closed.
    }
}

TEST_F(HttpClient, SkipsInterimAnswersAndShowsThemToWhoAsks) {
    std::vector<int> seen;
    start({.on_interim = [&](const Response& interim) { seen.push_back(interim.status); }});
    say("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
    say(ok);
    ASSERT_TRUE(reply && *reply);
    EXPECT_EQ((**reply)->status, 200);
    EXPECT_EQ(seen, (std::vector{102, 103}));
    EXPECT_EQ(rest(), "ok");
}

TEST_F(HttpClient, RepeatsAnIdempotentRequestWhenAKeptConnectionDies) {
    fetch({});
    say(ok);
    fetch({});
    net.servers[0]->close();  // After the request was sent, before any byte of an answer.
    timers.settle();
    ASSERT_EQ(net.servers.size(), 2U);
    EXPECT_TRUE(heard(1).starts_with("GET / HTTP/1.1\r\n"));
    say(ok, 1);
    EXPECT_TRUE(response && *response);

    fetch({});  // On the kept second one; a byte of an answer, then death: no repetition.
    say("H", 1);
    net.servers[1]->close();
    timers.settle();
    EXPECT_TRUE(has_code(response, Code::unavailable));
    EXPECT_EQ(net.servers.size(), 2U);
}

TEST_F(HttpClient, RepeatsNothingThatMayNotBe) {
    fetch({});
    say(ok);
    fetch({.method = "POST"});
    net.servers[0]->close();
    timers.settle();
    EXPECT_TRUE(has_code(response, Code::unavailable));
    EXPECT_EQ(net.servers.size(), 1U);

    fetch({});  // A fresh connection is not repeated either.
    net.servers[1]->close();
    timers.settle();
    EXPECT_TRUE(has_code(response, Code::unavailable));
    EXPECT_EQ(net.servers.size(), 2U);
}

TEST_F(HttpClient, LeavesAloneAKeptConnectionThatWasClosedOrSpokeUnasked) {
    fetch({});
    say(ok);
    net.servers[0]->close();
    fetch({});
    say(ok, 1);
    ASSERT_TRUE(response && *response);
    say("HTTP/1.1 408 Request Timeout\r\n\r\n", 1);
    fetch({.method = "POST"});
    ASSERT_EQ(net.servers.size(), 3U);
    say(ok, 2);
    EXPECT_TRUE(response && *response);
}

TEST_F(HttpClient, KeepsABoundedNumberOfConnections) {
    Client small{net, timers, {.idle_max = 2}};
    std::vector<std::optional<Result<Response>>> answers(4);
    for (auto& answer : answers)
        group.start("fetch", [](Client& on, std::optional<Result<Response>>& into) -> Task<> {
            into.emplace(co_await on.fetch({"host:80"}, {}));
            co_return Result<>{};
        }(small, answer));
    timers.settle();
    for (std::size_t server = 0; server < 4; ++server) say(ok, server);
    for (auto& answer : answers) EXPECT_TRUE(answer && *answer);
    EXPECT_EQ(small.idle_connections(), 2U);
    small.forget("host:8");
    EXPECT_EQ(small.idle_connections(), 2U);
    small.forget("host:80");
    EXPECT_EQ(small.idle_connections(), 0U);
}

TEST_F(HttpClient, KeepsSecuredConnectionsApart) {
    const auto own = std::make_shared<const Credentials>();
    const auto ask = [&](std::optional<Secure> how) {
        group.start("fetch", [](Client& on, std::optional<Secure> with) -> Task<> {
            CO_TRY(co_await on.fetch({"host:80", with}, {}));
            co_return Result<>{};
        }(client, how));
        timers.settle();
        say(ok, net.servers.size() - 1);
    };
    ask(std::nullopt);
    ask(Secure{.own = own, .expect = "master/"});
    ask(Secure{.own = own, .expect = "host/a"});
    EXPECT_EQ(net.servers.size(), 3U);
    EXPECT_EQ(net.secured, (std::vector<std::string>{"master/", "host/a"}));
    ask(Secure{.own = own, .expect = "host/a"});
    EXPECT_EQ(net.servers.size(), 3U);
}

TEST_F(HttpClient, SendsNothingThatCouldBeReadAsTwo) {
    fetch({.target = "/a b"});
    EXPECT_TRUE(has_code(response, Code::invalid));
    fetch({.target = "/a\r\nHost: b"});
    EXPECT_TRUE(has_code(response, Code::invalid));
    fetch({.headers = {{"A", "b\r\nC: d"}}});
    EXPECT_TRUE(has_code(response, Code::invalid));
    fetch({.headers = {{"A:", "b"}}});
    EXPECT_TRUE(has_code(response, Code::invalid));
    fetch({.method = "GET /"});
    EXPECT_TRUE(has_code(response, Code::invalid));
    EXPECT_TRUE(net.dialled.empty());
}

// Gives `pieces`, then the end.
BodySource source_of(std::vector<std::string> pieces) {
    return
        [pieces = std::move(pieces), at = std::size_t{0}](std::span<char> into) mutable -> Task<std::size_t> {
            if (at == pieces.size()) co_return std::size_t{0};
            co_return pieces[at++].copy(into.data(), into.size());
        };
}

TEST_F(HttpClient, StreamsARequestBody) {
    start({.request = {.method = "POST"}, .source = source_of({"abc", "de"})});
    EXPECT_EQ(heard(),
              "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
              "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    say(ok);
    EXPECT_EQ(rest(), "ok");
    EXPECT_EQ(client.idle_connections(), 1U);
    start({.request = {.method = "POST"}, .source = source_of({"abc", "de"}), .source_size = 5});
    EXPECT_EQ(heard(), "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nabcde");
    say(ok);
    EXPECT_EQ(rest(), "ok");
}

TEST_F(HttpClient, FailsWhenTheSourceDoes) {
    start({.request = {.method = "POST"}, .source = [](std::span<char>) -> Task<std::size_t> {
               co_return fail(Code::not_found, "no such file");
           }});
    ASSERT_TRUE(reply && !*reply);
    EXPECT_EQ(reply->error().message, "no such file");
    start({.request = {.method = "POST"}, .source = source_of({"abc"}), .source_size = 5});
    ASSERT_TRUE(reply && !*reply);
    EXPECT_EQ(reply->error().code, Code::internal);
}

TEST_F(HttpClient, ReadsAnAnswerThatComesBeforeTheRequestEnds) {
    net.room = 1000;
    fetch({.method = "POST", .body = std::string(200'000, 'a')});
    say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
    ASSERT_TRUE(response && *response);
    EXPECT_EQ((*response)->status, 413);
    EXPECT_EQ((*response)->body, "no");
    EXPECT_EQ(client.idle_connections(), 0U);
}

TEST_F(HttpClient, GoesOnSendingWhileItReads) {
    Signal go;
    int round = 0;
    start({.request = {.method = "POST"}, .source = [&](std::span<char> into) -> Task<std::size_t> {
               if (++round == 1) co_return std::string_view{"one"}.copy(into.data(), into.size());
               CO_TRY(co_await go.wait());
               co_return round == 2 ? std::string_view{"two"}.copy(into.data(), into.size()) : 0;
           }});
    say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    ASSERT_TRUE(reply && *reply);
    heard();
    go.notify_all();
    EXPECT_EQ(heard(), "3\r\ntwo\r\n");
    go.notify_all();
    EXPECT_EQ(heard(), "0\r\n\r\n");
    say("3\r\ntwo\r\n0\r\n\r\n");
    EXPECT_EQ(rest(), "onetwo");
    EXPECT_EQ(client.idle_connections(), 1U);
}

TEST_F(HttpClient, GivesTheStreamAfterAnUpgrade) {
    start({.request = {.method = "POST",
                       .target = "/exec/1/start",
                       .headers = {{"Connection", "Upgrade"}, {"Upgrade", "tcp"}}}});
    EXPECT_EQ(heard(),
              "POST /exec/1/start HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: tcp\r\nHost: "
              "localhost\r\nContent-Length: 0\r\n\r\n");
    say("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nearly");
    ASSERT_TRUE(reply && *reply);
    EXPECT_EQ((**reply)->status, 101);
    auto stream = (**reply)->take_stream();
    ASSERT_TRUE(stream);
    reply.reset();
    char into[16];
    EXPECT_EQ(testing::run(loop, read_some(**stream, into)), 5U);
    ASSERT_TRUE(testing::run(loop, write_all(**stream, "typed")));
    EXPECT_EQ(heard(), "typed");
    EXPECT_EQ(client.idle_connections(), 0U);
}

TEST_F(HttpClient, GivesNoStreamWithoutAnUpgrade) {
    start({.request = {.headers = {{"Connection", "Upgrade"}, {"Upgrade", "tcp"}}}});
    say(ok);
    ASSERT_TRUE(reply && *reply);
    EXPECT_FALSE((**reply)->take_stream());
    start({});
    say("HTTP/1.1 200 OK\r\n\r\nraw", 1);  // Hijacked by an older engine: no 101, and no end but the
                                           // connection's.
    ASSERT_TRUE(reply && *reply);
    EXPECT_TRUE((**reply)->take_stream());
}

TEST_F(HttpClient, EachWaitHasItsTime) {
    fetch({}, {.head = 3s});
    timers.advance(2s);
    EXPECT_FALSE(response);
    timers.advance(2s);
    EXPECT_TRUE(has_code(response, Code::timeout));

    fetch({}, {.idle = 3s});
    say("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na", 1);
    timers.advance(2s);
    say("b", 1);
    timers.advance(2s);
    EXPECT_FALSE(response);
    timers.advance(2s);
    EXPECT_TRUE(has_code(response, Code::timeout));

    fetch({}, {.total = 5s});
    say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 2);
    for (int second = 0; second < 5; ++second) {
        EXPECT_FALSE(response);
        say("b", 2);
        timers.advance(1s);
    }
    EXPECT_TRUE(has_code(response, Code::timeout));
}

TEST_F(HttpClient, LimitsWhatItReads) {
    fetch({});
    say("HTTP/1.1 200 OK\r\nA: " + std::string(70'000, 'a'));
    EXPECT_TRUE(has_code(response, Code::unavailable));
    start({});
    say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabcdefghi", 1);
    ASSERT_TRUE(reply && *reply);
    EXPECT_EQ(testing::run(loop, (**reply)->read_all(8)).error().code, Code::exhausted);
    reply.reset();
    fetch({});
    for (int count = 0; count < 40; ++count) say("HTTP/1.1 102 Processing\r\n\r\n", 2);
    EXPECT_TRUE(has_code(response, Code::unavailable));
}

TEST_F(HttpClient, SaysWhenNobodyAnswersTheDial) {
    net.refuse = true;
    fetch({});
    EXPECT_TRUE(has_code(response, Code::unavailable));
}

TEST_F(HttpClient, OutlivesAReplyThatIsDropped) {
    start({.request = {.method = "POST"},
           .source = source_of(std::vector<std::string>(1000, std::string(1000, 'a')))});
    say("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na");
    ASSERT_TRUE(reply && *reply);
    reply.reset();
    timers.settle();
    EXPECT_FALSE(net.servers[0]->try_write({}));
}

}  // namespace
}  // namespace hostler::http
