// The whole path: client → gateway → access → agent, over real sockets and TLS.
#include <malloc.h>

#include "core/testing/metrics.h"
#include "rig.h"

namespace hostler::rig {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string page_accept = "text/html,*/*;q=0.8";

class PathTest : public ::testing::Test {
protected:
    PathTest() {
        agent_ = std::make_unique<Agent>(cloud_, "h-1", cloud_.access->addresses().uplink);
        EXPECT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == 1; }));
        cloud_.master.keys = {
            {"hk_mine", "t-a"}, {"hk_other", "t-b"}, {"sess-a@closed", "t-a"}, {"sess-b@closed", "t-b"}};
        cloud_.add_route("open", "h-1", true);
        cloud_.add_route("closed", "h-1", false);
    }
    http::Response get(const std::string& name, http::Headers headers, std::string target = "/") {
        auto request = cloud_.request(name, std::move(target));
        for (const auto& header : headers) request.headers.add(header.name, header.value);
        return cloud_.fetch(std::move(request));
    }
    void set_state(const std::string& name, const std::string& state, const std::string& detail) {
        cloud_.master.routes[name].set_state(state);
        cloud_.master.routes[name].set_detail(detail);
        cloud_.master.tell_routes();
        ASSERT_TRUE(cloud_.eventually([&] { return cloud_.gateway->routes().find(name)->detail == detail; }));
    }
    http::ReplyPtr start(const std::string& name, http::Headers headers, std::string target) {
        auto request = cloud_.request(name, std::move(target));
        for (const auto& header : headers) request.headers.add(header.name, header.value);
        auto reply =
            cloud_.go(cloud_.client.start({cloud_.gateway->address()}, {.request = std::move(request)}));
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? std::move(*reply) : nullptr;
    }

    Cloud cloud_;
    std::unique_ptr<Agent> agent_;
};

TEST_F(PathTest, APublicPortNeedsNobodyAndTunnelsAreKept) {
    for (int i = 0; i < 3; ++i) {
        const auto response = get("open", {}, "/a?b=1");
        EXPECT_EQ(response.status, 200);
        EXPECT_THAT(response.body, HasSubstr("GET /a?b=1\n"));
        EXPECT_EQ(response.headers.find("X-Instance"), "i-open");
    }
    EXPECT_EQ(agent_->tunnels, 1);
    EXPECT_EQ(cloud_.access->counters().tunnels.opened, 1U);
}

TEST_F(PathTest, BothShowTheirLimitsAndHowFarTheyAreUsed) {
    EXPECT_EQ(get("open", {}).status, 200);
    EXPECT_EQ(get("closed", {{"X-Hostler-Key", "hk_mine"}}).status, 200);
    MetricsPage gateway, access;
    cloud_.gateway->write_metrics(gateway);
    cloud_.access->write_metrics(access);
    auto shown = testing::parse_metrics(gateway.text());
    ASSERT_TRUE(shown) << shown.error().message;
    EXPECT_EQ(shown->at("hostler_gateway_linked"), 1);
    EXPECT_EQ(shown->at("hostler_gateway_routes"), 2);
    EXPECT_EQ(shown->at("hostler_gateway_routes_max"), cloud_.gateway_settings.routes_max);
    EXPECT_EQ(shown->at("hostler_gateway_verdicts"), 1);
    EXPECT_EQ(shown->at("hostler_gateway_requests_total{outcome=\"passed\"}"), 2);
    EXPECT_GE(shown->at("hostler_gateway_connections"), 1);
    shown = testing::parse_metrics(access.text());
    ASSERT_TRUE(shown) << shown.error().message;
    EXPECT_EQ(shown->at("hostler_access_sessions"), 1);
    EXPECT_EQ(shown->at("hostler_access_gateways"), 1);
    EXPECT_EQ(shown->at("hostler_access_tunnels"), 2);
    EXPECT_EQ(shown->at("hostler_access_tunnels_total{outcome=\"opened\"}"), 2);
}

TEST_F(PathTest, AnotherGenerationNeverGetsAKeptTunnel) {
    EXPECT_EQ(get("open", {}).status, 200);
    cloud_.master.routes["open"].set_generation(2);
    cloud_.master.tell_routes();
    ASSERT_TRUE(cloud_.eventually([&] { return cloud_.gateway->routes().find("open")->generation == 2; }));
    EXPECT_EQ(get("open", {}).status, 200);
    EXPECT_EQ(agent_->tunnels, 2);
    EXPECT_TRUE(cloud_.eventually([&] { return cloud_.access->counters().tunnels_open == 1; }))
        << "the old one is closed";
}

TEST_F(PathTest, AClosedPortNeedsTheTenantsKey) {
    EXPECT_EQ(get("closed", {}).status, 401);
    EXPECT_EQ(get("closed", {{"Authorization", "Bearer hk_nobody"}}).status, 401);
    EXPECT_EQ(get("closed", {{"Authorization", "Bearer hk_other"}}).status, 403);
    EXPECT_EQ(get("closed", {{"X-Hostler-Key", "hk_mine"}}).status, 200);
    const int questions = cloud_.master.questions;
    EXPECT_EQ(get("closed", {{"Authorization", "Bearer hk_mine"}}).status, 200);
    EXPECT_EQ(cloud_.master.questions, questions) << "the verdict is kept";
    EXPECT_THAT(get("closed", {}).body, HasSubstr("\"code\":\"unauthenticated\""));
}

TEST_F(PathTest, TenantCodeSeesNoCredentialOfOurs) {
    const auto response = get("open", {{"Authorization", "Bearer hk_mine"},
                                       {"x-hostler-key", "hk_mine"},
                                       {"X_Hostler_Key", "hk_mine"},
                                       {"Cookie", "a=1; __hostler_session=sess-a; b=2"},
                                       {"X-Forwarded-For", "6.6.6.6"},
                                       {"X-Forwarded-Proto", "https"},
                                       {"Forwarded", "for=6.6.6.6"},
                                       {"X-Real-IP", "6.6.6.6"},
                                       {"Proxy-Authorization", "Basic x"}});
    EXPECT_EQ(response.status, 200);
    EXPECT_THAT(response.body, Not(HasSubstr("hk_mine")));
    EXPECT_THAT(response.body, Not(HasSubstr("sess-a")));
    EXPECT_THAT(response.body, Not(HasSubstr("6.6.6.6")));
    EXPECT_THAT(response.body, Not(HasSubstr("Proxy-Authorization")));
    EXPECT_THAT(response.body, HasSubstr("Cookie: a=1; b=2\n"));
    EXPECT_THAT(response.body, HasSubstr("X-Forwarded-For: 127.0.0.1\n"));
    EXPECT_THAT(response.body, HasSubstr("X-Forwarded-Proto: http\n"));
    EXPECT_THAT(response.body, HasSubstr("X-Forwarded-Host: " + cloud_.host_header("open") + "\n"));
    EXPECT_THAT(response.headers.all("Set-Cookie"), ::testing::ElementsAre("sid=1"));
    EXPECT_THAT(get("open", {{"Authorization", "Bearer theirs"}}).body,
                HasSubstr("Authorization: Bearer theirs"));
}

TEST_F(PathTest, ABrowserSignsInByOneTimeCode) {
    const auto asked = get("closed", {{"Accept", page_accept}}, "/lab?x=1");
    EXPECT_EQ(asked.status, 302);
    EXPECT_THAT(std::string{asked.headers.find("Location").value_or("")},
                HasSubstr("http://console.example/sign-in?return=http%3A%2F%2Fclosed.localhost%3A" +
                          cloud_.port() + "%2Flab%3Fx%3D1"));
    cloud_.master.codes["c1@closed"] = "sess-a";
    const auto signed_in =
        get("closed", {{"Accept", page_accept}}, "/.hostler/session?code=c1&to=%2Flab%3Fx%3D1");
    EXPECT_EQ(signed_in.status, 303);
    EXPECT_EQ(signed_in.headers.find("Location"), "/lab?x=1");
    EXPECT_EQ(signed_in.headers.find("Set-Cookie"),
              "__hostler_session=sess-a; Path=/; HttpOnly; SameSite=Lax");
    EXPECT_EQ(get("closed", {{"Cookie", "__hostler_session=sess-a"}}).status, 200);
    EXPECT_EQ(get("closed", {}, "/.hostler/session?code=c1&to=/").status, 403) << "a code works once";
    cloud_.master.codes["c2@closed"] = "sess-a";
    EXPECT_EQ(get("open", {}, "/.hostler/session?code=c2&to=/").status, 403)
        << "and only where it was made for";
    EXPECT_EQ(get("closed", {}, "/.hostler/session?code=c2&to=//evil.example").headers.find("Location"), "/");
    EXPECT_THAT(std::string{*get("closed", {}, "/.hostler/sign-out").headers.find("Set-Cookie")},
                HasSubstr("Max-Age=0"));
    EXPECT_EQ(get("open", {}, "/%2ehostler/secret").status, 404) << "never reaches tenant code";
}

TEST_F(PathTest, AnotherTenantsSessionGetsAPageAndAPlantedCookieDoesNotShadowOurs) {
    const auto response = get("closed", {{"Accept", page_accept}, {"Cookie", "__hostler_session=sess-b"}});
    EXPECT_EQ(response.status, 403);
    EXPECT_THAT(response.body, HasSubstr("Not yours"));
    EXPECT_EQ(get("closed", {{"Cookie", "__hostler_session=sess-b; __hostler_session=sess-a"}}).status, 200);
}

TEST_F(PathTest, ASessionOpensOnlyTheInstanceThatItWasSignedInFor) {
    cloud_.master.valid_s = 600;
    cloud_.add_route("other", "h-1", false);
    const http::Header cookie{"Cookie", "__hostler_session=sess-a"};
    EXPECT_EQ(get("closed", {cookie}).status, 200);
    EXPECT_EQ(get("other", {cookie}).status, 401)
        << "of the same tenant, sent by hand, the verdict still kept";
    EXPECT_EQ(get("closed", {cookie}).status, 200);
    EXPECT_EQ(get("other", {{"Authorization", "Bearer hk_mine"}}).status, 200) << "a key opens both";
    EXPECT_EQ(get("closed", {{"Cookie", "__hostler_session=hk_mine"}}).status, 401) << "a key is no session";
    EXPECT_EQ(get("closed", {{"X-Hostler-Key", "sess-a"}}).status, 401) << "and a session is no key";
}

TEST_F(PathTest, WhereTlsIsTheSessionsCookieIsOfItsHostAlone) {
    cloud_.gateway_settings.address = "https://localhost:" + cloud_.port();
    cloud_.kill_gateway();
    cloud_.begin_gateway();
    ASSERT_TRUE(cloud_.eventually([&] { return cloud_.gateway->linked(); }));
    cloud_.master.codes["c1@closed"] = "sess-a";
    const auto signed_in = get("closed", {{"Accept", page_accept}}, "/.hostler/session?code=c1&to=/");
    EXPECT_EQ(signed_in.headers.find("Set-Cookie"),
              "__Host-hostler_session=sess-a; Path=/; HttpOnly; SameSite=Lax; Secure");
    const auto opened = get("closed", {{"Cookie", "a=1; __Host-hostler_session=sess-a"}});
    EXPECT_EQ(opened.status, 200);
    EXPECT_THAT(opened.body, Not(HasSubstr("sess-a")));
    EXPECT_EQ(get("closed", {{"Cookie", "__hostler_session=sess-a"}}).status, 401)
        << "a neighbour may have planted it";
    EXPECT_THAT(get("open", {{"Cookie", "__hostler_session=sess-a; b=2"}}).body, Not(HasSubstr("sess-a")));
    const auto out = get("closed", {{"Cookie", "__Host-hostler_session=sess-a"}}, "/.hostler/sign-out");
    EXPECT_EQ(out.headers.find("Set-Cookie"),
              "__Host-hostler_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure");
}

TEST_F(PathTest, ASessionIsDeadAfterSignOut) {
    cloud_.master.valid_s = 600;
    const http::Header cookie{"Cookie", "__hostler_session=sess-a"};
    EXPECT_EQ(get("closed", {cookie}).status, 200);
    EXPECT_EQ(get("closed", {cookie, {"Sec-Fetch-Site", "same-site"}}, "/.hostler/sign-out").status, 403)
        << "another page may not sign anybody out";
    EXPECT_THAT(cloud_.master.signed_out, ::testing::IsEmpty());
    EXPECT_EQ(get("closed", {cookie}).status, 200);
    const auto out = get("closed", {cookie, {"Accept", page_accept}}, "/.hostler/sign-out");
    EXPECT_EQ(out.status, 200);
    EXPECT_THAT(out.body, Not(HasSubstr("does not answer")));
    EXPECT_THAT(cloud_.master.signed_out, ::testing::ElementsAre("sess-a@closed"))
        << "before the page says so";
    EXPECT_EQ(get("closed", {cookie}).status, 401) << "though its verdict was good for long";
}

TEST_F(PathTest, WhoSignsOutWhileTheMasterIsAwayIsOutAndTheMasterIsToldLater) {
    cloud_.master.valid_s = 600;
    const http::Header cookie{"Cookie", "__hostler_session=sess-a"};
    EXPECT_EQ(get("closed", {cookie}).status, 200);
    const auto at = cloud_.master.address;
    cloud_.master.vanish();
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.gateway->linked(); }));
    EXPECT_EQ(get("closed", {cookie}).status, 200) << "the verdict is kept";
    const auto out = get("closed", {cookie, {"Accept", page_accept}}, "/.hostler/sign-out");
    EXPECT_EQ(out.status, 200);
    EXPECT_THAT(out.body, HasSubstr("gets the request as soon as it does"));
    EXPECT_EQ(get("closed", {cookie}).status, 401);
    cloud_.master.serve(at);
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.master.signed_out.empty(); }));
    EXPECT_THAT(cloud_.master.signed_out, ::testing::ElementsAre("sess-a@closed"));
    EXPECT_EQ(get("closed", {cookie}).status, 401);
}

TEST_F(PathTest, WithACookieOnlyTheInstancesOwnPagesMayAct) {
    const auto post = [&](http::Headers headers) {
        auto request = cloud_.request("closed", "/");
        request.method = "POST";
        request.body = "x";
        for (const auto& header : headers) request.headers.add(header.name, header.value);
        return cloud_.fetch(std::move(request)).status;
    };
    const http::Header cookie{"Cookie", "__hostler_session=sess-a"};
    EXPECT_EQ(post({cookie, {"Origin", "http://" + cloud_.host_header("open")}}), 403);
    EXPECT_EQ(post({cookie, {"Origin", "null"}}), 403);
    EXPECT_EQ(post({cookie, {"Sec-Fetch-Site", "cross-site"}}), 403);
    EXPECT_EQ(post({cookie, {"Origin", "http://" + cloud_.host_header("closed")}}), 200);
    EXPECT_EQ(post({{"Authorization", "Bearer hk_mine"}, {"Origin", "http://elsewhere.example"}}), 200);
    const auto upgrade =
        get("closed",
            {cookie, {"Origin", "http://evil.example"}, {"Connection", "Upgrade"}, {"Upgrade", "websocket"}});
    EXPECT_EQ(upgrade.status, 403);
}

TEST_F(PathTest, AWebSocketEchoes) {
    const auto reply = start(
        "closed", {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}, {"Authorization", "Bearer hk_mine"}},
        "/ws");
    ASSERT_TRUE(reply);
    ASSERT_EQ(reply->status, 101);
    const auto stream = reply->take_stream().value();
    for (const std::string word : {"first", "second"}) {
        ASSERT_TRUE(cloud_.go(write_all(*stream, word)));
        std::string back(word.size(), '\0');
        ASSERT_TRUE(cloud_.go(read_exactly(*stream, back)));
        EXPECT_EQ(back, word);
    }
    ASSERT_TRUE(cloud_.go(stream->finish()));
    char more[1];
    EXPECT_EQ(cloud_.go(read_some(*stream, more)), 0U);
}

TEST_F(PathTest, EventsArriveOneByOne) {
    agent_->events = 1;
    const auto reply = start("open", {{"Accept", "text/event-stream"}}, "/events");
    ASSERT_TRUE(reply);
    char into[256];
    for (int i = 0; i < 3; ++i) {
        const auto size = cloud_.go(reply->read(into));
        ASSERT_TRUE(size);
        EXPECT_EQ(std::string_view(into, *size), "data: " + std::to_string(i) + "\n\n");
        ++agent_->events;
        agent_->events_changed.notify_all();
    }
    (void)cloud_.go(reply->close());
}

std::size_t memory_used() {
    const auto now = ::mallinfo2();
    return now.uordblks + now.hblkhd;
}

TEST_F(PathTest, LargeBodiesGoBothWaysWithoutPilingUp) {
    constexpr std::uint64_t size = 64ULL << 20;
    [[maybe_unused]] constexpr std::size_t memory_max = 6U << 20;
    get("open", {});
    const std::size_t before = memory_used();
    std::size_t peak = before;
    http::Call call{.request = cloud_.request("open", "/sink")};
    call.request.method = "POST";
    call.source_size = size;
    call.source = [&, left = size](std::span<char> into) mutable -> Task<std::size_t> {
        const auto piece = std::min<std::uint64_t>(left, into.size());
        std::fill_n(into.data(), piece, 'x');
        left -= piece;
        peak = std::max(peak, memory_used());
        co_return piece;
    };
    agent_->sink_max = 1;  // The instance does not read at first: everybody has to wait for it.
    cloud_.eventually([&, began = cloud_.timers->now()] { return cloud_.timers->now() - began > 1ms; });
    TaskGroup raise{cloud_.loop};
    raise.start("raise", [](World& world, Agent& agent) -> Task<> {
        CO_TRY(co_await sleep(*world.timers, 200ms));
        agent.sink_max = UINT64_MAX;
        agent.sink_changed.notify_all();
        co_return Result<>{};
    }(cloud_, *agent_));
    const auto reply = cloud_.go(cloud_.client.start({cloud_.gateway->address()}, std::move(call)));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(cloud_.go((*reply)->read_all(100)), std::to_string(size) + "\n");
    const auto down = start("open", {}, "/source?" + std::to_string(size));
    ASSERT_TRUE(down);
    std::vector<char> into(64 * 1024);
    std::uint64_t got = 0;
    cloud_.pass(50ms);  // We do not read at first either.
    while (true) {
        const auto piece = cloud_.go(down->read(into));
        ASSERT_TRUE(piece);
        if (*piece == 0) break;
        got += *piece;
        peak = std::max(peak, memory_used());
    }
    EXPECT_EQ(got, size);
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
    EXPECT_LT(peak - before, memory_max);
#endif
}

TEST_F(PathTest, EachStateHasItsPageAndDetailsAreForTheTenant) {
    set_state("closed", "ready", "pulling 3 of 7 layers");
    const auto starting = get("closed", {{"Accept", page_accept}, {"Cookie", "__hostler_session=sess-a"}});
    EXPECT_EQ(starting.status, 503);
    EXPECT_TRUE(starting.headers.has("Retry-After"));
    EXPECT_THAT(starting.body, HasSubstr("pulling 3 of 7 layers"));
    set_state("open", "failed", "out of memory");
    const auto failed = get("open", {{"Accept", page_accept}});
    EXPECT_EQ(failed.status, 503);
    EXPECT_THAT(failed.body, Not(HasSubstr("out of memory")));
    EXPECT_THAT(get("open", {{"Authorization", "Bearer hk_mine"}}).body, HasSubstr("out of memory"));
    EXPECT_THAT(get("open", {{"Authorization", "Bearer hk_other"}}).body, Not(HasSubstr("out of memory")));
    set_state("open", "stopped", "by its owner");
    EXPECT_EQ(get("open", {}).status, 410);
    set_state("open", "lost", "silent");
    EXPECT_EQ(get("open", {}).status, 503);
    EXPECT_EQ(get("gone", {{"Accept", page_accept}}).status, 404);
    EXPECT_EQ(get("closed", {}).status, 401) << "whose it is comes before how it is";
}

TEST_F(PathTest, AFailureNamesTheHopThatBroke) {
    agent_->refuse_with = "port_silent";
    const auto silent = get("open", {{"Accept", page_accept}});
    EXPECT_EQ(silent.status, 502);
    EXPECT_THAT(silent.body, HasSubstr("Nothing listens on port 8080 in the instance."));
    agent_->refuse_with = "port_loopback";
    const auto local = get("open", {{"Accept", page_accept}});
    EXPECT_EQ(local.status, 502);
    EXPECT_THAT(local.body, HasSubstr("On port 8080 "));
    cloud_.add_route("away", "h-2", true);
    EXPECT_THAT(get("away", {}).body, HasSubstr("The host of the instance is not connected."));
    auto& route = cloud_.add_route("nowhere", "h-1", true);
    route.set_access(0, "127.0.0.1:1");
    cloud_.master.tell_routes();
    cloud_.eventually([&] { return cloud_.gateway->routes().find("nowhere")->access[0] == "127.0.0.1:1"; });
    EXPECT_THAT(get("nowhere", {}).body, HasSubstr("The access point of the host does not answer."));
    // The next access point is tried.
    agent_->refuse_with.clear();
    route.add_access(cloud_.access->addresses().control);
    cloud_.master.tell_routes();
    cloud_.eventually([&] { return cloud_.gateway->routes().find("nowhere")->access.size() == 2; });
    EXPECT_EQ(get("nowhere", {}).status, 200);
}

TEST_F(PathTest, AnotherHostCannotAnswerInItsPlace) {
    agent_->impersonate(cloud_.issue("host", "h-evil"));
    const auto response = get("open", {});
    EXPECT_EQ(response.status, 502);
    EXPECT_THAT(response.body, HasSubstr("not the host of the instance"));
    EXPECT_EQ(agent_->tunnels, 0);
}

TEST_F(PathTest, InstancesStayReachableWhileTheMasterIsAway) {
    EXPECT_EQ(get("closed", {{"Authorization", "Bearer hk_mine"}}).status, 200);
    const auto at = cloud_.master.address;
    cloud_.master.vanish();
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.gateway->linked() && !cloud_.access->linked(); }));
    EXPECT_EQ(get("open", {}).status, 200);
    cloud_.pass(1100ms);  // The verdict was good for a second.
    EXPECT_EQ(get("closed", {{"Authorization", "Bearer hk_mine"}}).status, 200)
        << "who was let in lately stays in";
    EXPECT_EQ(get("closed", {{"Authorization", "Bearer hk_nobody"}}).status, 503);
    EXPECT_TRUE(agent_->connected());
    const auto routes = std::exchange(cloud_.master.routes, {});
    cloud_.master.epoch = 6;  // One that was thought dead comes back.
    cloud_.master.serve(at);
    cloud_.pass(300ms);
    EXPECT_FALSE(cloud_.gateway->linked() || cloud_.access->linked());
    EXPECT_TRUE(cloud_.gateway->routes().find("open")) << "an older epoch's routes are not taken";
    cloud_.master.vanish();
    cloud_.master.routes = routes;
    cloud_.master.epoch = 8;
    cloud_.master.serve(at);
    ASSERT_TRUE(
        cloud_.eventually([&] { return cloud_.gateway->linked() && cloud_.master.sessions.size() == 1; }));
    EXPECT_EQ(get("closed", {{"Authorization", "Bearer hk_mine"}}).status, 200);
}

TEST_F(PathTest, ADeadKeptTunnelIsReplacedUnseen) {
    EXPECT_EQ(get("open", {}).status, 200);
    agent_.reset();
    agent_ = std::make_unique<Agent>(cloud_, "h-1", cloud_.access->addresses().uplink);
    ASSERT_TRUE(cloud_.eventually([&] { return agent_->connected() && cloud_.master.sessions.size() == 1; }));
    EXPECT_EQ(get("open", {}).status, 200);
    EXPECT_EQ(agent_->tunnels, 1);
}

TEST_F(PathTest, BareDomainAnswersForTheGatewayItself) {
    auto request = cloud_.request("open", "/healthz");
    request.headers.set("Host", "LOCALHOST.:" + cloud_.port());
    EXPECT_EQ(cloud_.fetch(request).status, 200);
    request.target = "/nothing";
    EXPECT_EQ(cloud_.fetch(request).status, 421);
    request.headers.set("Host", "a b");
    EXPECT_EQ(cloud_.fetch(request).status, 400);
}

TEST(SignOuts, ThatNoMasterKnowsOfAreBounded) {
    Cloud cloud{[](auto&, gateway::Settings& settings) { settings.sign_outs_max = 1; }};
    cloud.add_route("closed", "h-1", false);
    cloud.master.vanish();
    ASSERT_TRUE(cloud.eventually([&] { return !cloud.gateway->linked(); }));
    const auto sign_out = [&](const std::string& session) {
        auto request = cloud.request("closed", "/.hostler/sign-out");
        request.headers.add("Cookie", "__hostler_session=" + session);
        return cloud.fetch(std::move(request));
    };
    EXPECT_EQ(sign_out("sess-a").status, 200);
    const auto refused = sign_out("sess-b");
    EXPECT_EQ(refused.status, 429);
    EXPECT_FALSE(refused.headers.find("Set-Cookie")) << "it can be tried again";
    EXPECT_EQ(sign_out("sess-a").status, 200) << "again: that one is known";
}

TEST(OwnPorts, OpenAndCloseWithTheirRoutes) {
    Cloud cloud{[](auto&, gateway::Settings& settings) { settings.domain.clear(); }};
    Agent agent{cloud, "h-1", cloud.access->addresses().uplink};
    ASSERT_TRUE(cloud.eventually([&] { return cloud.master.sessions.size() == 1; }));
    const auto free = cloud.go(cloud.net->listen("127.0.0.1:0")).value();
    const std::string address{free->address()};
    free->close();
    auto& route = cloud.add_route("one", "h-1", true);
    route.set_own_port(static_cast<std::uint32_t>(std::stoul(address.substr(address.rfind(':') + 1))));
    cloud.master.tell_routes();
    ASSERT_TRUE(cloud.eventually([&] { return cloud.gateway->routes().find("one")->own_port != 0; }));
    cloud.pass(20ms);
    const auto response =
        cloud.go(cloud.client.fetch({address}, {.target = "/x", .headers = {{"Host", address}}}));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_THAT(response->body, HasSubstr("GET /x\n"));
    // Ports of one host name share their cookies: a session counts on its own port alone.
    cloud.master.keys = {{"sess-a@one", "t-a"}};
    cloud.master.routes["one"].set_open_to_all(false);
    cloud.master.tell_routes();
    ASSERT_TRUE(cloud.eventually([&] { return !cloud.gateway->routes().find("one")->open_to_all; }));
    const auto second = cloud.go(cloud.net->listen("127.0.0.1:0")).value();
    const std::string other{second->address()};
    second->close();
    cloud.add_route("two", "h-1", false)
        .set_own_port(static_cast<std::uint32_t>(std::stoul(other.substr(other.rfind(':') + 1))));
    cloud.master.tell_routes();
    ASSERT_TRUE(cloud.eventually([&] { return cloud.gateway->routes().find("two")->own_port != 0; }));
    cloud.pass(20ms);
    const auto with_cookie = [&](const std::string& to) {
        const std::string name = "__hostler_session_" + to.substr(to.rfind(':') + 1);
        const auto shown =
            cloud.go(cloud.client.fetch({to}, {.headers = {{"Host", to}, {"Cookie", name + "=sess-a"}}}));
        return shown ? shown->status : 0;
    };
    EXPECT_EQ(with_cookie(address), 200);
    EXPECT_EQ(with_cookie(other), 401);
    cloud.master.routes.clear();
    cloud.master.tell_routes();
    ASSERT_TRUE(cloud.eventually([&] { return cloud.gateway->routes().all().empty(); }));
    cloud.pass(20ms);
    EXPECT_FALSE(cloud.go(cloud.net->dial(address, 1s)));
}

}  // namespace
}  // namespace hostler::rig
