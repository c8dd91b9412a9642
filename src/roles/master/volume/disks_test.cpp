#include "roles/master/volume/disks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types_volume.h"
#include "roles/master/instance/explain.h"
#include "roles/master/instance/view.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/volume/explain.h"
#include "roles/master/volume/view.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {
namespace {

using testing::DeskRig;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
constexpr DiskUse half{gibibyte / 2, gibibyte, 10, 1000}, nearly{gibibyte * 95 / 100, gibibyte, 10, 1000},
    full{gibibyte, gibibyte, 10, 1000}, no_inodes{gibibyte / 2, gibibyte, 1000, 1000};

struct Disks : ::testing::Test, DeskRig {
    Disks() {
        a = host("a", "nj", 4);
        HOSTLER_ASSERT(stock(2));
        v = volume("data");
        auto wanted = request("one");
        wanted.template_.volumes = {{"data", "/data", false}};
        HOSTLER_ASSERT(start(wanted));
        i = find_instance(desk, "acme", "one")->id;
        answer(v, {.done = true});
        run(a, i);
        answer(i, {.done = true});
    }
    const Volume& volume_now() const { return estate.volumes.at(v); }
    void tell(const DiskUse& of_volume, const DiskUse& of_layer = half) {
        HostReport report{.sequence = ++sequences, .workloads = said[a], .complete = true};
        report.disks = DiskUses{.volumes = {{v, of_volume}}, .layers = {{i, of_layer}}};
        note_report(desk, a, std::move(report), now);
    }
    std::string a, v, i;
};

TEST_F(Disks, AreKnownWhileTheirHostSaysSo) {
    EXPECT_EQ(use_of_disk(desk, volume_now()), nullptr);
    EXPECT_FALSE(view(desk, volume_now()).used_bytes);
    tell(half, nearly);
    EXPECT_EQ(*use_of_disk(desk, volume_now()), half);
    EXPECT_EQ(*use_of_disk(desk, instance(i)), nearly);
    EXPECT_EQ(view(desk, volume_now()).used_bytes, gibibyte / 2);
    EXPECT_EQ(view(desk, volume_now()).total_inodes, 1000);
    report(a);
    EXPECT_TRUE(use_of_disk(desk, volume_now())) << "a report without says nothing";
    HostReport empty{.sequence = ++sequences, .workloads = said[a], .complete = true};
    empty.disks.emplace();
    note_report(desk, a, std::move(empty), now);
    EXPECT_FALSE(use_of_disk(desk, volume_now())) << "it is not mounted any more";
    tell(half);
    disconnect(a);
    EXPECT_FALSE(use_of_disk(desk, volume_now()));
}

TEST_F(Disks, OfOthersAHostHasNoSay) {
    const std::string b = host("b", "nj", 4);
    DiskUses lies{.volumes = {{v, full}, {"v-none", full}}, .layers = {{i, full}, {"i-none", full}}};
    EXPECT_EQ(only_there(desk, b, lies), DiskUses{});
    EXPECT_EQ(only_there(desk, a, lies), (DiskUses{.volumes = {{v, full}}, .layers = {{i, full}}}));
    note_disks(desk, b, lies);
    EXPECT_EQ(use_of_disk(desk, volume_now()), nullptr);
}

TEST_F(Disks, AFullOneIsWhatIsWrongWithAnInstance) {
    tell(half);
    EXPECT_THAT(explain_instance(desk, instance(i)).sentence, Not(HasSubstr("full")));
    tell(nearly);
    auto why = explain_instance(desk, instance(i));
    EXPECT_THAT(why.sentence, HasSubstr("its volume data at /data is nearly full: 972.7Mi of 1Gi in use"));
    EXPECT_NE(why.token, "volume_full");
    EXPECT_THAT(why.would_help.value_or(""), HasSubstr("hostler volume resize data --size 2Gi"));
    EXPECT_NE(view(desk, instance(i)).reason, "volume_full") << "it works";
    tell(full);
    why = explain_instance(desk, instance(i));
    EXPECT_EQ(why.token, "volume_full");
    ASSERT_EQ(why.blocking.size(), 1U);
    EXPECT_EQ(view(desk, instance(i)).reason, "volume_full");
    EXPECT_THAT(view(desk, instance(i)).message, HasSubstr("is full: 1Gi of 1Gi in use"));
    tell(no_inodes);
    EXPECT_THAT(explain_instance(desk, instance(i)).sentence,
                HasSubstr("is full: 1000 of 1000 inodes in use"));
    tell(half, full);
    why = explain_instance(desk, instance(i));
    EXPECT_EQ(why.token, "disk_full");
    EXPECT_THAT(why.sentence, HasSubstr("its disk outside its volumes is full"));
    tell(nearly, full);
    EXPECT_EQ(explain_instance(desk, instance(i)).token, "disk_full") << "the fuller one first";
}

TEST_F(Disks, ExplainWhereAVolumeIsAndWhatUsesIt) {
    tell(half);
    auto why = explain_volume(desk, volume_now());
    EXPECT_EQ(why.token, "available");
    EXPECT_EQ(
        why.sentence,
        "It has 1Gi and lies on host a (h-a) in zone nj. Instance one uses it. In use: 512Mi of 1Gi and "
        "10 of 1000 inodes.");
    EXPECT_THAT(why.blocking, IsEmpty());
    tell(full);
    why = explain_volume(desk, volume_now());
    EXPECT_EQ(why.token, "volume_full");
    EXPECT_THAT(why.sentence, HasSubstr("It is full: 1Gi of 1Gi in use."));
    EXPECT_THAT(why.would_help.value_or(""), HasSubstr("hostler volume resize data --size 2Gi"));
    const std::string other = volume("other", "acme", "lon");
    why = explain_volume(desk, estate.volumes.at(other));
    EXPECT_EQ(why.token, "unbound");
    EXPECT_THAT(why.sentence, HasSubstr("lies on no host, and will lie in zone lon. No instance uses it."));
    EXPECT_THAT(why.sentence, HasSubstr("made on the host of the first instance that mounts it"));
}

TEST_F(Disks, WhatAVolumeWaitsForIsTold) {
    const std::string two = volume("two");
    auto wanted = request("second");
    wanted.template_.volumes = {{"two", "/data", false}};
    ASSERT_TRUE(start(wanted));
    reconcile_volumes(desk);
    EXPECT_EQ(estate.volumes.at(two).message, "waiting for host a (h-a) to make it for instance second");
    disconnect(a);
    reconcile_volumes(desk);
    EXPECT_EQ(estate.volumes.at(two).message,
              "waiting for host a (h-a) to make it for instance second, which is not connected");
    const auto why = explain_volume(desk, estate.volumes.at(two));
    EXPECT_EQ(why.token, "host_unreachable");
    EXPECT_THAT(why.would_help.value_or(""), HasSubstr("bring the host back"));
    connect(a), report(a);
    answer(two, {.done = true});
    EXPECT_EQ(estate.volumes.at(two).message, "");
    EXPECT_EQ(what_waits(desk, estate.volumes.at(two)), "");
}

TEST_F(Disks, ADeletionSaysWhichInstanceIsInTheWay) {
    delete_instance(desk, i, "test");
    said[a].clear();
    answer(i, {.done = true});
    report(a), report(a);
    const auto begun = delete_volume(desk, v);
    ASSERT_TRUE(begun) << begun.error().message;
    const std::string op = (*begun)->id;
    EXPECT_EQ((*begun)->message, "waiting for host a (h-a) to delete it");
    live.hosts[a].workloads[i] = {.state = "exited", .mounts = {{.volume = v, .path = "/data"}}};
    answer(v, {.code = "conflict", .reason = "volume_in_use", .message = "it is still mounted"});
    reconcile_volumes(desk);
    EXPECT_EQ(
        estate.operations.at(op).message,
        "waiting for host a (h-a) to delete it: the container of instance one still has it mounted: it is "
        "still mounted");
    live.hosts[a].workloads.clear();
    pass(5), reconcile_volumes(desk);
    EXPECT_EQ(estate.operations.at(op).message, "waiting for host a (h-a) to delete it: it is still mounted");
    disconnect(a);
    reconcile_volumes(desk);
    EXPECT_EQ(estate.operations.at(op).message,
              "waiting for host a (h-a) to delete it, which is not connected");
    connect(a), report(a), report(a);
    pass(5), reconcile_volumes(desk);
    answer(v, {.done = true});
    EXPECT_EQ(estate.operations.at(op).phase, OperationPhase::done);
    EXPECT_EQ(estate.operations.at(op).message, "deleted");
}

struct Sizes : ::testing::Test, DeskRig {
    Error refused(const std::string& size, std::optional<std::string> zone = {}) {
        auto made = create_volume(desk, {.name = "x", .size = size, .zone = std::move(zone)}, "acme");
        HOSTLER_ASSERT(!made);
        return made.error();
    }
    bool fits(const std::string& size, std::optional<std::string> zone = {}) {
        return create_volume(desk,
                             {.name = "n" + std::to_string(++made_), .size = size, .zone = std::move(zone)},
                             "acme")
            .has_value();
    }
    void disk(const std::string& host, std::int64_t whole, std::int64_t left) {
        HostFacts& facts = estate.hosts.edit(host).facts;
        facts.disk_bytes = whole, facts.volume_bytes = left;
    }
    int made_ = 0;
};

TEST_F(Sizes, ThatNoHostCouldHoldAreRefusedWithTheLargestThatFits) {
    EXPECT_TRUE(fits("900Ti")) << "without hosts nobody knows";
    const std::string a = host("a", "nj"), b = host("b", "lon");
    disk(a, 1000 * gibibyte, 2 * gibibyte), disk(b, 100 * gibibyte, 2 * gibibyte);
    EXPECT_TRUE(fits("996Gi")) << "what is free at the moment is waited for";
    const Error error = refused("997Gi");
    EXPECT_EQ(error.code, Code::invalid);
    EXPECT_EQ(error.reason, "volume_too_large");
    EXPECT_THAT(error.message, HasSubstr("any host can hold: the largest that fits has 996Gi"));
    EXPECT_EQ(error.fields.at(0).path, "size");
    EXPECT_THAT(error.help, HasSubstr("Ask for 996Gi at most"));
    EXPECT_THAT(refused("97Gi", "lon").message,
                HasSubstr("zone lon can hold: the largest that fits has 96Gi"));
    EXPECT_TRUE(fits("96Gi", "lon"));
    estate.hosts.edit(a).facts.volumes_refused = "it has no XFS";
    EXPECT_THAT(refused("996Gi").message, HasSubstr("96Gi"));
    estate.hosts.edit(b).facts.volumes_refused = "it has no XFS";
    EXPECT_TRUE(fits("900Ti")) << "there may be other hosts tomorrow";
}

TEST_F(Sizes, AGrowthBeyondTheDiskOfItsHostIsRefused) {
    const std::string a = host("a", "nj");
    host("b", "lon");
    disk(a, 100 * gibibyte, 90 * gibibyte);
    HOSTLER_ASSERT(stock(1, "small", "nj"));
    const std::string v = volume("data", "acme", "nj");
    EXPECT_EQ(resize_volume(desk, v, 97 * gibibyte).error().reason, "volume_too_large")
        << "no host in its zone";
    auto wanted = request("one");
    wanted.template_.volumes = {{"data", "/data", false}};
    ASSERT_TRUE(start(wanted));
    answer(v, {.done = true});
    EXPECT_THAT(resize_volume(desk, v, 97 * gibibyte).error().message, HasSubstr("host h-a can hold"));
    EXPECT_EQ(resize_volume(desk, v, 96 * gibibyte).error().reason, "disk_full")
        << "its host has no room for it now";
    EXPECT_TRUE(resize_volume(desk, v, 2 * gibibyte));
}

}  // namespace
}  // namespace hostler::master
