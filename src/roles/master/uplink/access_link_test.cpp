// The uplink to hosts: who is connected, what they are told and asked, and until when.
#include <gtest/gtest.h>

#include "api/types_zone.h"
#include "roles/master/state/views.h"
#include "roles/master/testing/host_rig.h"
#include "roles/master/zone/access_points.h"

namespace hostler::master {
namespace {

using namespace std::chrono_literals;

struct AccessLink : ::testing::Test, testing::HostRig {};

TEST_F(AccessLink, OnlyAccessPointsAndGatewaysHaveBusinessHere) {
    for (const char* identity : {"host/h-a", "master/m-1", "access", ""}) {
        wire::Link& link = connect(identity);
        uplink::Frame hello;
        hello.mutable_access_hello()->set_zone("nj");
        (void)link.try_send(hello);
        const auto answer = received(link);
        ASSERT_TRUE(answer) << identity;
        EXPECT_FALSE(*answer) << identity;
        EXPECT_TRUE(link.closed()) << identity;
    }
    EXPECT_TRUE(term().look().estate.access_points.all().empty());
}

TEST_F(AccessLink, AnAccessPointStandsInAZoneThatThereIs) {
    wire::Link& link = connect("access/nj-1");
    uplink::Frame hello;
    hello.mutable_access_hello()->set_zone("atlantis");
    send(link, hello);
    EXPECT_EQ(next(link).failure().reason(), "zone_unknown");
    EXPECT_FALSE(*received(link)) << "and then it is closed";
}

TEST_F(AccessLink, AnAccessPointRenewsItsOwnCertificateForItsOwnKeyAndNoOther) {
    wire::Link& link = access("nj-1");
    const auto asked = [&](std::string csr, std::string present) {
        uplink::Frame frame;
        frame.mutable_renew_request()->set_csr(std::move(csr));
        frame.mutable_renew_request()->set_certificate(std::move(present));
        return ask(link, frame);
    };
    EXPECT_EQ(asked("csr of k", "access/nj-1 with k").join_answer().certificate(), "access/nj-1 with k");
    EXPECT_EQ(asked("csr of another", "access/nj-1 with k").failure().reason(), "key_differs");
    for (const std::string other : {"access/nj-2", "host/h-a", "gateway/gw-1", "master/master"})
        EXPECT_EQ(asked("csr of k", other + " with k").failure().reason(), "key_differs") << other;
}

TEST_F(AccessLink, AnAccessPointThatHasObeyedAHigherEpochEndsTheTerm) {
    wire::Link& link = connect("access/nj-1");
    uplink::Frame hello;
    hello.mutable_access_hello()->set_zone("nj");
    hello.mutable_access_hello()->set_epoch(9);
    send(link, hello);
    EXPECT_TRUE(term().ended());
    EXPECT_EQ(term().outranked_by(), 9u);
}

TEST_F(AccessLink, AHostThatHasObeyedAHigherEpochEndsTheTerm) {
    wire::Link& link = access();
    up(link, 1, "h-a");
    hello(link, 1, 2);
    EXPECT_TRUE(term().ended());
    EXPECT_EQ(term().outranked_by(), 2u);
}

TEST_F(AccessLink, ARemovedHostIsCutOffEverywhereAtOnceAndAtEveryHello) {
    wire::Link& first = access("nj-1");
    wire::Link& second = access("nj-2");
    term().cut_off("h-b", "the host was removed");
    for (wire::Link* link : {&first, &second}) {
        const uplink::Frame frame = next(*link);
        EXPECT_EQ(frame.cut_off().host(), "h-b");
        EXPECT_EQ(frame.cut_off().why(), "the host was removed");
        EXPECT_TRUE(frame.cut_off().revoked());
    }
    ASSERT_TRUE(remove_host(desk(), "h-b", false));
    (void)commit();
    wire::Link& third = connect("access/nj-3");
    uplink::Frame hello;
    hello.mutable_access_hello()->set_zone("nj");
    send(third, hello);
    const uplink::Frame welcome = next(third);
    ASSERT_EQ(welcome.access_welcome().revoked_size(), 1);
    EXPECT_EQ(welcome.access_welcome().revoked(0), "h-b");
    EXPECT_EQ(welcome.access_welcome().epoch(), 1u);
    up(third, 1, "h-b");
    EXPECT_EQ(next(third).cut_off().host(), "h-b") << "also when it comes by itself";
}

TEST_F(AccessLink, AnAccessPointThatTakesNoMoreIsClosedRatherThanLeftUntold) {
    auto [ours, theirs] = hostler::testing::memory_pair(64);
    wire::Link link{loop, timers, std::move(ours), {.sending_bytes_max = 256}};
    term().add_access("slow", link);
    uplink::Frame filler;
    filler.mutable_goodbye()->set_why(std::string(100, 'x'));
    while (link.try_send(filler)) timers.settle();
    ASSERT_FALSE(link.closed());
    term().cut_off("h-a", "removed");
    EXPECT_TRUE(link.closed());
    term().drop_access("slow", link);
}

TEST_F(AccessLink, AHostIsAskedAndItsAnswerComesBack) {
    uplink::Frame question;
    question.mutable_log_request()->set_instance("i-1");
    using Heard = std::shared_ptr<std::optional<Result<uplink::Frame>>>;
    const auto ask = [&] {
        auto heard = std::make_shared<std::optional<Result<uplink::Frame>>>();
        running.start("ask", [](Heard into, Task<uplink::Frame> inner) -> Task<> {
            into->emplace(co_await std::move(inner));
            co_return Result<>{};
        }(heard, term().ask_host("h-a", question, 15s)));
        timers.settle();
        return heard;
    };
    const Heard away = ask();
    ASSERT_TRUE(*away);
    EXPECT_EQ((*away)->error().reason, "host_unreachable");

    wire::Link& link = access();
    up(link, 1, "h-a");
    EXPECT_EQ((*ask())->error().reason, "host_unreachable") << "it has said nothing";
    hello(link, 1);
    EXPECT_TRUE(told(link).has_agent_welcome());
    const Heard answered = ask(), refused = ask();
    const uplink::Frame first = told(link), second = told(link);
    EXPECT_EQ(first.log_request().instance(), "i-1");
    ASSERT_NE(first.call(), second.call());
    uplink::Frame no = wire::failure_frame({Code::not_found, "nothing", "gone"});
    no.set_answer_to(second.call());
    say(link, 1, no);
    uplink::Frame yes;
    yes.set_answer_to(first.call());
    yes.mutable_log_answer()->set_text("hello");
    say(link, 1, yes);
    ASSERT_TRUE(*answered && **answered && *refused && !**refused);
    EXPECT_EQ((**answered)->log_answer().text(), "hello");
    EXPECT_EQ((*refused)->error().reason, "gone");

    const Heard late = ask();
    const uplink::Frame third = told(link);
    timers.advance(14s);
    EXPECT_FALSE(*late);
    timers.advance(1s);
    ASSERT_TRUE(*late);
    EXPECT_EQ((*late)->error().code, Code::timeout);
    yes.set_answer_to(third.call());
    say(link, 1, yes);
    EXPECT_FALSE(term().ended()) << "an answer that is too late is let pass";

    const Heard waiting = ask();
    term().end({Code::unavailable, "over"});
    timers.settle();
    ASSERT_TRUE(*waiting);
    EXPECT_EQ((*waiting)->error().message, "over");
}

TEST_F(AccessLink, ACommandIsSentWhenItIsDurableAndAgainUntilItIsAnswered) {
    wire::Link& link = access();
    up(link, 1, "h-a");
    hello(link, 1);
    EXPECT_TRUE(told(link).has_agent_welcome());
    run_term();
    store.hang = true;
    const std::string id = started("one");
    const std::string on = term().look().estate.instances.at(id).host;
    ASSERT_EQ(on, "h-a");
    term().commit_then(nullptr);
    EXPECT_FALSE(told(link).has_command()) << "nobody acts on what may yet be forgotten";
    timers.advance(2s);
    EXPECT_FALSE(told(link).has_command());
    store.let_go();
    const uplink::Frame command = told(link);
    ASSERT_EQ(command.command().start_workload().instance(), id);
    EXPECT_EQ(command.command().epoch(), 1u);
    timers.advance(29s);
    EXPECT_FALSE(told(link).has_command()) << "once is enough for a while";
    timers.advance(3s);
    EXPECT_EQ(told(link).command().id(), command.command().id());
    finish_command(link, 1, command.command().id());
    EXPECT_EQ(told(link).command_ack().id(), command.command().id());
    timers.advance(60s);
    EXPECT_FALSE(told(link).has_command()) << "it is done";
}

TEST_F(AccessLink, AnAnswerIsAcknowledgedWhenItIsDurable) {
    wire::Link& link = access();
    up(link, 1, "h-a");
    hello(link, 1);
    EXPECT_TRUE(told(link).has_agent_welcome());
    const std::string id = started("one");
    (void)commit();
    const std::string command = told(link).command().id();
    ASSERT_FALSE(command.empty());
    store.hang = true;
    finish_command(link, 1, command);
    EXPECT_FALSE(told(link).has_command_ack()) << "the host would forget what the master may yet forget";
    store.let_go();
    EXPECT_EQ(told(link).command_ack().id(), command);
}

TEST_F(AccessLink, AHostThatComesBackIsToldWhatIsUnderWay) {
    const std::string id = started("one");
    (void)commit();
    wire::Link& link = access();
    up(link, 1, "h-a");
    EXPECT_FALSE(told(link).has_command()) << "it has not said what runs there";
    hello(link, 1);
    const uplink::Frame welcome = told(link);
    EXPECT_EQ(welcome.answer_to(), 71u);
    EXPECT_EQ(welcome.agent_welcome().epoch(), 1u);
    EXPECT_EQ(welcome.agent_welcome().report_interval_ms(), 10'000u);
    EXPECT_EQ(told(link).command().start_workload().instance(), id);
}

TEST_F(AccessLink, AHostWithGpusOfAClassReportsAsOftenAsItsClass) {
    wire::Link& link = access();
    const auto interval = [&](std::uint64_t session) {
        up(link, session, "h-a");
        hello(link, session);
        return told(link).agent_welcome().report_interval_ms();
    };
    settings.report_interval_of = {{"A100", std::chrono::milliseconds{1000}}};
    EXPECT_EQ(interval(1), 10'000u);
    settings.report_interval_of["H100"] = std::chrono::milliseconds{2000};
    EXPECT_EQ(interval(2), 2000u);
}

TEST_F(AccessLink, WhatAnOlderSessionStillSaysIsPast) {
    wire::Link& old = access("nj-1");
    wire::Link& now = access("nj-2");
    up(old, 1, "h-a");
    up(now, 1, "h-a");
    hello(now, 1);
    EXPECT_TRUE(told(now).has_agent_welcome());
    const std::string id = started("one");
    (void)commit();
    const uplink::Frame command = told(now);
    ASSERT_TRUE(command.has_command());
    EXPECT_FALSE(told(old).has_command());
    finish_command(old, 1, command.command().id());
    EXPECT_FALSE(term().look().estate.commands.all().empty()) << "said by nobody who is connected";
    down(old, 1);
    EXPECT_TRUE(term().look().live.hosts.at("h-a").connected) << "it has been elsewhere since";
    finish_command(now, 1, command.command().id());
    EXPECT_TRUE(term().look().estate.commands.all().empty());
    now.close();
    timers.settle();
    EXPECT_FALSE(term().look().live.hosts.at("h-a").connected) << "its access point has gone";
}

// Hosts that come by more than one way.
struct Ways : AccessLink {};

TEST_F(Ways, AStandbyLeadsToTheHostAtOnceAndSpeaksWhenItGreets) {
    wire::Link& first = access("nj-1");
    wire::Link& standby = access("nj-2");
    up(first, 1, "h-a");
    greet(first, 1, 1);
    const uplink::Frame welcome = told(first);
    EXPECT_EQ(welcome.agent_welcome().access().access_size(), 2);
    up(standby, 7, "h-a");
    EXPECT_EQ(live().access, "nj-1") << "it has said nothing there";
    const std::string id = started("one");
    (void)commit();
    EXPECT_TRUE(told(first).has_command());
    uplink::Route route;
    write_ways(term().look(), "h-a", route);
    ASSERT_EQ(route.access_size(), 2);
    EXPECT_EQ(route.access(0), "control of nj-1");
    EXPECT_EQ(route.access(1), "control of nj-2");
    first.close();
    timers.settle();
    EXPECT_FALSE(live().connected) << "it has said nothing there";
    uplink::Route after;
    write_ways(term().look(), "h-a", after);
    ASSERT_EQ(after.access_size(), 1);
    greet(standby, 7, 2);
    EXPECT_TRUE(told(standby).has_agent_welcome());
    EXPECT_EQ(told(standby).command().start_workload().instance(), id) << "what was under way";
}

TEST_F(Ways, AHelloThatWasHeldUpDoesNotUndoANewerOne) {
    wire::Link& slow = access("nj-1");
    wire::Link& fast = access("nj-2");
    up(slow, 1, "h-a");
    up(fast, 1, "h-a");
    greet(fast, 1, 2);
    greet(slow, 1, 1);
    EXPECT_EQ(told(slow).failure().reason(), "stale_turn");
    EXPECT_EQ(live().access, "nj-2");
}

TEST_F(Ways, ReportsCountFromAHelloOnAndEachOnce) {
    wire::Link& link = access();
    up(link, 1, "h-a");
    EXPECT_TRUE(report(link, 1, 12).has_agent_welcome()) << "it is asked to say hello: what was before 12?";
    EXPECT_EQ(report(link, 1, 13).body_case(), uplink::Frame::BODY_NOT_SET);
    greet(link, 1, 1, 11);
    EXPECT_TRUE(told(link).has_agent_welcome());
    EXPECT_EQ(report(link, 1, 12).report_ack().sequence(), 12u);
    EXPECT_EQ(report(link, 1, 13).report_ack().sequence(), 13u);
    EXPECT_EQ(report(link, 1, 12).report_ack().sequence(), 12u) << "again: acknowledged, and not noted";
    EXPECT_EQ(live().last_sequence, 13u);
    EXPECT_EQ(report(link, 1, 16, 2).report_ack().sequence(), 16u) << "two had to go, as it says";
    EXPECT_EQ(live().reports_lost, 0u);
    EXPECT_TRUE(report(link, 1, 19, 1).has_agent_welcome())
        << "17 or 18 got lost: it is to begin again from there";
    greet(link, 1, 2, 16);
    EXPECT_TRUE(told(link).has_agent_welcome());
    EXPECT_EQ(report(link, 1, 17).report_ack().sequence(), 17u);
    EXPECT_EQ(report(link, 1, 19, 1).report_ack().sequence(), 19u);
    EXPECT_EQ(live().reports_lost, 0u);
    EXPECT_TRUE(report(link, 1, 21).has_agent_welcome());
    greet(link, 1, 3, 19);
    EXPECT_TRUE(told(link).has_agent_welcome());
    EXPECT_EQ(report(link, 1, 21).report_ack().sequence(), 21u);
    EXPECT_EQ(live().reports_lost, 1u) << "20 does not come, and nothing was said of it";
}

// Found by the simulation: reports that were under way on it are lost, and an answer to the next one would
// have settled them, too.
TEST_F(Ways, AfterItsAccessPointsLinkBrokeAHostBeginsAnew) {
    wire::Link& broken = access("nj-1");
    up(broken, 4, "h-a");
    greet(broken, 4, 1);
    EXPECT_TRUE(told(broken).has_agent_welcome());
    EXPECT_EQ(report(broken, 4, 1).report_ack().sequence(), 1u);
    broken.close();
    timers.settle();
    wire::Link& again = access("nj-1");
    up(again, 4, "h-a");
    EXPECT_TRUE(report(again, 4, 3).has_agent_welcome()) << "2 was lost on the way";
    greet(again, 4, 2, 1);
    EXPECT_TRUE(told(again).has_agent_welcome());
    EXPECT_EQ(report(again, 4, 2).report_ack().sequence(), 2u);
    EXPECT_EQ(report(again, 4, 3).report_ack().sequence(), 3u);
    EXPECT_EQ(live().reports_lost, 0u);
}

TEST_F(Ways, ADrainIsToldToItsAccessPointAndToEveryHost) {
    run_term();
    wire::Link& first = access("nj-1");
    EXPECT_EQ(drain_access(desk(), "nj-1", true, false).error().reason, "no_other_access");
    EXPECT_EQ(drain_access(desk(), "none", true, false).error().code, Code::not_found);
    wire::Link& second = access("nj-2");
    up(first, 1, "h-a");
    greet(first, 1, 1);
    while (!told(first).has_agent_welcome()) {
    }
    ASSERT_TRUE(drain_access(desk(), "nj-1", true, false));
    (void)commit();
    const AccessPoint& row = term().look().estate.access_points.at("nj-1");
    EXPECT_EQ(state_of(term().look(), row), api::AccessState::draining);
    timers.advance(2s);
    bool access_told = false, host_told = false;
    for (int i = 0; i < 6; ++i) {
        access_told |= next(first).drain().draining();
        const uplink::Frame frame = told(first);
        for (const auto& entry : frame.access_list().access()) host_told |= entry.draining();
    }
    EXPECT_TRUE(access_told);
    EXPECT_TRUE(host_told);
    up(second, 1, "h-a");
    greet(second, 1, 2);
    down(first, 1);
    EXPECT_EQ(state_of(term().look(), row), api::AccessState::drained);
    ASSERT_TRUE(drain_access(desk(), "nj-1", false, false));
    EXPECT_EQ(state_of(term().look(), row), api::AccessState::up);
}

}  // namespace
}  // namespace hostler::master
