#include "roles/gateway/cluster_door.h"

#include "http/served_test.h"
#include "roles/gateway/testing/keeper_rig.h"

namespace hostler::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A client of kubectl's kind, a gateway, and two API servers, all but the gateway played by the test.
struct ClusterDoorTest : testing::KeeperRig {
    ClusterDoorTest() {
        for (const char* node : {"kn-1", "kn-2"})
            added.push_back({.name = fmt::format("/clusters/kc-1/{}", node),
                             .tenant = "t-a",
                             .instance = "kc-1",
                             .port = 6443,
                             .state = State::running,
                             .host = node,
                             .project = "lab"});
        routes.change(added, {});
        connect();
    }
    ~ClusterDoorTest() override {
        group.cancel();
        timers.settle();
    }

    void connect() {
        auto [mine, its] = hostler::testing::memory_pair();
        client = std::move(mine);
        group.start("gateway", serve(std::move(its)));
        timers.settle();
    }
    Task<> serve(StreamPtr stream) {
        const http::ServerLimits limits;
        http::Inlet inlet{std::move(stream), timers, limits};
        while (true) {
            const auto more = co_await inlet.next();
            if (!more || !*more) break;
            if (ClusterDoor::is_here(inlet.head().target)) CO_TRY(co_await door.serve(inlet, "203.0.113.7"));
        }
        co_return Result<>{};
    }
    Task<StreamPtr> dial(RoutePtr route) {
        dialled.push_back(route->host);
        if (silent.contains(route->host)) co_return fail(Code::unavailable, "it does not answer");
        auto [mine, its] = hostler::testing::memory_pair();
        servers.push_back(std::move(its));
        co_return std::move(mine);
    }
    static uplink::Frame word_with(std::vector<std::string> groups) {
        uplink::Frame frame = word(true);
        auto& said = *frame.mutable_authenticate_answer();
        said.set_allowed(!groups.empty());
        said.set_principal("user/u-1");
        said.set_valid_s(5);
        said.add_marks("login/l-1");
        for (std::string& one : groups) said.add_groups(std::move(one));
        return frame;
    }
    void ask(std::string_view path, std::string_view more = "", std::string_view token = "hs_token") {
        http::sent(
            timers, *client,
            fmt::format("GET {} HTTP/1.1\r\nHost: gw\r\n{}{}\r\n", path,
                        token.empty() ? "" : fmt::format("Authorization: Bearer {}\r\n", token), more));
    }
    // The master's word on the newest question.
    void let_in(std::vector<std::string> groups = {"hostler:editors"}) {
        ASSERT_FALSE(master.asked.empty());
        master.answer(master.asked.back(), word_with(std::move(groups)));
    }
    std::string asked(std::size_t server = 0) { return http::drained(timers, *servers.at(server)); }
    void answer(std::string_view bytes, std::size_t server = 0) {
        http::sent(timers, *servers.at(server), bytes);
    }
    std::string said(bool* ended = nullptr) { return http::drained(timers, *client, ended); }

    std::vector<Route> added;
    std::set<std::string> silent;
    std::vector<std::string> dialled;
    std::vector<std::unique_ptr<hostler::testing::MemoryStream>> servers;
    std::unique_ptr<hostler::testing::MemoryStream> client;
    ClusterDoor door{ports, settings, routes, keeper,
                     [this](RoutePtr route) { return dial(std::move(route)); }};
};

TEST_F(ClusterDoorTest, TheApiServerIsToldWhoAsksAndNeverTheToken) {
    ask("/clusters/kc-1/api/v1/pods?watch=1", "X-Remote-User: root\r\nAccept: application/json\r\n");
    ASSERT_EQ(master.asked.size(), 1U);
    const auto& question = master.asked[0].authenticate_request();
    EXPECT_EQ(question.route(), "/clusters/kc-1");
    EXPECT_EQ(question.credential(), "hs_token");
    EXPECT_EQ(question.tenant(), "t-a");
    EXPECT_EQ(question.project(), "lab");
    EXPECT_FALSE(question.mark());
    let_in({"hostler:editors", "other"});
    const std::string seen = asked();
    EXPECT_THAT(seen, HasSubstr("GET /api/v1/pods?watch=1 HTTP/1.1\r\n"));
    EXPECT_THAT(seen, HasSubstr("Impersonate-User: hostler:user/u-1\r\n"));
    EXPECT_THAT(seen, HasSubstr("Impersonate-Group: hostler:editors\r\nImpersonate-Group: other\r\n"));
    EXPECT_THAT(seen, HasSubstr("Accept: application/json\r\n"));
    EXPECT_THAT(seen, Not(HasSubstr("hs_token")));
    EXPECT_THAT(seen, Not(HasSubstr("X-Remote-User")));
    answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    EXPECT_THAT(said(), HasSubstr("200 OK"));
    EXPECT_EQ(door.counters().passed, 1U);
    ask("/clusters/kc-1");
    EXPECT_THAT(asked(), HasSubstr("GET / HTTP/1.1\r\n")) << "by the kept connection";
    EXPECT_EQ(master.asked.size(), 1U) << "the answer is kept for a while";
}

TEST_F(ClusterDoorTest, WhoIsNotLetInGetsAStatusOfKubernetes) {
    ask("/clusters/kc-1/api", "", "");
    EXPECT_THAT(said(), AllOf(HasSubstr("401 Unauthorized"), HasSubstr(R"("kind":"Status")"),
                              HasSubstr(R"("reason":"Unauthorized","code":401)")));
    ask("/clusters/kc-1/api", "", "hs_wrong");
    master.answer(master.asked.back(), word(false));
    EXPECT_THAT(said(), HasSubstr("401 Unauthorized"));
    ask("/clusters/kc-1/api");
    let_in({});
    EXPECT_THAT(said(), AllOf(HasSubstr("404 Not Found"), HasSubstr("there is no cluster kc-1")));
    // Without a token for it an unknown cluster is like a known one.
    ask("/clusters/kc-2/api", "", "");
    EXPECT_THAT(said(), AllOf(HasSubstr("401 Unauthorized"), HasSubstr("this needs a token")));
    ask("/clusters/kc-2/api", "", "hs_wrong");
    master.answer(master.asked.back(), word(false));
    EXPECT_THAT(said(), AllOf(HasSubstr("401 Unauthorized"), HasSubstr("has expired")));
    ask("/clusters/kc-2/api");
    let_in();
    EXPECT_THAT(said(), AllOf(HasSubstr("503 Service Unavailable"),
                              HasSubstr("no node of the control plane of cluster kc-2 is ready")));
    EXPECT_TRUE(servers.empty());
    EXPECT_EQ(door.counters().refused, 6U);
}

TEST_F(ClusterDoorTest, NobodyActsForOthers) {
    for (const char* header : {"Impersonate-User: root", "impersonate-group: system:masters",
                               "Impersonate_Uid: 0", "Impersonate-Extra-scopes: all"}) {
        ask("/clusters/kc-1/api", fmt::format("{}\r\n", header));
        if (master.asked.size() == 1 && servers.empty() && door.counters().refused == 0) let_in();
        EXPECT_THAT(said(), AllOf(HasSubstr("403 Forbidden"), HasSubstr("impersonation is not passed on")))
            << header;
    }
    EXPECT_TRUE(servers.empty());
}

TEST_F(ClusterDoorTest, TheFirstNodeThatAnswersServes) {
    silent = {"kn-1"};
    ask("/clusters/kc-1/api");
    let_in();
    EXPECT_THAT(dialled, ::testing::ElementsAre("kn-1", "kn-2"));
    EXPECT_THAT(asked(), HasSubstr("GET /api "));
    answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    EXPECT_THAT(said(), HasSubstr("200 OK"));
    silent = {"kn-1", "kn-2"};
    ask("/clusters/kc-1/api");
    EXPECT_THAT(said(), AllOf(HasSubstr("503 Service Unavailable"), HasSubstr("it does not answer")));
    EXPECT_EQ(door.counters().failed, 1U);
}

TEST_F(ClusterDoorTest, AWatchEndsWithTheCredentialBehindItsToken) {
    group.start("what is open", keeper.watch());
    ask("/clusters/kc-1/api/v1/pods?watch=1");
    let_in();
    (void)asked();
    answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n");
    EXPECT_THAT(said(), HasSubstr("{}"));
    timers.advance(std::chrono::seconds{3});
    const auto& question = master.asked.back().authenticate_request();
    EXPECT_TRUE(question.mark()) << "the token may be over by now";
    EXPECT_EQ(question.credential(), "login/l-1");
    EXPECT_EQ(question.route(), "/clusters/kc-1");
    let_in();
    bool ended = false;
    (void)said(&ended);
    EXPECT_FALSE(ended);
    master.say(over("login/l-1"));
    (void)said(&ended);
    EXPECT_TRUE(ended);
}

TEST_F(ClusterDoorTest, WhileNoMasterAnswersAKnownTokenIsBelieved) {
    ask("/clusters/kc-1/api");
    let_in();
    (void)asked();
    answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    (void)said();
    leave();
    timers.advance(std::chrono::seconds{10});
    ask("/clusters/kc-1/api", "", "hs_other");
    EXPECT_THAT(said(), HasSubstr("503 Service Unavailable"));
    ask("/clusters/kc-1/api");
    EXPECT_THAT(asked(), HasSubstr("Impersonate-Group: hostler:editors"));
}

}  // namespace
}  // namespace hostler::gateway
