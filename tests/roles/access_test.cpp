// The access point alone: who is let in, what is relayed, and what harms nobody else.
#include "rig.h"

namespace hostler::rig {
namespace {

using ::testing::HasSubstr;

class AccessTest : public ::testing::Test {
protected:
    Result<StreamPtr> dial(const std::string& address) { return cloud_.go(cloud_.net->dial(address, 5s)); }
    Result<StreamPtr> dial_tls(const std::string& address, std::shared_ptr<const Credentials> as) {
        return cloud_.go(
            [](World& world, std::string to, std::shared_ptr<const Credentials> own) -> Task<StreamPtr> {
                auto raw = CO_TRY(co_await world.net->dial(to, 5s));
                co_return co_await world.net->secure(std::move(raw), world.secure(own, "access/"),
                                                     Side::client, 5s);
            }(cloud_, address, std::move(as)));
    }
    std::unique_ptr<wire::Link> link(const std::string& address, std::shared_ptr<const Credentials> as) {
        auto stream = dial_tls(address, std::move(as));
        EXPECT_TRUE(stream) << stream.error().message;
        return std::make_unique<wire::Link>(cloud_.loop, *cloud_.timers, std::move(*stream));
    }
    std::unique_ptr<Agent> agent(const std::string& host) {
        const auto sessions = cloud_.master.sessions.size();
        auto made = std::make_unique<Agent>(cloud_, host, cloud_.access->addresses().uplink);
        EXPECT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == sessions + 1; }));
        return made;
    }
    // true: the other side ends the connection.
    bool is_ended(Stream& stream) {
        std::array<char, 256> into{};
        while (true) {
            const auto got = cloud_.go(read_some(stream, into));
            if (!got || *got == 0) return !got ? got.error().code != Code::cancelled : true;
        }
    }
    Result<uplink::TunnelTicket> ticket(wire::Link& from, const std::string& host) {
        uplink::Frame frame;
        frame.mutable_tunnel_request()->set_host(host);
        auto answer = cloud_.go(from.ask(std::move(frame), 5s));
        if (!answer) return std::unexpected(answer.error());
        return answer->tunnel_ticket();
    }
    static uplink::Frame sealed(const std::string& bytes) {
        uplink::Frame frame;
        frame.mutable_sealed()->set_bytes(bytes);
        return frame;
    }

    Cloud cloud_{[](access::Settings& settings, auto&) {
        settings.joins_per_minute = 3;
        settings.session_down_bytes_max = 1 << 20;
        settings.tunnel_greeting_s = 1;
        settings.ticket_s = 1;
        settings.join_s = 5;
    }};
    const access::Addresses& at_ = cloud_.access->addresses();
};

TEST_F(AccessTest, RelaysBothWaysAndAnswersPingsItself) {
    const auto a = agent("h-1");
    EXPECT_EQ(cloud_.master.access_hello.zone(), "nj");
    EXPECT_EQ(cloud_.master.access_hello.control_address(), at_.control);
    ASSERT_TRUE(cloud_.eventually([&] { return cloud_.master.heard.size() == 1; }));
    EXPECT_EQ(cloud_.master.heard[0].frame.sealed().bytes(), "h-1");
    uplink::Frame frame;
    frame.mutable_sealed()->set_bytes("from the master");
    cloud_.master.say(cloud_.master.heard[0].session, frame);
    ASSERT_TRUE(cloud_.eventually([&] { return a->received.size() == 1; }));
    EXPECT_EQ(a->received[0].sealed().bytes(), "from the master");
    uplink::Frame answer;
    answer.mutable_sealed()->set_bytes("to the master");
    a->send(answer);
    uplink::Frame ping;
    ping.mutable_ping();
    a->send(ping);
    ASSERT_TRUE(cloud_.eventually([&] { return cloud_.master.heard.size() == 2; }));
    EXPECT_EQ(cloud_.master.heard[1].frame.sealed().bytes(), "to the master");
    cloud_.pass(50ms);
    EXPECT_EQ(cloud_.master.heard.size(), 2U) << "the ping went no further";
}

TEST_F(AccessTest, ARevokedHostIsCutAtOnceWithItsTunnelsAndStaysOut) {
    const auto a = agent("h-1"), b = agent("h-2");
    cloud_.add_route("open", "h-1", true);
    EXPECT_EQ(cloud_.fetch(cloud_.request("open")).status, 200);
    EXPECT_EQ(cloud_.access->counters().tunnels_open, 1U);
    cloud_.master.cut_off("h-1", true);
    ASSERT_TRUE(
        cloud_.eventually([&] { return !a->connected() && cloud_.access->counters().tunnels_open == 0; }));
    EXPECT_TRUE(b->connected());
    ASSERT_TRUE(cloud_.eventually([&] { return cloud_.master.ended.size() == 1; }));
    EXPECT_EQ(cloud_.master.ended[0], "removed by its owner");
    EXPECT_EQ(cloud_.fetch(cloud_.request("open")).status, 502);
    const auto back = dial_tls(at_.uplink, cloud_.issue("host", "h-1"));
    EXPECT_TRUE(!back || is_ended(**back));
    EXPECT_EQ(cloud_.master.sessions.size(), 1U);
    EXPECT_TRUE(cloud_.access_journal.all().contains("revoked/h-1")) << "also after a restart";
}

TEST_F(AccessTest, AVisitorMaySpeakWithTheMasterForAShortWhileAndNothingElse) {
    auto joining = link(at_.uplink, cloud_.stranger());
    ASSERT_TRUE(joining->try_send(sealed("a request")));
    ASSERT_TRUE(cloud_.eventually([&] { return cloud_.master.heard.size() == 1; }));
    const auto session = cloud_.master.heard[0].session;
    EXPECT_EQ(cloud_.master.sessions[session], "");
    cloud_.master.say(session, sealed("an answer"));
    const auto answer = cloud_.go(joining->receive());
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->sealed().bytes(), "an answer");
    EXPECT_TRUE(cloud_.eventually([&] { return joining->closed() && cloud_.master.sessions.empty(); }));

    uplink::Frame hello;
    hello.mutable_agent_hello();
    auto rude = link(at_.uplink, cloud_.stranger());
    ASSERT_TRUE(rude->try_send(hello));
    EXPECT_TRUE(cloud_.eventually([&] { return rude->closed(); }));
    EXPECT_EQ(cloud_.master.heard.size(), 1U);
    auto loud = link(at_.uplink, cloud_.stranger());
    ASSERT_TRUE(loud->try_send(sealed(std::string(70'000, 'x'))));
    EXPECT_TRUE(cloud_.eventually([&] { return loud->closed(); }));
    // Three attempts are used up.
    auto fourth = link(at_.uplink, cloud_.stranger());
    const auto refused = cloud_.go(fourth->receive());
    ASSERT_TRUE(refused) << refused.error().message;
    EXPECT_THAT(refused->goodbye().why(), HasSubstr("too many attempts"));
}

TEST_F(AccessTest, AHostWhoseTimeIsOverIsAVisitorAndSoIsNobodyLongAfterIt) {
    const auto late = dial_tls(at_.uplink, cloud_.issue("host", "h-1", -31 * 24h, 30 * 24h));
    ASSERT_TRUE(late) << late.error().message;
    ASSERT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == 1; }));
    EXPECT_EQ(cloud_.master.sessions.begin()->second, "") << "it is nobody's host";
    auto gateway = link(at_.control, cloud_.issue("gateway", "gw-2"));
    EXPECT_EQ(ticket(*gateway, "h-1").error().code, Code::not_found) << "no tunnel leads there";
    const auto too_late = dial_tls(at_.uplink, cloud_.issue("host", "h-1", -211 * 24h, 30 * 24h));
    EXPECT_TRUE(!too_late || is_ended(**too_late));
    cloud_.master.cut_off("h-1", true);
    cloud_.pass(50ms);
    const auto revoked = dial_tls(at_.uplink, cloud_.issue("host", "h-1", -31 * 24h, 30 * 24h));
    EXPECT_TRUE(!revoked || is_ended(**revoked));
    for (const std::string role : {"access", "gateway"}) {
        const auto other = dial_tls(at_.uplink, cloud_.issue(role, "x", -31 * 24h, 30 * 24h));
        EXPECT_TRUE(!other || is_ended(**other)) << role;
    }
}

TEST_F(AccessTest, OtherRolesAreRefusedOnEachPort) {
    for (const auto& role : {"gateway", "master", "access"}) {
        const auto stream = dial_tls(at_.uplink, cloud_.issue(role, "x"));
        EXPECT_TRUE(!stream || is_ended(**stream)) << role;
    }
    const auto host = dial_tls(at_.control, cloud_.issue("host", "h-1"));
    EXPECT_TRUE(!host || is_ended(**host));
    EXPECT_TRUE(cloud_.master.sessions.empty());
}

TEST_F(AccessTest, GarbageEndsItsOwnConnectionOnly) {
    const auto good = agent("h-good");
    for (const auto& address : {at_.uplink, at_.control, at_.tunnel}) {
        const auto stream = dial(address);
        ASSERT_TRUE(stream);
        ASSERT_TRUE(cloud_.go(write_all(**stream, std::string(300, 'G'))));
        EXPECT_TRUE(is_ended(**stream)) << address;
    }
    const auto silent = dial(at_.tunnel);
    EXPECT_TRUE(is_ended(**silent)) << "a connection that shows no ticket";
    uplink::Frame pretending;
    pretending.mutable_session_up()->set_host("h-victim");
    const auto liar = agent("h-liar");
    liar->send(pretending);
    EXPECT_TRUE(cloud_.eventually([&] { return !liar->connected() && cloud_.master.sessions.size() == 1; }));
    EXPECT_TRUE(good->connected());
    EXPECT_THAT(cloud_.master.ended.at(0), HasSubstr("not for it to send"));
}

TEST_F(AccessTest, ATicketWorksOnceForItsHostAndNotForLong) {
    const auto a = agent("h-1");
    a->answer_orders(false);
    auto gateway = link(at_.control, cloud_.issue("gateway", "gw-2"));
    EXPECT_EQ(ticket(*gateway, "h-2").error().code, Code::not_found);
    const auto given = ticket(*gateway, "h-1");
    ASSERT_TRUE(given);
    EXPECT_EQ(given->tunnel_address(), at_.tunnel);
    ASSERT_TRUE(cloud_.eventually([&] { return a->orders.size() == 1; }));
    EXPECT_NE(a->orders[0], given->ticket());
    const auto show = [&](const std::string& secret) {
        auto stream = dial(at_.tunnel).value();
        EXPECT_TRUE(cloud_.go(write_all(*stream, "HOSTLER-TUNNEL/1 " + secret + "\n")));
        return stream;
    };
    const auto one = show(given->ticket()), again = show(given->ticket()), other = show(a->orders[0]);
    EXPECT_TRUE(is_ended(*again)) << "used";
    std::string ok(3, '\0'), bytes(4, '\0');
    ASSERT_TRUE(cloud_.go(read_exactly(*one, ok)) && cloud_.go(read_exactly(*other, ok)));
    EXPECT_EQ(ok, "OK\n");
    ASSERT_TRUE(cloud_.go(write_all(*one, "ping")) && cloud_.go(read_exactly(*other, bytes)));
    EXPECT_EQ(bytes, "ping");
    const auto late = ticket(*gateway, "h-1");
    cloud_.pass(1100ms);
    EXPECT_TRUE(is_ended(*show(late->ticket()))) << "too late";
    const auto lonely = show(ticket(*gateway, "h-1")->ticket());
    EXPECT_TRUE(is_ended(*lonely)) << "the other end never came";
}

TEST_F(AccessTest, AnAgentThatDoesNotReadIsCutAndTheOthersAreNot) {
    const auto good = agent("h-good");
    const auto before = cloud_.master.sessions;
    const auto deaf = dial_tls(at_.uplink, cloud_.issue("host", "h-deaf"));  // Nobody ever reads this.
    ASSERT_TRUE(deaf);
    ASSERT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == 2; }));
    std::uint64_t number = 0;
    for (const auto& [session, host] : cloud_.master.sessions)
        if (host == "h-deaf") number = session;
    uplink::Frame frame;
    frame.mutable_sealed()->set_bytes(std::string(500'000, 'x'));
    for (int i = 0; i < 60 && cloud_.master.ended.empty(); ++i) {
        cloud_.master.say(number, frame);
        cloud_.pass(2ms);
    }
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.master.ended.empty(); }));
    EXPECT_THAT(cloud_.master.ended[0], HasSubstr("too slowly"));
    EXPECT_TRUE(good->connected());
    EXPECT_EQ(cloud_.master.sessions, before);
}

TEST(AccessFlood, IsReadNoFasterThanAllowedAndOthersPass) {
    Cloud cloud{[](access::Settings& settings, auto&) {
        settings.frames_per_second = 20;
        settings.frames_burst = 50;
    }};
    Agent loud{cloud, "h-loud", cloud.access->addresses().uplink},
        quiet{cloud, "h-quiet", cloud.access->addresses().uplink};
    ASSERT_TRUE(cloud.eventually([&] { return cloud.master.heard.size() == 2; }));
    uplink::Frame report;
    report.mutable_sealed()->set_bytes(std::string(2000, 'k'));
    for (int i = 0; i < 2000; ++i) loud.send(report);
    cloud.pass(200ms);
    quiet.send(report);
    const auto from = [&](const std::string& host) {
        return std::count_if(cloud.master.heard.begin(), cloud.master.heard.end(),
                             [&](const auto& heard) { return cloud.master.sessions[heard.session] == host; });
    };
    ASSERT_TRUE(cloud.eventually([&] { return from("h-quiet") == 2; }));
    // One read of up to 32 KiB may overdraw the budget before it is waited for.
    EXPECT_LT(from("h-loud"), 50 + 20 * 2 + 17);
    EXPECT_TRUE(loud.connected());
}

TEST_F(AccessTest, WhatAgentsSayWaitsForTheNextMaster) {
    const auto a = agent("h-1");
    const auto at = cloud_.master.address;
    cloud_.master.vanish();
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.access->linked(); }));
    cloud_.master.heard.clear();
    for (int i = 1; i <= 3; ++i) {
        uplink::Frame report;
        report.mutable_sealed()->set_channel(static_cast<std::uint64_t>(i));
        a->send(report);
    }
    cloud_.pass(50ms);
    EXPECT_TRUE(a->connected());
    cloud_.master.revoked = {"h-9"};
    cloud_.master.epoch = 9;
    cloud_.master.serve(at);
    ASSERT_TRUE(cloud_.eventually([&] { return cloud_.master.heard.size() == 3; }));
    for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(cloud_.master.heard[i].frame.sealed().channel(), i + 1);
    EXPECT_EQ(cloud_.access_journal.all().at("epoch"), "9");
    EXPECT_TRUE(cloud_.access_journal.all().contains("revoked/h-9"));
}

TEST_F(AccessTest, OneThatDrainsKeepsWhoIsThereAndTakesNobodyNew) {
    const auto a = agent("h-1");
    cloud_.add_route("open", "h-1", true);
    cloud_.master.drain(true);
    cloud_.pass(50ms);
    Agent late{cloud_, "h-2", at_.uplink};
    EXPECT_TRUE(cloud_.eventually([&] { return !late.received.empty(); }));
    EXPECT_THAT(late.received.at(0).goodbye().why(), HasSubstr("another one"));
    EXPECT_TRUE(a->connected());
    EXPECT_EQ(cloud_.fetch(cloud_.request("open")).status, 200) << "tunnels go on";
    cloud_.master.drain(false);
    cloud_.pass(50ms);
    EXPECT_NE(agent("h-3"), nullptr);
}

TEST(AccessBans, AnAddressThatStormsIsRefusedForAWhile) {
    Cloud cloud{[](access::Settings& settings, auto&) {
        settings.faults_burst = 3;
        settings.faults_per_minute = 1;
        settings.ban_s = 1;
    }};
    const auto& at = cloud.access->addresses();
    const auto show = [&] {  // true: it is listened to until it has shown its wrong ticket.
        auto stream = cloud.go(cloud.net->dial(at.tunnel, 5s)).value();
        return cloud.go(write_all(*stream, "HOSTLER-TUNNEL/1 wrong\n")).has_value();
    };
    for (int i = 0; i < 4; ++i) show();
    ASSERT_TRUE(cloud.eventually([&] { return cloud.access->counters().banned_addresses == 1; }));
    const auto refused = [&] {
        auto stream = cloud.go(cloud.net->dial(at.uplink, 5s)).value();
        std::array<char, 1> into{};
        bool late = false;
        const Deadline deadline{*cloud.timers, 300ms, [&] {
                                    late = true;
                                    stream->close();
                                }};
        (void)cloud.go(read_some(*stream, into));
        return !late;
    };
    EXPECT_TRUE(refused()) << "at every port";
    cloud.pass(1100ms);
    EXPECT_FALSE(refused()) << "a ban has an end";
}

TEST(AccessBans, AHostThatMisbehavesIsRefusedAndItsNeighboursAreNot) {
    Cloud cloud{[](access::Settings& settings, auto&) {
        settings.faults_burst = 3;
        settings.host_faults_burst = 2;
    }};
    const auto& at = cloud.access->addresses();
    Agent good{cloud, "h-good", at.uplink};
    uplink::Frame pretending;
    pretending.mutable_session_up()->set_host("h-good");
    for (int i = 0; i < 3; ++i) {
        Agent bad{cloud, "h-bad", at.uplink};
        ASSERT_TRUE(cloud.eventually([&] { return bad.connected(); }));
        bad.send(pretending);
        ASSERT_TRUE(cloud.eventually([&] { return !bad.connected(); }));
    }
    EXPECT_EQ(cloud.access->counters().banned_hosts, 1U);
    EXPECT_EQ(cloud.access->counters().banned_addresses, 0U) << "it proved who it is";
    Agent again{cloud, "h-bad", at.uplink};
    EXPECT_TRUE(cloud.eventually([&] { return !again.received.empty(); }));
    EXPECT_THAT(again.received.at(0).goodbye().why(), HasSubstr("banned"));
    EXPECT_TRUE(good.connected());
    Agent neighbour{cloud, "h-next", at.uplink};
    EXPECT_TRUE(cloud.eventually([&] { return neighbour.connected(); }));
}

TEST_F(AccessTest, StopsCleanlyInTheMiddleOfEverything) {
    const auto a = agent("h-1");
    cloud_.add_route("open", "h-1", true);
    agent("h-2");
    auto request = cloud_.request("open", "/events");
    const auto reply =
        cloud_.go(cloud_.client.start({cloud_.gateway->address()}, {.request = std::move(request)}));
    ASSERT_TRUE(reply);
    ASSERT_TRUE(cloud_.go(cloud_.access_tasks->close()));
    EXPECT_EQ(cloud_.access->counters().sessions, 0U);
    EXPECT_EQ(cloud_.access->counters().tunnels_open, 0U);
    EXPECT_TRUE(cloud_.eventually([&] { return !a->connected(); }));
}

}  // namespace
}  // namespace hostler::rig
