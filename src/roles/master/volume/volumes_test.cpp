#include "roles/master/volume/volumes.h"

#include <gtest/gtest.h>

#include "api/types_stock.h"
#include "api/types_volume.h"
#include "proto/uplink.pb.h"
#include "roles/master/stock/slots.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/uplink/messages.h"

namespace hostler::master {
namespace {

using testing::DeskRig;

struct Volumes : ::testing::Test, DeskRig {
    Volumes() {
        a = host("a", "nj", 4);
        HOSTLER_ASSERT(stock(2));
        v = volume("data");
    }
    Result<Started> mount(const std::string& name, bool read_only = false, const std::string& of = "data") {
        auto wanted = request(name);
        wanted.template_.volumes = {{of, "/data", read_only}};
        return start(wanted);
    }
    const Volume& volume_now() const { return estate.volumes.at(v); }
    std::string a, v;
};

TEST_F(Volumes, TheFirstInstanceDecidesWhereItLies) {
    EXPECT_EQ(volume_now().phase, VolumePhase::unbound);
    ASSERT_TRUE(mount("one"));
    const auto id = find_instance(desk, "acme", "one")->id;
    EXPECT_EQ(volume_now().phase, VolumePhase::creating);
    EXPECT_EQ(volume_now().host, a);
    EXPECT_EQ(zone_of(desk, volume_now()), "nj");
    EXPECT_EQ(command_of(v)->verb, Verb::create_volume);
    EXPECT_EQ(command_of(id), nullptr) << "it starts when its volume is there";
    answer(v, {.done = true});
    EXPECT_EQ(volume_now().phase, VolumePhase::available);
    EXPECT_EQ(command_of(id)->verb, Verb::start_workload);
}

TEST_F(Volumes, OneWriterAtATime) {
    ASSERT_TRUE(mount("one"));
    const auto refused = mount("two");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "volume_in_use");
    EXPECT_EQ(mount("two", true).error().reason, "volume_in_use") << "nor who reads beside a writer";
    const auto id = find_instance(desk, "acme", "one")->id;
    answer(v, {.done = true});
    answer(id, {.reason = "exited", .message = "test"});
    EXPECT_EQ(instance(id).phase, InstancePhase::failed);
    EXPECT_EQ(mount("two").error().reason, "volume_in_use") << "its container may still be there";
    report(a), report(a);
    EXPECT_TRUE(mount("two"));
}

TEST_F(Volumes, ManyReaders) {
    EXPECT_TRUE(mount("one", true));
    EXPECT_TRUE(mount("two", true));
    EXPECT_EQ(attached_to(desk, v).size(), 2u);
    EXPECT_EQ(mount("three").error().reason, "volume_in_use");
}

TEST_F(Volumes, OneInUseIsNotDeleted) {
    ASSERT_TRUE(mount("one"));
    EXPECT_EQ(delete_volume(desk, v).error().reason, "volume_in_use");
    const auto id = find_instance(desk, "acme", "one")->id;
    answer(v, {.done = true});
    answer(id, {.message = "test", .absent = true});
    const auto operation = delete_volume(desk, v);
    ASSERT_TRUE(operation);
    const std::string op = (*operation)->id;
    EXPECT_EQ((*operation)->phase, OperationPhase::running);
    EXPECT_EQ(delete_volume(desk, v).value()->id, op) << "asked twice, done once";
    EXPECT_EQ(volume_now().phase, VolumePhase::deleting);
    EXPECT_EQ(command_of(v)->verb, Verb::delete_volume);
    EXPECT_EQ(mount("two").error().code, Code::invalid) << "it is being deleted";
    answer(v, {.message = "disk on fire"});
    EXPECT_EQ(volume_now().message, "disk on fire");
    reconcile_volumes(desk);
    EXPECT_EQ(command_of(v), nullptr) << "not at once";
    pass(5), reconcile_volumes(desk);
    answer(v, {.done = true});
    EXPECT_EQ(estate.volumes.find(v), nullptr);
    EXPECT_EQ(estate.operations.at(op).phase, OperationPhase::done);
    EXPECT_TRUE(create_volume(desk, {.name = "data", .size = "1Gi"}, "acme")) << "the name is free again";
}

TEST_F(Volumes, OneThatLiesNowhereIsDeletedAtOnce) {
    EXPECT_EQ(delete_volume(desk, v).value()->phase, OperationPhase::done);
    EXPECT_EQ(estate.volumes.find(v), nullptr);
}

TEST_F(Volumes, AFailedCreationEndsTheInstanceAndLeavesTheVolumeFree) {
    ASSERT_TRUE(mount("one"));
    const auto id = find_instance(desk, "acme", "one")->id;
    answer(v, {.code = "exhausted", .reason = "disk_full", .message = "the disk is full"});
    EXPECT_EQ(volume_now().phase, VolumePhase::unbound);
    EXPECT_TRUE(volume_now().host.empty());
    EXPECT_TRUE(zone_of(desk, volume_now()).empty()) << "it may go anywhere, as before";
    EXPECT_EQ(instance(id).phase, InstancePhase::failed);
    EXPECT_EQ(instance(id).reason, "volume_failed");
    report(a), report(a);
    EXPECT_TRUE(instance(id).claim.empty());
}

TEST_F(Volumes, WhatAHostMayYetBeginStaysItsToMake) {
    ASSERT_TRUE(mount("one"));
    const auto id = find_instance(desk, "acme", "one")->id;
    answer(v, {.code = "exhausted", .reason = "journal_failed", .message = "this host cannot remember it"});
    EXPECT_EQ(instance(id).phase, InstancePhase::failed) << "nobody is kept waiting";
    EXPECT_EQ(volume_now().phase, VolumePhase::creating) << "a late copy of the command would make it there";
    EXPECT_EQ(volume_now().host, a);
    pass(5), reconcile_volumes(desk);
    answer(v, {.done = true});
    EXPECT_EQ(volume_now().phase, VolumePhase::available);
}

TEST_F(Volumes, ARefusalUnreadIsNoFailure) {
    ASSERT_TRUE(mount("one"));
    const auto id = find_instance(desk, "acme", "one")->id;
    answer(v, {.code = "conflict", .reason = "stale_epoch"});
    EXPECT_EQ(volume_now().phase, VolumePhase::creating);
    EXPECT_EQ(instance(id).phase, InstancePhase::placed);
    pass(5), reconcile_volumes(desk);
    answer(v, {.done = true});
    EXPECT_EQ(command_of(id)->verb, Verb::start_workload);
}

TEST_F(Volumes, ALateAnswerToTheCreationSaysNothingOfTheDeletion) {
    ASSERT_TRUE(mount("one"));
    const auto id = find_instance(desk, "acme", "one")->id;
    const std::string create = command_of(v)->id;
    delete_instance(desk, id, "test");
    answer(id, {.done = true});
    ASSERT_TRUE(delete_volume(desk, v));
    note_answer(desk, a, create, {.done = true});
    EXPECT_EQ(volume_now().phase, VolumePhase::deleting);
}

TEST_F(Volumes, AWantedZoneIsKept) {
    host("b", "lon", 4);
    volume("far", "acme", "lon");
    ASSERT_TRUE(mount("one", false, "far"));
    EXPECT_EQ(find_instance(desk, "acme", "one")->zone, "lon") << "though there is stock in nj";
    volume("near", "acme", "nj");
    volume("off", "acme", "lon");
    auto wanted = request("two");
    wanted.template_.volumes = {{"near", "/a"}, {"off", "/b"}};
    EXPECT_EQ(start(wanted).error().fields.at(0).path, "template.volumes[1].name");
    wanted.template_.volumes = {{"near", "/a"}};
    wanted.zone = "lon";
    EXPECT_EQ(start(wanted).error().fields.at(0).path, "template.volumes[0].name");
    EXPECT_EQ(
        create_volume(desk, {.name = "x", .size = "1Gi", .zone = "mars"}, "acme").error().fields.at(0).path,
        "zone");
    EXPECT_EQ(create_volume(desk, {.name = "near", .size = "1Gi"}, "acme").error().reason, "volume_exists");
    EXPECT_TRUE(create_volume(desk, {.name = "near", .size = "1Gi"}, "globex"));
}

TEST_F(Volumes, GrowsWhileItIsInUse) {
    ASSERT_TRUE(mount("one"));
    constexpr std::int64_t gib = std::int64_t{1} << 30;
    EXPECT_EQ(resize_volume(desk, v, 2 * gib).error().reason, "volume_busy") << "its host makes it";
    answer(v, {.done = true});
    const auto operation = resize_volume(desk, v, 2 * gib);
    ASSERT_TRUE(operation) << operation.error().message;
    const std::string op = (*operation)->id;
    EXPECT_EQ((*operation)->phase, OperationPhase::running);
    EXPECT_EQ((*operation)->kind, "resizeVolume");
    EXPECT_EQ(volume_now().size_bytes, gib) << "not before its host says so";
    EXPECT_EQ(volume_now().wanted_bytes, 2 * gib);
    EXPECT_EQ(command_of(v)->verb, Verb::create_volume);
    uplink::Command sent;
    ASSERT_TRUE(write_command(desk, 1, *command_of(v), sent));
    EXPECT_EQ(sent.create_volume().size_bytes(), 2 * static_cast<std::uint64_t>(gib));
    EXPECT_EQ(resize_volume(desk, v, 2 * gib).value()->id, op) << "asked twice, done once";
    EXPECT_EQ(resize_volume(desk, v, 3 * gib).error().reason, "volume_busy");
    answer(v, {.code = "unavailable", .reason = "volume_failed", .message = "the disk hangs"});
    EXPECT_EQ(estate.operations.at(op).phase, OperationPhase::running);
    EXPECT_EQ(volume_now().message, "the disk hangs");
    pass(5), reconcile_volumes(desk);
    answer(v, {.done = true});
    EXPECT_EQ(volume_now().size_bytes, 2 * gib);
    EXPECT_EQ(volume_now().wanted_bytes, 0);
    EXPECT_EQ(volume_now().phase, VolumePhase::available);
    EXPECT_EQ(estate.operations.at(op).phase, OperationPhase::done);
    EXPECT_EQ(estate.operations.at(op).message, "it has 2Gi now");
    reconcile_volumes(desk);
    EXPECT_EQ(command_of(v), nullptr);
    const auto smaller = resize_volume(desk, v, gib);
    ASSERT_FALSE(smaller);
    EXPECT_EQ(smaller.error().message, "volume data has 2Gi, and volumes do not shrink");
    EXPECT_EQ(smaller.error().fields.at(0).path, "size");
    EXPECT_EQ(resize_volume(desk, v, 2 * gib).value()->phase, OperationPhase::done) << "it has that";
}

TEST_F(Volumes, AGrowthThatTheDiskRefusesLeavesItAsItWas) {
    ASSERT_TRUE(mount("one"));
    answer(v, {.done = true});
    constexpr std::int64_t gib = std::int64_t{1} << 30;
    const std::string op = resize_volume(desk, v, 2 * gib).value()->id;
    answer(v, {.code = "exhausted", .reason = "disk_full", .message = "the disk is full"});
    EXPECT_EQ(volume_now().size_bytes, gib);
    EXPECT_EQ(volume_now().wanted_bytes, 0);
    EXPECT_EQ(volume_now().phase, VolumePhase::available);
    EXPECT_EQ(estate.operations.at(op).phase, OperationPhase::failed);
    EXPECT_EQ(estate.operations.at(op).code, "disk_full");
    reconcile_volumes(desk);
    EXPECT_EQ(command_of(v), nullptr);
    // A late answer to what is over changes nothing, and one that is deleted grows no more.
    ASSERT_TRUE(resize_volume(desk, v, 2 * gib));
    const std::string late = command_of(v)->id;
    answer(find_instance(desk, "acme", "one")->id, {.message = "test", .absent = true});
    ASSERT_TRUE(delete_volume(desk, v));
    note_answer(desk, a, late, {.done = true});
    EXPECT_EQ(volume_now().phase, VolumePhase::deleting);
    EXPECT_EQ(volume_now().size_bytes, gib);
}

TEST_F(Volumes, OneThatLiesNowhereGrowsAtOnce) {
    EXPECT_EQ(resize_volume(desk, v, std::int64_t{3} << 30).value()->phase, OperationPhase::done);
    EXPECT_EQ(volume_now().size_bytes, std::int64_t{3} << 30);
    EXPECT_EQ(volume_now().phase, VolumePhase::unbound);
}

TEST_F(Volumes, TheirSumIsNoMoreThanTheDisk) {
    constexpr std::int64_t gib = std::int64_t{1} << 30;
    host("b", "nj", 1);
    HOSTLER_ASSERT(stock(1));
    estate.hosts.edit(a).facts.disk_bytes = 100 * gib;
    estate.hosts.edit(a).facts.volume_bytes = 3 * gib;
    estate.hosts.edit("h-b").facts.volumes_refused = "its agent may not mount: run it as root";
    HOSTLER_ASSERT(create_volume(desk, {.name = "large", .size = "2Gi"}, "acme"));
    HOSTLER_ASSERT(create_volume(desk, {.name = "more", .size = "1Gi"}, "acme"));
    ASSERT_TRUE(mount("one"));
    EXPECT_EQ(volume_now().host, a) << "the other host keeps none, though it has stock";
    answer(v, {.done = true});
    EXPECT_EQ(resize_volume(desk, v, 4 * gib).error().reason, "disk_full");
    ASSERT_TRUE(mount("two", false, "large"));
    ASSERT_TRUE(delete_stock(desk, {.number = 1, .spec_name = "small"}));
    const auto refused = mount("three", false, "more");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "insufficient_capacity");
    EXPECT_NE(refused.error().message.find("2 hosts lack disk"), std::string::npos)
        << refused.error().message;
    EXPECT_EQ(resize_volume(desk, v, gib + 1).error().reason, "disk_full");
    EXPECT_TRUE(start(request("four"))) << "what needs no volume goes anywhere";
    ASSERT_FALSE(create_volume(desk, {.name = "tiny", .size = "1Mi"}, "acme"));
}

TEST_F(Volumes, TheDefaultStandsForMountsThatNameNone) {
    auto wanted = request("one");
    wanted.storage_id = "data";
    wanted.template_.volumes = {{"", "/a"}, {"scratch", "/b"}};
    ASSERT_TRUE(start(wanted));
    for (const auto& mounted : find_instance(desk, "acme", "one")->spec.volumes) EXPECT_EQ(mounted.volume, v);
}

TEST_F(Volumes, ARemovedHostTakesThemWithIt) {
    ASSERT_TRUE(mount("one"));
    ASSERT_TRUE(remove_host(desk, a, true));
    EXPECT_EQ(estate.volumes.find(v), nullptr);
}

// ── Subnets

TEST(Subnets, OnePerProjectAndHost) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 8), b = rig.host("b", "lon", 8);
    const auto one = subnet_for(rig.desk, {"acme", "default", a}).value()->id;
    EXPECT_EQ(subnet_for(rig.desk, {"acme", "default", a}).value()->id, one);
    EXPECT_NE(subnet_for(rig.desk, {"globex", "default", a}).value()->id, one)
        << "another tenant's is another";
    EXPECT_NE(subnet_for(rig.desk, {"acme", "lab", a}).value()->id, one) << "so is another project's";
    EXPECT_NE(subnet_for(rig.desk, {"acme", "default", b}).value()->id, one);
    EXPECT_EQ(rig.estate.networks.all().size(), 3u) << "one network per project";
    std::set<std::uint32_t> indexes;
    for (const auto& [id, subnet] : rig.estate.subnets.all())
        EXPECT_TRUE(indexes.insert(subnet.index).second);
}

TEST(Subnets, TheLastOneOutClosesIt) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(2));
    const auto one = rig.running("one"), two = rig.running("two");
    const std::string subnet = rig.instance(one).subnet;
    EXPECT_EQ(rig.instance(two).subnet, subnet);
    EXPECT_NE(rig.instance(two).address, rig.instance(one).address);
    for (const auto& id : {one, two}) {
        EXPECT_FALSE(rig.estate.subnets.at(subnet).leaving);
        delete_instance(rig.desk, id, "test");
        rig.said[a].erase(id);
        rig.answer(id, {.done = true});
    }
    EXPECT_TRUE(rig.estate.subnets.at(subnet).leaving);
    EXPECT_EQ(rig.command_of(subnet)->verb, Verb::remove_network);
    const auto three = rig.started("three");
    EXPECT_NE(rig.instance(three).subnet, subnet) << "one on its way out is not used again";
    rig.answer(subnet, {.message = "busy"});
    reconcile_subnets(rig.desk);
    EXPECT_EQ(rig.command_of(subnet), nullptr);
    rig.pass(5), reconcile_subnets(rig.desk);
    rig.answer(subnet, {.done = true});
    EXPECT_EQ(rig.estate.subnets.find(subnet), nullptr);
}

TEST(Subnets, AUsedUpPoolIsSaidAndGivesThePlaceBack) {
    DeskRig rig{"10.0.0.0/24"};
    rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    rig.started("one");
    ASSERT_TRUE(rig.stock(1));
    const auto claims = rig.estate.claims.all().as_map();
    for (int stocked = 0; stocked < 2; ++stocked) {
        const auto refused = rig.start(rig.request("two", "globex"));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().reason, "no_subnet");
        EXPECT_EQ(rig.estate.instances.all().size(), 1u);
        EXPECT_EQ(rig.estate.networks.all().size(), 1u);
        if (stocked == 0) {
            EXPECT_EQ(rig.estate.claims.all().as_map(), claims);
            ASSERT_TRUE(delete_stock(rig.desk, {.number = 1, .spec_name = "small"}));
        }
    }
    EXPECT_EQ(rig.estate.claims.all().size(), 1u);
    EXPECT_TRUE(rig.start(rig.request("two"))) << "who has a subnet there needs no other";
}

}  // namespace
}  // namespace hostler::master
