// When the chain of the audit is sealed, and whose seals are believed.
#include "roles/master/http/audit_seals.h"

#include <gtest/gtest.h>

#include "roles/master/testing/term_rig.h"

namespace hostler::master {
namespace {

struct AuditSealsTest : ::testing::Test, testing::TermRig {
    void write(int lines = 1) {
        for (int i = 0; i < lines; ++i) desk().estate.audit({.actor = "key/k-1", .operation = "createZone"});
        (void)commit();
    }
    void seal() {
        seal_audit(term(), desk());
        (void)commit();
    }
    std::size_t seals() const { return store.anchors.seals.size(); }
    // Another master begins with what the store says.
    void take_over(AuditHead head, AuditHead sealed) {
        finish();
        begin(2);
        Estate estate;
        estate.audit_state({std::move(head), std::move(sealed)});
        term().begin_with(std::move(estate));
    }
};

TEST_F(AuditSealsTest, ATermSealsAtItsBeginningAndEachHourWhatIsNew) {
    seal();
    EXPECT_EQ(seals(), 0u) << "there is nothing to be sealed";
    timers.advance(std::chrono::hours{1});
    write(3);
    seal();
    ASSERT_EQ(seals(), 1u);
    EXPECT_EQ(store.anchors.seals[0].head, store.lines.back().chain);
    EXPECT_EQ(store.anchors.seals[0].time, timers.wall());
    EXPECT_EQ(sealed_position(term()), 3u);
    write();
    timers.advance(std::chrono::minutes{59});
    seal();
    EXPECT_EQ(seals(), 1u);
    timers.advance(std::chrono::minutes{1});
    seal();
    EXPECT_EQ(seals(), 2u);
    timers.advance(std::chrono::hours{5});
    seal();
    EXPECT_EQ(seals(), 2u) << "nothing is new";
    write();
    take_over(store.anchors.head, store.anchors.seals.back().head);
    seal();
    ASSERT_EQ(seals(), 3u) << "at once";
    EXPECT_EQ(store.anchors.seals.back().epoch, 2u);
    write();
    EXPECT_EQ(store.lines.back().chain.position, 6u);
    EXPECT_EQ(store.lines.back().previous, store.lines[store.lines.size() - 2].chain.hash);
}

TEST_F(AuditSealsTest, AStoreWithLessThanWasSealedIsToldOfOnce) {
    const auto told = [this] { return std::ranges::count(store.log, "audit_cut", &EventRecord::reason); };
    write(2);
    take_over(store.anchors.head, {5, "sealed"});
    seal();
    seal();
    EXPECT_EQ(told(), 1);
    EXPECT_EQ(seals(), 0u);
    take_over({5, "another"}, {5, "sealed"});
    seal();
    EXPECT_EQ(told(), 2);
    take_over({5, "sealed"}, {5, "sealed"});
    seal();
    EXPECT_EQ(told(), 2);
}

TEST_F(AuditSealsTest, ASealIsBelievedOfAnAuthorityOfThisCloud) {
    write();
    seal();
    const SealCheck check = seal_check(desk(), ports);
    const AuditSeal good = store.anchors.seals.at(0);
    EXPECT_TRUE(check(good));
    AuditSeal seal = good;
    seal.head.position = 2;
    EXPECT_FALSE(check(seal));
    seal = good;
    seal.time += std::chrono::seconds{1};
    EXPECT_FALSE(check(seal));
    seal = good;
    seal.certificate = "CERTIFICATE evil\n";
    EXPECT_FALSE(check(seal));
    seal = good;
    seal.authority = "evil";
    EXPECT_FALSE(check(seal));
    // One that was withdrawn since has sealed what it has sealed.
    authority.names = {"f001"};
    authority.issuing = "f001";
    EXPECT_FALSE(check(good));
    desk().estate.authorities.add({.fingerprint = "f00d"});
    EXPECT_TRUE(check(good));
}

}  // namespace
}  // namespace hostler::master
