#include "roles/master/pki/authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roles/master/testing/term_rig.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;
using testing::PlainAuthority;

// "f00d" is there; "f001" follows it. Two hosts, an access point, a gateway.
struct Rotation : ::testing::Test {
    Rotation() {
        desk.estate.hosts.add({.id = "h-1", .phase = HostPhase::ready});
        desk.estate.hosts.add({.id = "h-2", .phase = HostPhase::lost});
        desk.estate.hosts.add({.id = "h-3", .phase = HostPhase::retired});
        desk.estate.access_points.add({.name = "nj-1"});
        desk.estate.gateways.add({.name = "gw-1"});
    }
    Result<> begin() { return begin_rotation(desk, authority, {}); }
    Result<> follow() { return follow_authority(desk.estate, authority); }
    // All say what they were given just now, except one.
    void all_hold(const std::string& but = {}) {
        for (const char* name : {"host/h-1", "host/h-2", "access/nj-1", "gateway/gw-1"})
            if (name != but) holds(name);
    }
    void holds(const std::string& name) {
        const auto slash = name.find('/');
        const auto made =
            authority.sign("csr of k", {name.substr(0, slash), name.substr(slash + 1)}, {}, {}, {}).value();
        note_holding(desk, authority, digest, name, made.certificate, authority.certificate());
    }
    std::string phases() {
        std::string text;
        for (const auto& [fingerprint, row] : desk.estate.authorities.all())
            text += fingerprint + " " + text_of(row.phase) + " ";
        return text;
    }
    // Who is not as they should be.
    std::string behind() {
        std::string text;
        for (const Holding& one : holdings(desk.estate, authority, digest))
            if (!one.current) text += one.name + (one.renewed ? " renewed " : " ");
        return text;
    }
    testing::TermRig rig;
    Desk& desk = rig.desk();
    PlainAuthority authority;
    testing::PlainDigest digest;
};

TEST_F(Rotation, GoesFromOneToTheOtherInThreeSteps) {
    EXPECT_EQ(behind(), "") << "before the first there is nothing to be behind with";
    holds("host/h-1");
    EXPECT_TRUE(desk.estate.holders.all().empty());
    ASSERT_TRUE(begin());
    EXPECT_EQ(phases(), "f001 next f00d issuing ");
    EXPECT_EQ(authority.names, (std::vector<std::string>{"f00d", "f001"}));
    EXPECT_EQ(behind(), "host/h-1 host/h-2 access/nj-1 gateway/gw-1 ") << "they know of one alone";
    all_hold();
    EXPECT_EQ(behind(), "");
    ASSERT_TRUE(follow());
    EXPECT_EQ(authority.issuing, "f00d");

    ASSERT_TRUE(issue_by_next(desk, authority));
    EXPECT_EQ(phases(), "f001 issuing f00d outgoing ");
    ASSERT_TRUE(follow());
    EXPECT_EQ(authority.issuing, "f001");
    EXPECT_EQ(authority.names.size(), 2U);
    all_hold("host/h-2");
    EXPECT_EQ(behind(), "host/h-2 ");
    const auto refused = withdraw_former(desk, Holders::must_have_changed);
    EXPECT_EQ(refused.error().reason, "authority_in_use");
    EXPECT_THAT(refused.error().message, HasSubstr("1 would be cut off"));
    EXPECT_THAT(refused.error().message, HasSubstr("host/h-2"));
    EXPECT_EQ(phases(), "f001 issuing f00d outgoing ");
    holds("host/h-2");
    ASSERT_TRUE(withdraw_former(desk, Holders::must_have_changed));
    EXPECT_EQ(phases(), "f001 issuing f00d withdrawn ");
    ASSERT_TRUE(follow());
    EXPECT_EQ(authority.names, (std::vector<std::string>{"f001"}));
    EXPECT_EQ(behind(), "host/h-1 renewed host/h-2 renewed access/nj-1 renewed gateway/gw-1 renewed ")
        << "they believe the former one still";
    all_hold();
    EXPECT_EQ(behind(), "");
}

TEST_F(Rotation, EachStepMayBeRepeatedAndNoneIsLeftOut) {
    EXPECT_EQ(issue_by_next(desk, authority).error().reason, "rotation_not_begun");
    EXPECT_EQ(withdraw_former(desk, Holders::may_be_cut_off).error().reason, "rotation_not_begun");
    ASSERT_TRUE(begin());
    ASSERT_TRUE(begin());
    EXPECT_EQ(phases(), "f001 next f00d issuing ");
    EXPECT_EQ(authority.made, 1);
    EXPECT_EQ(withdraw_former(desk, Holders::may_be_cut_off).error().reason, "rotation_under_way");
    ASSERT_TRUE(issue_by_next(desk, authority));
    ASSERT_TRUE(issue_by_next(desk, authority));
    EXPECT_EQ(phases(), "f001 issuing f00d outgoing ");
    EXPECT_EQ(begin().error().reason, "rotation_under_way") << "one at a time";
    ASSERT_TRUE(withdraw_former(desk, Holders::may_be_cut_off)) << "nobody has said anything";
    ASSERT_TRUE(withdraw_former(desk, Holders::must_have_changed)) << "it is so already";
    ASSERT_TRUE(begin()) << "and another time, at once";
    EXPECT_EQ(phases(), "f001 issuing f002 next f00d withdrawn ");
    EXPECT_EQ(authority.names, (std::vector<std::string>{"f001", "f002"}));
}

TEST_F(Rotation, OnlyWhatIsProvenToBeTheirsIsNoted) {
    ASSERT_TRUE(begin());
    const auto note = [&](const std::string& name, const std::string& certificate) {
        note_holding(desk, authority, digest, name, certificate, authority.certificate());
        return desk.estate.holders.all().size();
    };
    EXPECT_EQ(note("host/h-1", "host/h-2 with k"), 0U) << "another's";
    EXPECT_EQ(note("host/h-1", "host/h-1 with k by stranger"), 0U);
    EXPECT_EQ(note("host/h-1", "rubbish"), 0U);
    EXPECT_EQ(note("host/h-1", "host/h-1 with k"), 1U);
    desk.estate.holders.edit("host/h-1").told_at = 1;
    EXPECT_EQ(note("host/h-1", "host/h-1 with k"), 1U);
    EXPECT_EQ(desk.estate.holders.at("host/h-1").told_at, 1) << "the same again is no change";
}

TEST_F(Rotation, AFullDiskLosesNoStep) {
    authority.disk_is_full = true;
    EXPECT_EQ(begin().error().code, Code::unavailable);
    EXPECT_EQ(phases(), "") << "there is no key of it";
    authority.disk_is_full = false;
    ASSERT_TRUE(begin());
    ASSERT_TRUE(issue_by_next(desk, authority));
    authority.disk_is_full = true;
    EXPECT_FALSE(follow());
    EXPECT_EQ(authority.issuing, "f00d");
    authority.disk_is_full = false;
    ASSERT_TRUE(follow());
    EXPECT_EQ(authority.issuing, "f001");
}

// ── The next term, with keys that may be of another time

TEST_F(Rotation, AMasterWithoutTheNewKeysDoesNotLead) {
    PlainAuthority standby;  // Nobody has brought them there.
    ASSERT_TRUE(agree_on_authority(desk, standby)) << "before the first rotation anything goes";
    ASSERT_TRUE(begin());
    ASSERT_TRUE(agree_on_authority(desk, standby)) << "who issues is there";
    EXPECT_EQ(issue_by_next(desk, standby).error().reason, "authority_old") << "it could not";
    EXPECT_EQ(phases(), "f001 next f00d issuing ");
    ASSERT_TRUE(issue_by_next(desk, authority));
    EXPECT_EQ(agree_on_authority(desk, standby).error().reason, "authority_old");
    EXPECT_EQ(standby.issuing, "f00d");
    ASSERT_TRUE(withdraw_former(desk, Holders::may_be_cut_off));
    const auto refused = agree_on_authority(desk, standby);
    EXPECT_EQ(refused.error().reason, "authority_old");
    EXPECT_THAT(refused.error().message, HasSubstr("f00d, which f001 has followed"));
    EXPECT_EQ(phases(), "f001 issuing f00d withdrawn ");
    ASSERT_TRUE(agree_on_authority(desk, authority));
}

TEST_F(Rotation, AStandbyWithBothGoesOnWhereTheOtherStopped) {
    ASSERT_TRUE(begin());
    PlainAuthority standby = authority;  // Imported now.
    ASSERT_TRUE(issue_by_next(desk, authority));
    ASSERT_TRUE(agree_on_authority(desk, standby));
    ASSERT_TRUE(follow_authority(desk.estate, standby));
    EXPECT_EQ(standby.issuing, "f001");
    ASSERT_TRUE(withdraw_former(desk, Holders::may_be_cut_off));
    PlainAuthority late = authority;
    ASSERT_TRUE(agree_on_authority(desk, late));
    ASSERT_TRUE(follow_authority(desk.estate, late));
    EXPECT_EQ(late.names, (std::vector<std::string>{"f001"}));
}

TEST_F(Rotation, KeysThatAreAheadOfARestoredStoreAreBelieved) {
    ASSERT_TRUE(begin());  // The backup is of this time.
    authority.names = {"f001"};
    authority.issuing = "f001";
    ASSERT_TRUE(agree_on_authority(desk, authority));
    EXPECT_EQ(phases(), "f001 issuing f00d withdrawn ");
    authority.names = {"f002", "f003"};  // Or of long before.
    authority.issuing = "f002";
    desk.estate.restores.add({.id = "restore", .restored_at = desk.estate.micros() + 1});
    ASSERT_TRUE(agree_on_authority(desk, authority));
    EXPECT_EQ(phases(), "f001 withdrawn f002 issuing f003 next f00d withdrawn ");
    ASSERT_TRUE(follow());
    EXPECT_EQ(authority.names.size(), 2U);
}

TEST_F(Rotation, KeysThatTheStoreDoesNotKnowAreNotBelieved) {
    PlainAuthority stranger;  // A second master that was started without `hostler ca import`.
    stranger.names = {"e000"};
    stranger.issuing = "e000";
    ASSERT_TRUE(agree_on_authority(desk, stranger)) << "before the first rotation anything goes";
    desk.estate.restores.add({.id = "restore", .restored_at = desk.estate.micros() - 1});
    ASSERT_TRUE(begin());
    const auto refused = agree_on_authority(desk, stranger);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "authority_old");
    EXPECT_THAT(refused.error().message, HasSubstr("e000, which the store does not know"));
    // A leader that died when it had made another, and before the store had heard of it.
    PlainAuthority died;
    died.names = {"f00d", "e001"};
    ASSERT_TRUE(issue_by_next(desk, authority));
    const auto orphaned = agree_on_authority(desk, died);
    ASSERT_FALSE(orphaned);
    EXPECT_EQ(orphaned.error().reason, "authority_old");
    EXPECT_EQ(phases(), "f001 issuing f00d outgoing ");
    ASSERT_TRUE(agree_on_authority(desk, authority));
}

}  // namespace
}  // namespace hostler::master
