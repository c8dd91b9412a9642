#include "roles/master/state/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> ids(const auto& rows) {
    std::vector<std::string> ids;
    for (const auto* row : rows) ids.push_back(row->id);
    return ids;
}

std::vector<std::string> on(const Estate& estate, const std::string& host) {
    return ids(estate.claims.by().host.of(host));
}

TEST(Index, FindsRowsByTheKeysThatTheyHaveNow) {
    Estate estate;
    estate.claims.add({.id = "c-2", .host = "h-a", .holder = "i-2"});
    estate.claims.add({.id = "c-1", .host = "h-a", .holder = "i-1"});
    estate.claims.add({.id = "c-3", .host = "h-b", .holder = "i-3"});
    EXPECT_THAT(on(estate, "h-a"), ElementsAre("c-1", "c-2")) << "in the order of the table";
    EXPECT_THAT(on(estate, "h-b"), ElementsAre("c-3"));
    EXPECT_EQ(estate.claims.by().host.first("h-a")->id, "c-1");
    EXPECT_EQ(estate.claims.by().host.first("h-c"), nullptr);
    EXPECT_EQ(estate.claims.by().host.count("h-a"), 2u);
    estate.claims.edit("c-2").host = "h-b";
    EXPECT_THAT(on(estate, "h-a"), ElementsAre("c-1"));
    EXPECT_THAT(on(estate, "h-b"), ElementsAre("c-2", "c-3"));
    estate.claims.erase(estate.claims.at("c-1").id);
    estate.claims.retire(estate.claims.at("c-3").id);
    EXPECT_THAT(on(estate, "h-a"), IsEmpty());
    EXPECT_FALSE(estate.claims.by().host.has("h-a"));
    EXPECT_THAT(on(estate, "h-b"), ElementsAre("c-2"));
}

TEST(Index, FindsARowByEachOfItsKeys) {
    Estate estate;
    Instance instance{.id = "i-1", .subnet = "sn-1"};
    instance.left = {{.host = "h-a", .claim = "c-1", .subnet = "sn-2", .since = 1},
                     {.host = "h-b", .claim = "c-2", .subnet = "sn-1", .since = 2}};
    estate.instances.add(instance);
    for (const char* subnet : {"sn-1", "sn-2"})
        EXPECT_THAT(ids(estate.instances.by().subnet.of(subnet)), ElementsAre("i-1")) << subnet;
    estate.instances.edit("i-1").left.clear();
    EXPECT_FALSE(estate.instances.by().subnet.has("sn-2"));
    EXPECT_TRUE(estate.instances.by().subnet.has("sn-1"));
}

TEST(Index, IsUndoneWithATrial) {
    Estate estate;
    for (const char* id : {"c-1", "c-2", "c-3"}) estate.claims.add({.id = id, .host = "h-a"});
    EXPECT_THAT(on(estate, "h-a"), ElementsAre("c-1", "c-2", "c-3"));
    {
        const Estate::Trial trial{estate};
        estate.claims.edit("c-1").host = "h-b";
        estate.claims.erase("c-2");
        estate.claims.retire("c-3");
        estate.claims.add({.id = "c-4", .host = "h-a"});
        EXPECT_THAT(on(estate, "h-a"), ElementsAre("c-4"));
        EXPECT_THAT(on(estate, "h-b"), ElementsAre("c-1"));
    }
    EXPECT_THAT(on(estate, "h-a"), ElementsAre("c-1", "c-2", "c-3"));
    EXPECT_THAT(on(estate, "h-b"), IsEmpty());
    for (const Claim* claim : estate.claims.by().host.of("h-a"))
        EXPECT_EQ(claim, estate.claims.find(claim->id)) << "the row itself";
}

TEST(Index, KnowsWhatWasLoaded) {
    DeskRig rig;
    rig.host("a");
    ASSERT_TRUE(rig.stock(2));
    const std::string id = rig.running("web");
    std::vector<Object> objects = rig.take().put;
    Estate loaded;
    loaded.seal_with(rig.sealer);
    ASSERT_TRUE(loaded.load(objects));
    EXPECT_EQ(on(loaded, "h-a"), on(rig.estate, "h-a"));
    EXPECT_EQ(loaded.instances.by().name.first({"acme", "web"})->id, id);
    Estate moved = std::move(loaded);
    EXPECT_EQ(moved.instances.by().name.first({"acme", "web"}), moved.instances.find(id));
    for (Object& object : objects) object.live = false;
    ASSERT_TRUE(moved.load(objects));
    EXPECT_THAT(on(moved, "h-a"), IsEmpty());
    EXPECT_EQ(moved.instances.by().name.first({"acme", "web"}), nullptr);
}

TEST(Index, HasTimesInTheirOrderAndRowsInTheirs) {
    Estate estate;
    estate.commands.add({.id = "cmd-b", .expires_at = 1});
    estate.commands.add({.id = "cmd-a", .expires_at = 2});
    estate.commands.add({.id = "cmd-c", .expires_at = 3});
    const auto& by = estate.commands.by().expires_at;
    EXPECT_THAT(ids(by.up_to(2)), ElementsAre("cmd-a", "cmd-b"));
    EXPECT_THAT(ids(by.up_to(0)), IsEmpty());
    EXPECT_EQ(*by.last_below(3), 2);
    EXPECT_EQ(by.last_below(1), nullptr);
}

TEST(Index, KnowsTheLowestFreeNumber) {
    Estate estate;
    const auto free = [&](std::uint32_t from = 0) { return estate.subnets.by().number.lowest_free(from); };
    const auto add = [&](std::uint32_t index, const std::string& id) {
        estate.subnets.add({.id = id, .index = index});
    };
    EXPECT_EQ(free(), 0u);
    add(0, "a"), add(2, "c"), add(1, "b"), add(4, "e");
    EXPECT_EQ(free(), 3u);
    EXPECT_EQ(free(4), 5u);
    EXPECT_EQ(free(9), 9u);
    add(1, "also b");
    estate.subnets.erase("b");
    EXPECT_EQ(free(), 3u) << "another one has it";
    estate.subnets.erase("also b");
    EXPECT_EQ(free(), 1u);
    EXPECT_EQ(free(2), 3u);
    estate.subnets.edit("e").index = 1;
    EXPECT_EQ(free(), 3u);
}

TEST(Index, TellsWhichKeysWereTouched) {
    Estate estate;
    estate.claims.add({.id = "c-1", .holder = "i-1"});
    EXPECT_THAT(estate.claims.by().holder.take_touched(), ElementsAre("i-1"));
    EXPECT_THAT(estate.claims.by().holder.take_touched(), IsEmpty());
    estate.claims.edit("c-1").address_index = 7;
    EXPECT_THAT(estate.claims.by().holder.take_touched(), IsEmpty());
    estate.claims.edit("c-1").holder = "i-2";
    EXPECT_THAT(estate.claims.by().holder.take_touched(), ElementsAre("i-1", "i-2"));
    estate.claims.erase("c-1");
    EXPECT_THAT(estate.claims.by().holder.take_touched(), ElementsAre("i-2"));
}

TEST(Follower, IsToldOfWhatChangedAlsoByATrial) {
    Estate estate;
    estate.zones.add({.name = "a"});
    Follower<Zone> first, second;
    EXPECT_THAT(first.changed(estate.zones), ElementsAre("a")) << "everything is new to it";
    estate.zones.add({.name = "b"});
    EXPECT_THAT(second.changed(estate.zones), ElementsAre("a", "b"));
    {
        const Estate::Trial trial{estate};
        Follower<Zone> copy = first, begun;
        EXPECT_THAT(begun.changed(estate.zones), ElementsAre("a", "b"));
        estate.zones.edit("a").place = "x";
        EXPECT_THAT(copy.changed(estate.zones), ElementsAre("a", "b"));
    }
    EXPECT_THAT(first.changed(estate.zones), ElementsAre("a")) << "its copy has asked for b";
    EXPECT_THAT(second.changed(estate.zones), ElementsAre("a"));
    EXPECT_THAT(first.changed(estate.zones), IsEmpty());
}

TEST(Table, CountsTheRowsThatAreLookedAt) {
    Estate estate;
    for (const char* id : {"c-1", "c-2", "c-3"}) estate.claims.add({.id = id, .host = "h-a"});
    auto visits = [&, last = estate.rows_visited()]() mutable {
        return estate.rows_visited() - std::exchange(last, estate.rows_visited());
    };
    for (const auto& [id, claim] : estate.claims.all()) (void)claim;
    EXPECT_EQ(visits(), 3u);
    for (const auto& [id, claim] : estate.claims.all()) {
        (void)claim;
        break;
    }
    EXPECT_EQ(visits(), 1u);
    (void)estate.claims.by().host.of("h-a");
    EXPECT_EQ(visits(), 3u);
    (void)estate.claims.by().host.first("h-a");
    EXPECT_EQ(visits(), 1u);
    EXPECT_TRUE(estate.claims.by().host.has("h-a"));
    EXPECT_EQ(visits(), 0u);
}

}  // namespace
}  // namespace hostler::master
