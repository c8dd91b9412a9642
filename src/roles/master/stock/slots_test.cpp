#include "roles/master/stock/slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types_placement.h"
#include "api/types_stock.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;

int count(const DeskRig& rig, SlotPhase phase) {
    return static_cast<int>(std::ranges::count_if(
        rig.estate.slots.all(), [&](const auto& row) { return row.second.phase == phase; }));
}

std::map<std::string, int> zones_of(const DeskRig& rig) {
    std::map<std::string, int> zones;
    for (const auto& [id, claim] : rig.estate.claims.all()) ++zones[claim.zone];
    return zones;
}

TEST(Stock, IsMadeInBothZones) {
    DeskRig rig;
    rig.host("a", "nj", 8);
    rig.host("b", "lon", 3);
    ASSERT_TRUE(rig.stock(4));
    EXPECT_EQ(zones_of(rig), (std::map<std::string, int>{{"lon", 2}, {"nj", 2}}));
    ASSERT_TRUE(rig.stock(4)) << "number is an increment";
    EXPECT_EQ(zones_of(rig), (std::map<std::string, int>{{"lon", 3}, {"nj", 5}}))
        << "where there is room, when the zones are not alike";
    ASSERT_TRUE(rig.stock(1, "small", "nj"));
    EXPECT_EQ(zones_of(rig)["nj"], 6);
    EXPECT_EQ(count(rig, SlotPhase::idle), 9);
    std::set<std::string> gpus;
    std::set<std::pair<std::string, int>> places;
    for (const auto& [id, claim] : rig.estate.claims.all()) {
        for (const auto& gpu : claim.gpus) EXPECT_TRUE(gpus.insert(gpu).second) << gpu;
        EXPECT_TRUE(places.emplace(claim.host, claim.address_index).second);
        EXPECT_EQ(rig.estate.slots.at(claim.holder).claim, id);
        EXPECT_EQ(claim.cpu_milli, 4000);
        EXPECT_EQ(claim.memory_bytes, std::int64_t{16} << 30);
    }
    EXPECT_EQ(gpus.size(), 9u);
}

TEST(Stock, IsMadeWholeOrNotAtAll) {
    DeskRig rig;
    rig.host("a", "nj", 3);
    (void)rig.take();
    const auto refused = rig.stock(4);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_EQ(refused.error().reason, "insufficient_capacity");
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("3 of 4 slots fit"));
    EXPECT_FALSE(refused.error().help.empty());
    EXPECT_TRUE(rig.estate.unchanged());
    EXPECT_TRUE(rig.stock(3));
}

TEST(Stock, WhoCountedBeforeSomebodyElseChangedItIsRefused) {
    DeskRig rig;
    rig.host("a", "nj", 8);
    rig.host("b", "lon", 8);
    const auto add = [&](int wanted, std::optional<std::string> zone = {}) {
        return create_stock(rig.desk, {.number = 2, .spec_name = "small", .zone = zone, .if_wanted = wanted});
    };
    ASSERT_TRUE(rig.stock(2, "small", "nj"));
    (void)rig.take();
    const auto late = add(0);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::conflict);
    EXPECT_EQ(late.error().reason, "stock_changed");
    EXPECT_THAT(late.error().message, ::testing::HasSubstr("2 slots of small are wanted now, not 0"));
    EXPECT_TRUE(rig.estate.unchanged());
    ASSERT_TRUE(add(2));
    EXPECT_FALSE(add(2));
    const int in_lon = zones_of(rig)["lon"];
    EXPECT_FALSE(add(in_lon + 1, "lon"));
    EXPECT_TRUE(add(in_lon, "lon")) << "of the zone that is named";
    EXPECT_EQ(delete_stock(rig.desk, {.number = 1, .spec_name = "small", .if_wanted = 5}).error().reason,
              "stock_changed");
    EXPECT_TRUE(delete_stock(rig.desk, {.number = 1, .spec_name = "small", .if_wanted = 6}));
}

TEST(Stock, ASpecIsSaidOnce) {
    DeskRig rig;
    rig.host("a");
    const auto unknown = create_stock(rig.desk, {.number = 1, .spec_name = "small", .cpu = "1"});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, Code::invalid);
    std::vector<std::string> fields;
    for (const auto& field : unknown.error().fields) fields.push_back(field.path);
    EXPECT_EQ(fields, (std::vector<std::string>{"memory", "gpuType", "gpuNum"}));
    ASSERT_TRUE(rig.stock(1));
    EXPECT_TRUE(create_stock(rig.desk, {.number = 1, .spec_name = "small"}));
    EXPECT_TRUE(
        create_stock(rig.desk, {.number = 1, .spec_name = "small", .cpu = "4000m", .memory = "16384Mi"}))
        << "the same said otherwise";
    const auto other = create_stock(
        rig.desk, {.number = 1, .spec_name = "small", .cpu = "5", .memory = "16Gi", .gpu_num = 2});
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().reason, "spec_differs");
    fields.clear();
    for (const auto& field : other.error().fields) fields.push_back(field.path);
    EXPECT_EQ(fields, (std::vector<std::string>{"cpu", "gpuNum"}));
    const auto nowhere = rig.stock(1, "small", "mars");
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().code, Code::invalid);
    EXPECT_EQ(nowhere.error().fields.at(0).path, "zone");
}

TEST(Stock, OnlyIdleSlotsAreTakenAway) {
    DeskRig rig;
    rig.host("a", "nj", 4);
    rig.host("b", "lon", 1);
    ASSERT_TRUE(rig.stock(4));
    rig.started("one");
    (void)rig.take();
    const auto more = delete_stock(rig.desk, {.number = 4, .spec_name = "small"});
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().reason, "not_idle");
    EXPECT_TRUE(rig.estate.unchanged());
    EXPECT_EQ(delete_stock(rig.desk, {.number = 1, .spec_name = "huge"}).error().code, Code::not_found);
    EXPECT_EQ(delete_stock(rig.desk, {.number = 1, .spec_name = "small", .zone = "mars"}).error().code,
              Code::invalid);
    ASSERT_TRUE(delete_stock(rig.desk, {.number = 3, .spec_name = "small"}));
    EXPECT_EQ(count(rig, SlotPhase::idle), 0);
    EXPECT_EQ(count(rig, SlotPhase::used), 1);
    EXPECT_EQ(rig.estate.claims.all().size(), 1u) << "the instance keeps its own";
}

TEST(Stock, SlotsWithoutAPlaceGoFirst) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 2);
    rig.host("b", "nj", 1);
    ASSERT_TRUE(rig.stock(3));
    rig.pass(400);
    rig.report("h-b");
    watch_silence(rig.desk, rig.now);
    fill_stock(rig.desk);
    EXPECT_EQ(count(rig, SlotPhase::pending), 2) << "a is lost, and b is full";
    EXPECT_EQ(count(rig, SlotPhase::idle), 1);
    ASSERT_TRUE(delete_stock(rig.desk, {.number = 2, .spec_name = "small"}));
    EXPECT_EQ(count(rig, SlotPhase::idle), 1);
}

TEST(Stock, MovesFromALostHostAndComesBackWhereThereIsRoom) {
    DeskRig rig;
    rig.host("a", "nj", 2);
    rig.host("b", "nj", 1);
    ASSERT_TRUE(rig.stock(3));
    rig.pass(40);
    rig.report("h-b");
    watch_silence(rig.desk, rig.now);
    fill_stock(rig.desk);
    EXPECT_EQ(count(rig, SlotPhase::idle), 3) << "one that is only unreachable keeps its own";
    rig.pass(300);
    rig.report("h-b");
    watch_silence(rig.desk, rig.now);
    fill_stock(rig.desk);
    EXPECT_EQ(count(rig, SlotPhase::pending), 2);
    for (const auto& [id, slot] : rig.estate.slots.all())
        if (slot.phase == SlotPhase::pending) EXPECT_FALSE(slot.message.empty()) << "and says why";
    rig.report("h-a");
    EXPECT_EQ(count(rig, SlotPhase::idle), 3);
    for (const auto& [id, slot] : rig.estate.slots.all()) EXPECT_TRUE(slot.message.empty());
}

TEST(Stock, IsFilledAfterUncordon) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 1);
    ASSERT_TRUE(rig.stock(1));
    const auto instance = rig.running("one");
    ASSERT_TRUE(cordon_host(rig.desk, a, true));
    delete_instance(rig.desk, instance, "test");
    rig.said[a].clear();
    rig.answer(instance, {.done = true});
    EXPECT_EQ(rig.instance(instance).phase, InstancePhase::stopped);
    EXPECT_EQ(count(rig, SlotPhase::pending), 1) << "a cordoned host takes nothing new";
    EXPECT_TRUE(rig.estate.claims.all().empty());
    ASSERT_TRUE(cordon_host(rig.desk, a, false));
    EXPECT_EQ(count(rig, SlotPhase::idle), 1);
}

// Most ask for a GPU with four CPUs. On the first host, the fullest, a slot of six leaves a GPU without CPUs.
TEST(Stock, GoesWhereItHurtsLeast) {
    DeskRig rig;
    rig.host("a", "nj", 2), rig.host("b", "nj", 3), rig.host("c", "nj", 8);
    rig.estate.hosts.edit("h-a").facts.cpus = 8;
    rig.estate.specs.add(
        {.name = "small", .cpu_milli = 4000, .memory_bytes = 1 << 30, .gpu_type = "H100", .gpu_count = 1});
    auto asked = DeskRig::request("one");
    asked.placement = api::Placement{.hosts = {"c"}};
    for (int i = 0; i < 8; ++i) {
        asked.instance_id = fmt::format("small-{}", i);
        ASSERT_TRUE(rig.start(asked));
    }
    ASSERT_TRUE(create_stock(
        rig.desk,
        {.number = 1, .spec_name = "wide", .cpu = "6", .memory = "1Gi", .gpu_type = "H100", .gpu_num = 1}));
    EXPECT_EQ(rig.estate.claims.at(rig.estate.slots.all().begin()->second.claim).host, "h-b");
}

TEST(Stock, GivesTheOldestOnAHostThatWorks) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 1);
    ASSERT_TRUE(rig.stock(1));
    (void)rig.take();
    const auto b = rig.host("b", "lon", 1);
    ASSERT_TRUE(rig.stock(1));
    (void)rig.take();
    const auto host_of = [&](const Slot* slot) { return slot ? rig.estate.claims.at(slot->claim).host : ""; };
    EXPECT_EQ(host_of(idle_slot(rig.desk, "small", {}, "", nullptr)), a);
    EXPECT_EQ(host_of(idle_slot(rig.desk, "small", {.zone = "lon"}, "", nullptr)), b);
    EXPECT_EQ(host_of(idle_slot(rig.desk, "small", {.host = b}, "", nullptr)), b);
    EXPECT_EQ(idle_slot(rig.desk, "small", {.zone = "lon", .host = a}, "", nullptr), nullptr);
    EXPECT_EQ(idle_slot(rig.desk, "large", {}, "", nullptr), nullptr);
    EXPECT_EQ(host_of(idle_slot(rig.desk, "small", {.volume_bytes = 1}, "", nullptr)), a);
    EXPECT_EQ(idle_slot(rig.desk, "small", {.volume_bytes = std::int64_t{1} << 60}, "", nullptr), nullptr)
        << "no host has room for its volumes";
    ASSERT_TRUE(cordon_host(rig.desk, a, true));
    EXPECT_EQ(host_of(idle_slot(rig.desk, "small", {}, "", nullptr)), b);
}

}  // namespace
}  // namespace hostler::master
