// One agent against a master that does as it is told: joining, sessions, reports, what it watches.
#include "roles/agent/agent.h"

#include <gtest/gtest.h>

#include "roles/agent/kept_log.h"
#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

const uplink::Workload* workload(const uplink::Report& report) {
    return report.workloads().empty() ? nullptr : &report.workloads(0);
}

TEST(Joining, SpendsTheTokenOnceAndRemembers) {
    World world;
    world.join();
    EXPECT_EQ(world.agent->host(), "h-1");
    ASSERT_EQ(world.master.joins.size(), 1U);
    EXPECT_EQ(world.master.joins[0].token(), "ht_secret-secret");
    EXPECT_EQ(world.master.joins[0].hostname(), "box");
    EXPECT_EQ(world.master.hellos.at(0).facts().gpus(0).uuid(), "GPU-1");
    EXPECT_EQ(world.master.hellos.at(0).facts().serial(), "S41");
    EXPECT_EQ(world.master.hellos.at(0).facts().system_uuid(), "4c4c4544");
    EXPECT_EQ(world.master.hellos.at(0).facts().addresses(0), "192.0.2.7");
    EXPECT_EQ(world.master.hellos.at(0).boot_id(), "boot-1");
    world.crash();
    world.settings.token = "rubbish";
    world.join();
    EXPECT_EQ(world.master.joins.size(), 1U);
    EXPECT_EQ(world.master.hellos.size(), 2U);
}

TEST(Joining, ARefusedTokenEndsItWithTheMastersWords) {
    World world;
    world.master.refuse_join = Error{.code = Code::unauthenticated, .message = "the token was used already"};
    world.boot();
    world.timers.advance(1s);
    ASSERT_TRUE(world.ended);
    EXPECT_EQ(world.ended->code, Code::unauthenticated);
    EXPECT_EQ(world.ended->message, "the token was used already");
}

TEST(Joining, AnotherCloudsAuthorityIsRefused) {
    World world;
    world.master.join_authority = "CA-2";
    world.boot();
    world.timers.advance(1s);
    ASSERT_TRUE(world.ended);
    EXPECT_EQ(world.ended->code, Code::unauthenticated);
    EXPECT_FALSE(world.journal.kept.contains("identity"));
}

TEST(Joining, AnotherCloudIsRefusedHoweverWellItFitsTogether) {
    World world;
    world.master.join_authority = "CA-2";
    world.master.credentials->certificate = Words{"access/a-1", "CA-2", "KEY-0", 0, 1}.text();
    world.boot();
    world.timers.advance(1s);
    ASSERT_TRUE(world.ended);
    EXPECT_EQ(world.ended->code, Code::unauthenticated);
    EXPECT_FALSE(world.journal.kept.contains("identity"));
}

TEST(Joining, WhoOnlyPassesTheAnswerOnIsFoundOut) {
    World world;
    world.master.credentials->certificate = Words{"access/a-1", "CA-9", "KEY-0", 0, 1}.text();
    world.boot();
    world.timers.advance(1s);
    ASSERT_TRUE(world.ended);
    EXPECT_EQ(world.ended->code, Code::unauthenticated);
    EXPECT_FALSE(world.journal.kept.contains("identity"));
    World other;
    other.master.credentials->certificate = certificate("host/h-7");  // Of the cloud, but no access point.
    other.boot();
    other.timers.advance(1s);
    EXPECT_EQ(other.ended->code, Code::unauthenticated);
}

TEST(Joining, TheTokenIsSaidToNobodyButAMasterOfItsAuthority) {
    const auto told = [](const std::function<void(FakeMaster&)>& change) {
        World world;
        change(world.master);
        world.boot();
        world.timers.advance(1s);
        EXPECT_EQ(world.ended.value_or(Error{}).code, Code::unauthenticated);
        EXPECT_EQ(world.master.passed.find("secret"), std::string::npos);
        return world.master.joins.size();
    };
    EXPECT_EQ(told([](FakeMaster& of) { of.invited_authority = "CA-2"; }), 0U) << "another one";
    EXPECT_EQ(told([](FakeMaster& of) { of.invited_authority = "CA-1 CA-2"; }), 0U)
        << "another one beside the right one";
    EXPECT_EQ(told([](FakeMaster& of) { of.master->certificate = certificate("access/a-1"); }), 0U)
        << "an access point in a master's place";
    EXPECT_EQ(
        told([](FakeMaster& of) { of.master->certificate = Words{"master/m-1", "CA-2", "K", 0, 1}.text(); }),
        0U)
        << "the right authority is shown, and another has signed";
}

TEST(Joining, ACrashInBetweenAsksAgainWithTheSameKey) {
    World world;
    world.journal.crash_at = 1;  // The identity.
    world.journal.crash = FakeJournal::Crash::before;
    world.boot();
    world.timers.advance(1s);
    ASSERT_TRUE(world.journal.crashed);
    world.crash();
    world.join();
    ASSERT_EQ(world.master.joins.size(), 2U);
    EXPECT_EQ(world.master.joins[0].csr(), world.master.joins[1].csr());
}

TEST(Joining, WaitsForAnAccessPointThatIsAway) {
    World world;
    world.settings.access = {"access:9", "access:2"};
    world.boot();
    world.timers.advance(60s);
    EXPECT_FALSE(world.ended);
    world.master.listen("access:2");
    world.timers.advance(60s);
    EXPECT_TRUE(world.agent->connected());
}

TEST(Joining, AnAddressThatHangsHoldsItUpForOneDeadline) {
    World world;
    world.net.hung = {"access:9"};
    world.net.timers = &world.timers;
    world.settings.access = {"access:9", "access:1"};
    world.boot();
    world.timers.advance(world.settings.dial_deadline - 1ms);
    EXPECT_TRUE(world.master.joins.empty()) << "it was not asked first";
    world.timers.advance(1s);
    EXPECT_EQ(world.master.joins.size(), 1U);
    world.timers.advance(world.settings.dial_deadline);
    EXPECT_TRUE(world.agent->connected()) << "nor does it as a member";
}

TEST(Renewal, HappensAtOnceWhenTheMasterWishesAndIsToldWithWhomToBelieve) {
    World world;
    world.master.certificate_until = world.in(6h);
    world.join();
    const auto wish = [&] {
        uplink::Frame frame;
        frame.mutable_renew_wanted();
        world.master.send(frame);
        world.timers.settle();
    };
    world.master.join_authority = "CA-1 CA-2";
    wish();
    EXPECT_EQ(world.master.renewals, 1) << "also when it ends no later";
    ASSERT_EQ(world.master.others.size(), 1U);
    const auto& said = world.master.others[0].holding();
    EXPECT_EQ(said.authority(), "CA-1 CA-2");
    EXPECT_TRUE(world.journal.kept["identity"].ends_with("CA-1 CA-2"));
    EXPECT_TRUE(world.journal.kept["identity"].contains(said.certificate()));
    world.master.join_authority = "";
    wish();
    ASSERT_EQ(world.master.others.size(), 2U);
    EXPECT_EQ(world.master.others[1].holding().authority(), "CA-1 CA-2") << "as before";
}

TEST(Renewal, AWishThatComesDuringARenewalIsGrantedAfterIt) {
    World world;
    world.master.certificate_until = world.in(6h);
    world.join();
    const auto wish = [&] {
        uplink::Frame frame;
        frame.mutable_renew_wanted();
        world.master.send(frame);
        world.timers.settle();
    };
    world.master.holds_renewals = true;
    wish();
    wish();
    wish();
    EXPECT_EQ(world.master.renewals, 1) << "one at a time";
    world.master.answer_renewals();
    world.timers.settle();
    EXPECT_EQ(world.master.renewals, 2) << "what is asked for since may be something else";
    world.master.join_authority = "CA-1 CA-2";
    world.master.answer_renewals();
    world.timers.settle();
    EXPECT_EQ(world.master.renewals, 2);
    ASSERT_EQ(world.master.others.size(), 2U);
    EXPECT_EQ(world.master.others[1].holding().authority(), "CA-1 CA-2");
}

TEST(Renewal, HappensAtAThirdOfTheCertificatesLifeWithoutReconnecting) {
    World world;
    world.master.certificate_until = world.in(6h);
    world.join();
    world.timers.advance(110min);
    EXPECT_EQ(world.master.renewals, 0);
    world.master.certificate_until = world.in(6h);
    world.timers.advance(25min);
    EXPECT_EQ(world.master.renewals, 1);
    EXPECT_EQ(world.master.hellos.size(), 1U);
    EXPECT_TRUE(world.agent->connected());
    EXPECT_NE(world.journal.kept.at("identity").find("KEY-1"), std::string::npos);
}

TEST(Renewal, AnExpiredCertificateIsRenewedBeforeAnythingElse) {
    World world;
    world.master.certificate_until = world.in(1h);
    world.join();
    world.crash();
    world.timers.advance(24h);
    world.master.certificate_until = world.in(24h);
    world.boot();
    world.timers.advance(5s);
    EXPECT_EQ(world.master.renewals, 1);
    EXPECT_TRUE(world.agent->connected());
}

TEST(Session, AnOlderMasterIsRefused) {
    World world;
    world.master.epoch = 7;
    world.join();
    world.crash();
    world.master.epoch = 6;
    world.boot();
    world.timers.advance(20s);
    EXPECT_FALSE(world.agent->connected());
    EXPECT_EQ(world.master.hellos.back().epoch(), 7U);
    world.master.epoch = 8;
    world.timers.advance(60s);
    EXPECT_TRUE(world.agent->connected());
}

TEST(Session, NobodyButTheMasterCommands) {
    World world;
    world.join();
    uplink::Frame frame;
    *frame.mutable_command() = world.start();
    world.master.say_in_the_clear(frame);
    frame.mutable_agent_welcome()->set_epoch(99);
    world.master.say_in_the_clear(frame);
    frame.set_call(7);
    frame.mutable_log_request()->set_instance("i-1");
    world.master.say_in_the_clear(frame);
    frame.mutable_sealed()->set_channel(99);
    frame.mutable_sealed()->set_bytes("not ours");
    world.master.say_in_the_clear(frame);
    world.timers.advance(5s);
    EXPECT_EQ(world.engine.launches, 0);
    EXPECT_EQ(world.master.hellos.size(), 1U);
    EXPECT_TRUE(world.master.unsealed.empty()) << "and it says nothing outside";
    EXPECT_TRUE(world.agent->connected());
}

TEST(Session, AnotherMasterInvitesAndIsGreetedAtOnce) {
    World world;
    world.join();
    world.master.invite();
    world.timers.advance(100ms);
    EXPECT_EQ(world.master.hellos.size(), 2U);
    EXPECT_GT(world.master.hellos[1].turn(), world.master.hellos[0].turn());
    EXPECT_TRUE(world.agent->connected());
}

TEST(Session, AMasterThatEndsTheChannelIsGreetedWhenItInvitesAgain) {
    World world;
    world.join();
    world.master.link->close();
    world.timers.advance(100ms);
    EXPECT_EQ(world.master.hellos.size(), 2U) << "it was invited again";
    EXPECT_TRUE(world.agent->connected());
    ASSERT_TRUE(world.master.link);
    world.master.invites = false;
    world.master.link->close();
    world.timers.advance(30s);
    EXPECT_FALSE(world.agent->connected());
    world.master.invites = true;
    world.master.invite();
    world.timers.advance(40s);
    EXPECT_TRUE(world.agent->connected());
}

TEST(Session, ReportsArriveInOrderAfterAReconnect) {
    World world;
    world.master.acknowledge_reports = false;
    world.join();
    world.timers.advance(25s);
    const auto before = world.master.reports.size();
    ASSERT_GE(before, 3U);
    world.master.cut();
    world.net.stop_listening("access:1");
    world.timers.advance(60s);
    EXPECT_EQ(world.master.reports.size(), before);
    world.master.reports.clear();
    world.master.acknowledge_reports = true;
    world.master.listen("access:1");
    world.timers.advance(60s);
    ASSERT_GE(world.master.reports.size(), before + 6);
    for (std::size_t at = 0; at < world.master.reports.size(); ++at)
        EXPECT_EQ(world.master.reports[at].sequence(), at + 1);
    EXPECT_FALSE(world.master.reports[0].workloads_complete());  // History is not all there is.
    EXPECT_TRUE(world.master.reports.back().workloads_complete());
}

TEST(Session, NumbersOfReportsRiseOverARestart) {
    World world;
    world.join();
    const auto last = world.master.reports.back().sequence();
    world.crash();
    world.join();
    EXPECT_GT(world.master.reports.back().sequence(), last);
}

TEST(Session, UnansweredReportsAreSentAgain) {
    World world;
    world.master.acknowledge_reports = false;
    world.master.report_interval_ms = 300'000;
    world.join();
    world.timers.advance(70s);
    EXPECT_GE(std::ranges::count(world.master.reports, 1U, &uplink::Report::sequence), 2);
}

TEST(Telemetry, IsReportedAndFaultsAreToldAtOnce) {
    World world;
    world.join();
    const auto& first = world.master.reports.at(0);
    ASSERT_EQ(first.gpus_size(), 1);
    EXPECT_EQ(first.gpus(0).values(0), 42);
    world.master.reports.clear();
    world.telemetry.faults.push_back({"GPU-1", "xid", 79});
    world.timers.advance(1100ms);
    ASSERT_FALSE(world.master.reports.empty());
    EXPECT_EQ(world.master.reports[0].faults(0).number(), 79);
    EXPECT_EQ(world.master.reports[0].facts().gpus(0).health(), "faulty");
    EXPECT_GE(world.telemetry.discoveries, 2);
}

TEST(Telemetry, TellsHowFullVolumesAndLayersAre) {
    World world;
    world.volumes.used["v-1"] = {.used_bytes = 10, .total_bytes = 100, .used_inodes = 3, .total_inodes = 30};
    world.engine.layer_uses["hostler-i-1"] = {
        .used_bytes = 20, .total_bytes = 200, .used_inodes = 4, .total_inodes = 40};
    world.engine.layer_uses["of-somebody-else"] = {.total_bytes = 1};
    world.join();
    const auto last = [&] {
        world.master.reports.clear();
        world.timers.advance(20s);
        HOSTLER_ASSERT(!world.master.reports.empty());
        return world.master.reports.back();
    };
    const uplink::Report told = last();
    ASSERT_EQ(told.disks().of_size(), 2) << told.disks().of_size();
    EXPECT_EQ(told.disks().of(0).volume(), "v-1");
    EXPECT_EQ(told.disks().of(0).used_bytes(), 10U);
    EXPECT_EQ(told.disks().of(0).total_inodes(), 30U);
    EXPECT_EQ(told.disks().of(1).instance(), "i-1");
    EXPECT_EQ(told.disks().of(1).total_bytes(), 200U);
    EXPECT_EQ(told.disks().of(1).used_inodes(), 4U);
    world.volumes.unmeasurable = "the disk hangs";
    EXPECT_FALSE(last().has_disks()) << "what is not known is not told as if nothing were mounted";
    EXPECT_TRUE(last().workloads_complete());
}

TEST(Telemetry, AHungDriverHangsNothingElse) {
    World world;
    world.join();
    world.telemetry.hangs = true;
    world.master.reports.clear();
    world.timers.advance(30s);
    ASSERT_GE(world.master.reports.size(), 3U);
    std::string health;
    for (const auto& report : world.master.reports)
        if (report.has_facts()) health = report.facts().gpus(0).health();
    EXPECT_EQ(health, "unresponsive");
    EXPECT_TRUE(world.master.reports.back().has_host());
    world.telemetry.hangs = false;
    world.telemetry.awake.notify_all();
    world.timers.advance(25s);
    for (const auto& report : world.master.reports)
        if (report.has_facts()) health = report.facts().gpus(0).health();
    EXPECT_EQ(health, "healthy");
}

TEST(Watching, AnExitIsReportedAtOnceAndTheContainerStays) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.master.reports.clear();
    auto& container = world.engine.containers.at("hostler-i-1");
    container.state = ContainerState::exited;
    container.exit_code = 137;
    container.oom_killed = true;
    world.timers.advance(1100ms);
    ASSERT_EQ(world.master.reports.size(), 1U);
    const auto* seen = workload(world.master.reports[0]);
    EXPECT_EQ(seen->state(), "exited");
    EXPECT_EQ(seen->exit_code(), 137);
    EXPECT_TRUE(seen->oom_killed());
    EXPECT_FALSE(seen->ready());
    world.timers.advance(20s);
    EXPECT_TRUE(world.engine.containers.contains("hostler-i-1"));
}

TEST(Watching, WhatWasDamagedOfItsOwnFilesIsTold) {
    World world;
    world.journal.damaged = "55 bytes of /var/lib/hostler/journal were damaged";
    world.join();
    world.timers.advance(2s);
    ASSERT_FALSE(world.master.hellos.empty());
    EXPECT_EQ(world.master.hellos.back().facts().files_damaged(), world.journal.damaged);
}

TEST(Watching, AnEngineThatIsDownIsNotAnEmptyHost) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.master.reports.clear();
    world.engine.down = true;
    world.timers.advance(25s);
    bool told = false;
    for (const auto& report : world.master.reports) {
        EXPECT_FALSE(report.workloads_complete());
        for (const auto& seen : report.workloads()) EXPECT_NE(seen.state(), "absent");
        told |= report.facts().engine_error() == "the engine's socket refuses";
    }
    EXPECT_TRUE(told);
    world.engine.down = false;
    world.timers.advance(12s);
    EXPECT_TRUE(world.master.reports.back().workloads_complete());
    EXPECT_TRUE(workload(world.master.reports.back())->ready());
}

// Silence is not death.
TEST(Watching, AContainerThatTheEngineCannotLookAtIsAsItWas) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.engine.containers.at("hostler-i-1").id = "77";
    world.timers.advance(35s);
    world.master.reports.clear();
    world.engine.unseen = {"hostler-i-1"};
    world.timers.advance(35s);
    bool complete = false;
    for (const auto& report : world.master.reports) {
        complete = complete || report.workloads_complete();
        for (const auto& seen : report.workloads()) EXPECT_EQ(seen.state(), "running");
        if (report.workloads_complete()) EXPECT_NE(workload(report), nullptr);
    }
    EXPECT_TRUE(complete);
    world.master.order(world.stop());
    world.timers.advance(10s);
    ASSERT_NE(world.master.answer("c-2"), nullptr);
    EXPECT_EQ(world.master.answer("c-2")->state(), "done");
    EXPECT_TRUE(world.engine.containers.empty());
}

TEST(Watching, AListThatFailsIsAskedForMoreAndMoreRarely) {
    World world;
    world.engine.refuse_list = "one container of many";
    world.join();
    world.timers.advance(40s);
    const int before = world.engine.lists;
    world.timers.advance(60s);
    EXPECT_GE(world.engine.lists, before + 11);
    EXPECT_LE(world.engine.lists, before + 13) << "each 5 s";
    world.engine.refuse_list = "";
    world.timers.advance(20s);
    EXPECT_TRUE(world.master.reports.back().workloads_complete());
}

// A host whose engine tells what happens, with one instance that runs.
struct Told : World {
    Told() {
        events = &engine;
        serve("10.201.3.5:8080");
        join();
        master.order(start());
        timers.advance(10s);
        engine.news.notify_all();
        timers.advance(10s);
        begin();
    }
    void begin() {
        master.reports.clear();
        engine.lists = 0;
    }
    void die() { engine.containers.at("hostler-i-1").state = ContainerState::exited; }
    void fall() {  // The engine itself, with its stream.
        engine.down = true;
        engine.ends_news = true;
        engine.news.notify_all();
    }
    std::set<std::string> engine_errors() const {
        std::set<std::string> told;
        for (const auto& report : master.reports)
            if (report.has_facts() && !report.facts().engine_error().empty())
                told.insert(report.facts().engine_error());
        return told;
    }
    bool reported() const {
        for (const auto& report : master.reports)
            for (const auto& seen : report.workloads())
                if (seen.state() == "exited") return true;
        return false;
    }
};

// Dockerd tells of an end first, and its list shows it when it has cleaned up.
TEST(Watching, AnEndThatTheListShowsLaterThanItIsToldIsReported) {
    Told world;
    world.timers.advance(20s);
    world.begin();
    world.engine.news.notify_all();
    world.timers.advance(3s);
    EXPECT_FALSE(world.reported());
    world.die();
    world.timers.advance(1200ms);
    EXPECT_TRUE(world.reported());
    world.timers.advance(10s);
    EXPECT_EQ(world.engine.follows, 1) << "the stream told it";
}

TEST(Watching, ContainersAreListedRarelyWhileTheEngineTellsAndAtOnceWhenItDoes) {
    Told world;
    world.timers.advance(60s);
    EXPECT_LE(world.engine.lists, 3);
    EXPECT_TRUE(world.master.reports.back().workloads_complete());
    EXPECT_EQ(world.engine.follows, 1);
    world.begin();
    world.die();
    world.engine.news.notify_all();
    world.timers.advance(200ms);
    EXPECT_TRUE(world.reported());
    // However much is told, no more often than without it.
    world.begin();
    for (int i = 0; i < 100; ++i) {
        world.engine.news.notify_all();
        world.timers.advance(100ms);
    }
    EXPECT_LE(world.engine.lists, 11);
    EXPECT_GE(world.engine.lists, 9);
}

TEST(Watching, AnEngineThatEndsTellingIsAskedEachSecondAndFollowedAgain) {
    Told world;
    world.fall();
    world.timers.advance(100ms);
    EXPECT_EQ(world.engine.lists, 1) << "it is looked at right away";
    world.timers.advance(10s);
    EXPECT_EQ(world.engine_errors(), std::set<std::string>{"the engine's socket refuses"});
    EXPECT_GE(world.engine.lists, 10);
    EXPECT_FALSE(world.master.reports.back().workloads_complete());
    world.engine.down = false;
    world.timers.advance(40s);
    EXPECT_EQ(world.engine.follows, 2);
    world.timers.advance(5s);
    world.begin();
    world.timers.advance(60s);
    EXPECT_LE(world.engine.lists, 3);
}

TEST(Watching, AnEngineThatIsStartedAgainIsNoFaultOfItsHostAndCommandsWaitForIt) {
    Told world;
    world.fall();
    world.timers.advance(1s);
    auto command = world.start("c-2");
    command.set_subject("i-2");
    command.mutable_start_workload()->set_instance("i-2");
    command.mutable_start_workload()->clear_gpus();
    command.mutable_start_workload()->clear_ports();
    world.master.order(command);
    world.timers.advance(3500ms);
    for (const auto& report : world.master.reports) EXPECT_FALSE(report.workloads_complete());
    world.engine.down = false;
    world.timers.advance(15s);
    EXPECT_TRUE(world.master.reports.back().workloads_complete());
    EXPECT_EQ(world.engine_errors(), std::set<std::string>{});
    for (const auto& report : world.master.reports)
        if (report.has_facts()) EXPECT_TRUE(report.facts().limits_disk()) << "as it was known";
    EXPECT_EQ(world.engine.containers.at("hostler-i-2").state, ContainerState::running);
    // The next time it has as long as the first time, and who comes meanwhile is told.
    world.begin();
    world.fall();
    world.timers.advance(4s);
    EXPECT_EQ(world.engine_errors(), std::set<std::string>{});
    world.timers.advance(3s);
    EXPECT_EQ(world.engine_errors(), std::set<std::string>{"the engine's socket refuses"});
}

TEST(Watching, WhoSaysHelloWhileTheEngineIsSilentSaysSo) {
    Told world;
    world.fall();
    world.timers.advance(1s);
    world.master.hellos.clear();
    world.master.cut();
    world.timers.advance(3s);
    ASSERT_FALSE(world.master.hellos.empty());
    EXPECT_EQ(world.master.hellos.back().facts().engine_error(), "the engine's socket refuses")
        << "or what it knew would be taken for what there is";
}

TEST(Watching, WhatAnEngineDoesNotTellIsFoundAndItIsAskedAnew) {
    Told world;
    world.die();
    world.timers.advance(31s);
    EXPECT_TRUE(world.reported());
    world.timers.advance(5s);
    EXPECT_EQ(world.engine.follows, 2) << "what it had told no more, it may tell again";
}

TEST(Watching, AnEngineThatHangsIsNoticedThoughItsStreamStays) {
    Told world;
    world.engine.down = true;
    world.timers.advance(12s);
    EXPECT_EQ(world.engine_errors(), std::set<std::string>{"the engine's socket refuses"});
}

// Between the end of a stream and the next look something may have happened that nobody knows.
TEST(Watching, AReportIsNotCompleteUntilSomebodyHasLookedAfterAStreamHasEnded) {
    Told world;
    world.engine.lists_hang = true;
    world.engine.ends_news = true;
    world.engine.news.notify_all();
    world.timers.advance(15s);
    ASSERT_FALSE(world.master.reports.empty());
    for (const auto& report : world.master.reports) EXPECT_FALSE(report.workloads_complete());
    world.engine.lists_hang = false;
    world.engine.listing.notify_all();
    world.timers.advance(15s);
    EXPECT_TRUE(world.master.reports.back().workloads_complete());
}

TEST(Watching, ReadinessOutlivesTheAgentAndOrphansAreLeftAlone) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.crash();
    Container orphan{"hostler-i-9",
                     {{"hostler.host", "h-1"}, {"hostler.instance", "i-9"}, {"hostler.generation", "4"}},
                     ContainerState::running};
    world.engine.containers["hostler-i-9"] = orphan;
    world.join();
    world.timers.advance(30s);
    const auto& hello = world.master.hellos.back();
    ASSERT_EQ(hello.workloads_size(), 2);
    EXPECT_TRUE(hello.workloads(0).ready());
    EXPECT_EQ(hello.workloads(1).instance(), "i-9");
    EXPECT_EQ(hello.workloads(1).generation(), 4U);
    EXPECT_EQ(world.engine.containers.at("hostler-i-9").state, ContainerState::running);
}

TEST(Watching, AnUnfinishedStartGoesOnProbingAfterARestart) {
    World world;
    world.join();
    world.master.order(world.start());
    world.timers.advance(3s);
    world.crash();
    world.join();
    EXPECT_EQ(world.master.answer("c-1"), nullptr);
    world.serve("10.201.3.5:8080");
    world.timers.advance(2s);
    ASSERT_NE(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.answer("c-1")->state(), "done");
    EXPECT_EQ(world.engine.launches, 1);
}

TEST(Logs, LiveOnesAndKeptOnes) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.engine.written["hostler-i-1"] = "first\nlast \xff\r";
    uplink::Frame ask;
    auto& request = *ask.mutable_log_request();
    request.set_instance("i-1");
    request.set_pieces(true);
    request.set_lines(1);
    const auto answer = [&]() -> uplink::LogAnswer {
        return hostler::testing::run(world.loop, world.master.link->ask(ask, 5s))->log_answer();
    };
    EXPECT_EQ(answer().pieces(), "1795261229000000 P last \xff\r\n");
    EXPECT_TRUE(answer().truncated());
    EXPECT_EQ(answer().next(), "1795261229000000.2");
    request.set_lines(10);
    EXPECT_FALSE(answer().truncated());
    // While an engine removes a container it may answer that there is nothing.
    world.engine.written["hostler-i-1"].clear();
    EXPECT_EQ(answer().pieces(), "");
    EXPECT_EQ(answer().next(), "0.0");
    world.logs.kept["i-1"] = "gone\n";
    EXPECT_EQ(answer().pieces(), "0 F gone\n");
    world.engine.written["hostler-i-1"] = "first\nlast \xff\r";
    world.master.order(world.stop());
    world.timers.advance(2s);
    EXPECT_EQ(answer().pieces(), "1795261229000000 F first\n1795261229000000 P last \xff\r\n");
    request.set_after("1795261229000000.1");
    EXPECT_EQ(answer().pieces(), "1795261229000000 P last \xff\r\n");
    request.set_after("yesterday");
    EXPECT_EQ(hostler::testing::run(world.loop, world.master.link->ask(ask, 5s)).error().code, Code::invalid);
    request.set_after("");
    request.set_instance("i-2");
    EXPECT_EQ(hostler::testing::run(world.loop, world.master.link->ask(ask, 5s)).error().code,
              Code::not_found);
}

// Its end was written after the last answer, and another container has begun since.
TEST(Logs, WhoFollowsIsGivenTheEndOfTheRunBefore) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.logs.kept["i-1"] = kept_log({.pieces = "1795261220000000 F known\n1795261221000000 F WHY\n"});
    world.engine.written["hostler-i-1"] = "once more\n";
    uplink::Frame ask;
    auto& request = *ask.mutable_log_request();
    request.set_instance("i-1");
    request.set_pieces(true);
    request.set_after("1795261220000000.1");
    const auto answer = [&]() -> uplink::LogAnswer {
        return hostler::testing::run(world.loop, world.master.link->ask(ask, 5s))->log_answer();
    };
    EXPECT_EQ(answer().pieces(), "1795261221000000 F WHY\n");
    request.set_after(answer().next());
    EXPECT_EQ(answer().pieces(), "1795261229000000 F once more\n");
    EXPECT_FALSE(answer().truncated());
    request.set_after("1795261225000000.1");
    EXPECT_TRUE(answer().truncated()) << "what was there is neither here nor there";
}

TEST(Logs, AnOlderMasterIsToldLines) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.engine.written["hostler-i-1"] = "first\nlast \xff\n";
    uplink::Frame ask;
    auto& request = *ask.mutable_log_request();
    request.set_instance("i-1");
    request.set_tail_bytes(30);
    const auto answer = [&]() -> uplink::LogAnswer {
        return hostler::testing::run(world.loop, world.master.link->ask(ask, 5s))->log_answer();
    };
    EXPECT_EQ(answer().text(), "last ?\n");
    EXPECT_TRUE(answer().truncated());
    EXPECT_EQ(answer().next(), "");
    request.set_tail_bytes(1000);
    request.set_timed(true);
    EXPECT_EQ(answer().text(), "2026-11-21T11:40:29.000000Z first\n2026-11-21T11:40:29.000000Z last ?\n");
    EXPECT_TRUE(answer().timed());
    request.set_since_s(1'795'261'230);
    EXPECT_EQ(answer().text(), "");
}

}  // namespace
}  // namespace hostler::agent
