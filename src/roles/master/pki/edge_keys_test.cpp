#include "roles/master/pki/edge_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roles/master/pki/authority.h"
#include "roles/master/testing/term_rig.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;

// "f00d" is there; "f001" follows it. An access point and a gateway have said hello.
struct EdgeKeys : ::testing::Test {
    EdgeKeys() {
        rig.desk().estate.access_points.add({.name = "nj-1"});
        rig.desk().estate.gateways.add({.name = "gw-1"});
    }
    CertificateFacts certificate(const std::string& name, const std::string& key,
                                 const std::string& by = "f00d") {
        const auto slash = name.find('/');
        return {.identity = {name.substr(0, slash), name.substr(slash + 1)},
                .key_fingerprint = key,
                .authority = by};
    }
    bool may(const std::string& name, const std::string& key, const std::string& by = "f00d") {
        return may_follow(desk, ports, certificate(name, key, by)).has_value();
    }
    void rotate() {
        ASSERT_TRUE(begin_rotation(desk, authority, {}));
        ASSERT_TRUE(issue_by_next(desk, authority));
        ASSERT_TRUE(follow_authority(desk.estate, authority));
    }
    void holds(const std::string& name, const std::string& key, const std::string& by = "") {
        note_holding(desk, authority, digest, name, name + " with " + key + by, authority.certificate());
    }
    int told() {
        (void)rig.commit();
        int count = 0;
        for (const EventRecord& event : rig.store.log) count += event.reason == "key_unknown" ? 1 : 0;
        return count;
    }
    testing::TermRig rig;
    Desk& desk = rig.desk();
    testing::PlainAuthority& authority = rig.authority;
    testing::PlainDigest digest;
    struct : IssuedKeys {
        std::vector<IssuedKey> all() const override { return keys; }
        std::vector<IssuedKey> keys;
    } issued;
    const Ports ports{rig.loop, rig.timers, rig.net,      rig.random, rig.store,     authority, rig.digest,
                      rig.own,  rig.series, rig.outgoing, rig.sealer, rig.passwords, &issued};
};

TEST_F(EdgeKeys, WithinOneAuthorityEveryKeyGoesOn) {
    EXPECT_TRUE(may("gateway/gw-1", "k"));
    ASSERT_TRUE(begin_rotation(desk, authority, {}));
    EXPECT_TRUE(may("gateway/gw-1", "k"));
    ASSERT_TRUE(issue_by_next(desk, authority));
    ASSERT_TRUE(follow_authority(desk.estate, authority));
    EXPECT_TRUE(may("gateway/gw-1", "k", "f001"));
    EXPECT_FALSE(may("gateway/gw-1", "k"));
}

TEST_F(EdgeKeys, OnlyWhatAnOperatorGaveCrossesOver) {
    issued.keys = {{"gateway/gw-1", "k-1"}, {"access/nj-1", "k-2"}};
    rotate();
    EXPECT_TRUE(may("gateway/gw-1", "k-1")) << "it is read when it is asked for";
    EXPECT_TRUE(may("access/nj-1", "k-2"));
    EXPECT_FALSE(may("gateway/gw-1", "k-2")) << "another's";
    EXPECT_FALSE(may("access/gw-1", "k-1"));
    issued.keys.clear();  // Another master leads, in whose folder there is no such list.
    EXPECT_TRUE(may("gateway/gw-1", "k-1"));
    const auto refused = may_follow(desk, ports, certificate("gateway/gw-1", "k-3"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "key_unknown");
    EXPECT_THAT(refused.error().message, HasSubstr("hostler ca admit gateway/gw-1 --key-fingerprint k-3"));
    admit_key(desk, "gateway/gw-1", "k-3");
    EXPECT_TRUE(may("gateway/gw-1", "k-3"));
    EXPECT_TRUE(may("gateway/gw-1", "k-1")) << "and the other as before";
}

TEST_F(EdgeKeys, ARefusalIsToldOnceInAMinuteOfThoseThatAreThere) {
    rotate();
    EXPECT_FALSE(may("gateway/gw-1", "k-1"));
    EXPECT_FALSE(may("gateway/gw-1", "k-1"));
    EXPECT_FALSE(may("gateway/gw-1", "k-2"));
    EXPECT_FALSE(may("gateway/nobody", "k-1"));
    EXPECT_EQ(told(), 1);
    EXPECT_EQ(desk.estate.holders.all().size(), 1U);
    rig.timers.advance(std::chrono::minutes{1});
    EXPECT_FALSE(may_follow(rig.desk(), ports, certificate("gateway/gw-1", "k-1")));
    EXPECT_EQ(told(), 1) << "the same again";
    EXPECT_FALSE(may_follow(rig.desk(), ports, certificate("gateway/gw-1", "k-2")));
    EXPECT_EQ(told(), 2);
}

TEST_F(EdgeKeys, WhatIsToBeDoneIsSaidWhileItIsOfUse) {
    const auto words = [&](const std::string& name) { return unknown_key_words(desk.estate, name); };
    EXPECT_EQ(words("gateway/gw-1"), "");
    ASSERT_TRUE(begin_rotation(desk, authority, {}));
    EXPECT_EQ(words("gateway/gw-1"), "") << "it has said nothing yet";
    holds("gateway/gw-1", "k-1");
    EXPECT_THAT(words("gateway/gw-1"), HasSubstr("--key-fingerprint k-1")) << "before anything is refused";
    holds("host/h-1", "k-9");
    EXPECT_EQ(words("host/h-1"), "");
    admit_key(desk, "gateway/gw-1", "k-1");
    EXPECT_EQ(words("gateway/gw-1"), "");
    holds("gateway/gw-1", "thiefs");
    EXPECT_EQ(words("gateway/gw-1"), "") << "what is known of it is not overwritten";
    ASSERT_TRUE(issue_by_next(desk, authority));
    ASSERT_TRUE(follow_authority(desk.estate, authority));
    holds("gateway/gw-1", "k-1", " by f001");
    EXPECT_FALSE(may("gateway/gw-1", "thiefs"));
    EXPECT_THAT(words("gateway/gw-1"), HasSubstr("--key-fingerprint thiefs"));
    ASSERT_TRUE(withdraw_former(desk, Holders::may_be_cut_off));
    EXPECT_EQ(words("gateway/gw-1"), "") << "it opens nothing any more";
}

TEST_F(EdgeKeys, AreBoundedAndByHandOnesStay) {
    for (int i = 0; i < 100; ++i) issued.keys.push_back({"gateway/gw-1", fmt::format("k-{}", i)});
    admit_key(desk, "gateway/gw-1", "by hand");
    for (int i = 0; i < 3; ++i) learn_issued(desk, ports);
    EXPECT_TRUE(is_admitted(desk.estate, "gateway/gw-1", "by hand"));
    EXPECT_TRUE(is_admitted(desk.estate, "gateway/gw-1", "k-99"));
    EXPECT_FALSE(is_admitted(desk.estate, "gateway/gw-1", "k-0"));
    for (std::size_t i = 0; i < AdmittedKeys::keys_max; ++i)
        admit_key(desk, "gateway/gw-1", fmt::format("more {}", i));
    EXPECT_EQ(desk.estate.admitted_keys.at("gateway/gw-1").keys.size(), AdmittedKeys::keys_max);
    EXPECT_FALSE(is_admitted(desk.estate, "gateway/gw-1", "by hand"));
}

}  // namespace
}  // namespace hostler::master
