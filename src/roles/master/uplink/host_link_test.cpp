// What hosts say, sealed: who is believed, who may only visit, and how many are let in.
#include <gtest/gtest.h>

#include "api/types_host.h"
#include "roles/master/host/view.h"
#include "roles/master/testing/host_rig.h"

namespace hostler::master {
namespace {

using namespace std::chrono_literals;

struct HostLink : ::testing::Test, testing::HostRig {};

TEST_F(HostLink, WhoHasNotJoinedMayDoNothingElse) {
    wire::Link& link = access();
    up(link, 4, "");
    hello(link, 4);
    EXPECT_EQ(told(link).failure().reason(), "visitor");
    uplink::Frame join;
    join.set_call(5);
    join.mutable_join_request()->set_token("ht_x.f00d");
    join.mutable_join_request()->set_csr("CSR");
    say(link, 4, join);
    const uplink::Frame refused = told(link);
    EXPECT_EQ(refused.answer_to(), 5u);
    EXPECT_TRUE(refused.has_failure());
    relay(link, 99, join);
    EXPECT_EQ(told(link).body_case(), uplink::Frame::BODY_NOT_SET) << "a session that nobody announced";
}

// ── One identity, one machine

struct Boots : HostLink {
    void boot(wire::Link& link, std::uint64_t session, const std::string& boot_id) {
        timers.advance(3s);
        uplink::Frame frame;
        frame.set_call(70);
        auto& hello = *frame.mutable_agent_hello();
        hello.set_epoch(1);
        hello.set_boot_id(boot_id);
        hello.set_life("life of " + boot_id);
        hello.set_turn(1);
        say(link, session, frame);
    }
    const Host& host() { return term().look().estate.hosts.at("h-a"); }
};

TEST_F(Boots, TwoThatAreAliveAtOnceAreQuarantinedUntilAnOperatorSaysOtherwise) {
    wire::Link& first = access("nj-1");
    wire::Link& second = access("nj-2");
    up(first, 1, "h-a");
    up(second, 1, "h-a");
    boot(first, 1, "boot-1");
    EXPECT_TRUE(told(first).has_agent_welcome());
    boot(second, 1, "boot-2");
    EXPECT_TRUE(told(second).has_agent_welcome()) << "it has booted, as far as anybody knows";
    EXPECT_EQ(host().quarantined, "");
    boot(first, 1, "boot-1");
    EXPECT_EQ(told(first).failure().reason(), "host_quarantined") << "so the other is alive, too";
    EXPECT_NE(host().quarantined, "");
    EXPECT_EQ(store.log.back().reason, "quarantined");
    EXPECT_FALSE(live().connected);
    EXPECT_TRUE(live().ways.empty()) << "no tunnel leads to either";
    const std::string placed = started("one");
    EXPECT_NE(term().look().estate.instances.at(placed).host, "h-a");
    EXPECT_EQ(report(second, 1, 1).body_case(), uplink::Frame::BODY_NOT_SET) << "nor is it believed";
    boot(second, 1, "boot-2");
    EXPECT_EQ(told(second).failure().reason(), "host_quarantined");
    EXPECT_EQ(view(term().look(), host()).state, api::HostState::quarantined);
    EXPECT_EQ(view(term().look(), host()).message, host().quarantined);

    ASSERT_TRUE(release_host(desk(), "h-a"));
    (void)commit();
    boot(first, 1, "boot-1");
    EXPECT_TRUE(told(first).has_agent_welcome());
    EXPECT_TRUE(live().connected);
}

TEST_F(Boots, AMachineThatBootsAgainIsTheSameHost) {
    wire::Link& link = access();
    std::uint64_t session = 0;
    for (const std::string id : {"boot-1", "boot-2", "boot-3"}) {
        up(link, ++session, "h-a");
        boot(link, session, id);
        EXPECT_TRUE(told(link).has_agent_welcome()) << id;
        EXPECT_EQ(host().boot_id, id);
        uplink::Frame facts;
        facts.mutable_report()->set_sequence(1);
        facts.mutable_report()->mutable_facts()->set_hostname("renamed");
        say(link, session, facts);
        EXPECT_EQ(told(link).report_ack().sequence(), 1u);
        EXPECT_EQ(host().boot_id, id) << "reports do not say it";
    }
    EXPECT_EQ(host().quarantined, "");
}

TEST_F(Boots, AHelloThatWasHeldUpIsNoSecondMachine) {
    wire::Link& held_up = access("nj-1");
    wire::Link& link = access("nj-2");
    up(link, 1, "h-a");
    boot(link, 1, "boot-1");
    EXPECT_TRUE(told(link).has_agent_welcome());
    up(held_up, 1, "h-a");
    down(link, 1);
    up(link, 2, "h-a");
    boot(link, 2, "boot-2");
    EXPECT_TRUE(told(link).has_agent_welcome());
    boot(held_up, 1, "boot-1");
    EXPECT_EQ(told(held_up).failure().reason(), "stale_boot") << "it was invited before the machine booted";
    EXPECT_EQ(host().quarantined, "");
    EXPECT_EQ(live().access, "nj-2");
    EXPECT_EQ(report(link, 2, 1).report_ack().sequence(), 1u);
}

// ── What an access point can do with a key of its own, or a stolen one

TEST_F(HostLink, WhatIsNotSealedIsNotHeard) {
    wire::Link& link = access();
    up(link, 1, "h-a");
    uplink::Frame hello;
    hello.set_call(1);
    hello.mutable_agent_hello()->set_epoch(1);
    relay(link, 1, hello);
    uplink::Frame renew;
    renew.mutable_renew_request()->set_csr("CSR");
    relay(link, 1, renew);
    EXPECT_EQ(told(link).body_case(), uplink::Frame::BODY_NOT_SET);
    EXPECT_FALSE(live().connected);
    uplink::Frame forged;
    forged.mutable_sealed()->set_channel(12345);
    forged.mutable_sealed()->set_bytes("host/h-a\n");
    relay(link, 1, forged);
    EXPECT_EQ(net.handshakes, 0) << "a channel that nobody was invited to";
}

TEST_F(HostLink, AHostIsWhoItsCertificateSaysAndNotWhoItsAccessPointSays) {
    wire::Link& link = access();
    up(link, 1, "h-a");
    for (const std::string shown : {"host/h-b", "access/nj-1", "", "expired host/h-a"}) {
        played[{&link, 1}].identity = shown;
        timers.advance(3s);
        greet(link, 1, 1);
        EXPECT_EQ(told(link).body_case(), uplink::Frame::BODY_NOT_SET) << shown;
        EXPECT_FALSE(live().connected) << shown;
    }
    EXPECT_EQ(played[(std::pair{&link, std::uint64_t{1}})].endings, 4);
    played[{&link, 1}].identity = "host/h-a";
    timers.advance(3s);
    greet(link, 1, 1);
    EXPECT_TRUE(told(link).has_agent_welcome()) << "and it is invited again each time";
}

TEST_F(HostLink, ToSayThatAHostIsThereTakesNothingFromWhereItIs) {
    wire::Link& real = access("nj-1");
    up(real, 1, "h-a");
    greet(real, 1, 1);
    EXPECT_TRUE(told(real).has_agent_welcome());
    wire::Link& stolen = access("nj-2");
    up(stolen, 1, "h-a");
    down(stolen, 1);
    up(stolen, 2, "h-a");
    EXPECT_TRUE(live().connected);
    EXPECT_EQ(live().access, "nj-1");
    const std::string id = started("one");
    (void)commit();
    EXPECT_FALSE(told(stolen).has_command());
    EXPECT_TRUE(told(real).has_access_list()) << "there is a second way";
    EXPECT_TRUE(told(real).has_command());
    up(stolen, 3, "h-nobody");
    EXPECT_TRUE(next(stolen).has_session_down()) << "of a host that never was";
    EXPECT_EQ(next(real).body_case(), uplink::Frame::BODY_NOT_SET) << "no other access point hears of it";
}

TEST_F(HostLink, AHostThatComesAndGoesIsInvitedNoOftenerThanItsRate) {
    wire::Link& link = access();
    const auto invited = [&] {
        int all = 0;
        for (const auto& [at, host] : played) all += host.invitations;
        return all;
    };
    std::uint64_t session = 0;
    for (int i = 0; i < 100; ++i) up(link, ++session, "h-a");
    EXPECT_EQ(invited(), static_cast<int>(HostLimits::invitations.burst));
    up(link, ++session, "h-b");
    EXPECT_EQ(invited(), static_cast<int>(HostLimits::invitations.burst) + 1) << "others wait for nobody";
    timers.advance(20s);
    pump(link);
    EXPECT_LE(invited(), static_cast<int>(HostLimits::invitations.burst) + 12);
    EXPECT_GE(invited(), static_cast<int>(HostLimits::invitations.burst) + 8) << "by and by";
}

TEST_F(HostLink, HandshakesUnderWayAreBoundedAndWhoWaitsIsInvitedAgain) {
    wire::Link& link = access();
    term().host_limits().handshakes = HostLimits::handshakes_max;
    up(link, 1, "h-a");
    greet(link, 1, 1);
    EXPECT_EQ(net.handshakes, 0);
    EXPECT_EQ(played[(std::pair{&link, std::uint64_t{1}})].endings, 1);
    term().host_limits().handshakes = 0;
    timers.advance(3s);
    greet(link, 1, 1);
    EXPECT_TRUE(told(link).has_agent_welcome());
    EXPECT_EQ(term().host_limits().handshakes, 0U);
}

TEST_F(HostLink, AVisitorMayAskForACertificateAndForNothingElse) {
    wire::Link& link = access();
    up(link, 1, "");
    played[{&link, 1}].identity = "expired host/h-a";
    greet(link, 1, 1);
    EXPECT_EQ(told(link).failure().reason(), "visitor");
    EXPECT_FALSE(term().look().live.hosts.contains("h-a") && live().connected);
    uplink::Frame join;
    join.set_call(5);
    join.mutable_join_request()->set_token("ht_x.f00d");
    say(link, 1, join);
    EXPECT_EQ(told(link).failure().reason(), "visitor") << "it is somebody: it does not join";
    uplink::Frame renew;
    renew.set_call(6);
    renew.mutable_renew_request()->set_csr("CSR");
    say(link, 1, renew);
    EXPECT_EQ(told(link).failure().message(), "no request") << "that is its request, which is looked at";
    ASSERT_TRUE(remove_host(desk(), "h-a", false));
    say(link, 1, renew);
    EXPECT_EQ(told(link).failure().reason(), "host_removed");
    EXPECT_FALSE(played[(std::pair{&link, std::uint64_t{1}})].authority.empty());
    timers.advance(25s);
    pump(link);
    EXPECT_GE(played[(std::pair{&link, std::uint64_t{1}})].endings, 1) << "and not for long";
}
}  // namespace
}  // namespace hostler::master
