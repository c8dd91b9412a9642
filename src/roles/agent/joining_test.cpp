// How an agent becomes a host of a cloud, and how its certificate is renewed.
#include "roles/agent/agent.h"

#include <gtest/gtest.h>

#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

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

}  // namespace
}  // namespace hostler::agent
