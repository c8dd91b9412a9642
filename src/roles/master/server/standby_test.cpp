#include "roles/master/server/standby.h"

#include <gtest/gtest.h>

#include "roles/master/testing/term_rig.h"

namespace hostler::master {
namespace {

using hostler::testing::try_run;

struct StandbyTest : ::testing::Test, testing::TermRig {
    StandbyTest() {
        store.objects.emplace(std::pair{"sealing_key", "k-0"}, testing::PlainSealer::record("k-0"));
    }

    static Object zone(const std::string& name, const std::string& place = "", bool live = true) {
        return {.kind = "zone",
                .id = name,
                .created = 1,
                .version = 1,
                .live = live,
                .body = encode_body(Zone{.name = name, .place = place})};
    }
    void put(Object object) { store.objects[{object.kind, object.id}] = std::move(object); }
    // Catches up, however many turns of the loop it takes.
    Result<> catch_up() {
        auto done = try_run(loop, standby.catch_up());
        if (done) return *done;
        std::optional<Result<>> ended;
        TaskGroup group{loop};
        group.start("catch up", [](Standby& copy, std::optional<Result<>>& into) -> Task<> {
            into = co_await copy.catch_up();
            co_return Result<>{};
        }(standby, ended));
        while (!ended) timers.advance(Duration{1});
        (void)try_run(loop, group.close());
        return *ended;
    }
    Standby standby{ports};
};

TEST_F(StandbyTest, ReadsEverythingOnceAndThenWhatChanged) {
    put(zone("stays"));
    put(zone("changes"));
    put(zone("ends"));
    put(zone("goes"));
    ASSERT_TRUE(catch_up());
    EXPECT_EQ(standby.loads(), 1u);
    store.since.push_back({.number = 9,
                           .live = {zone("changes", "Jersey"), zone("ends", "", false), zone("new")},
                           .whole = false,
                           .gone = {{"zone", "goes"}, {"zone", "never was"}, {"kind of later", "x"}}});
    ASSERT_TRUE(catch_up());
    EXPECT_EQ(standby.loads(), 1u);
    EXPECT_EQ(standby.number(), 9u);
    const Estate estate = standby.take();
    std::vector<std::string> names;
    for (const auto& [name, row] : estate.zones.all()) names.push_back(name + ":" + row.place);
    EXPECT_EQ(names, (std::vector<std::string>{"changes:Jersey", "new:", "stays:"}));
    EXPECT_TRUE(estate.unchanged()) << "nothing of it is to be written";
    EXPECT_FALSE(standby.loaded()) << "the term has it now";
}

TEST_F(StandbyTest, BeginsWithEverythingWhereTheStoreCannotTell) {
    put(zone("before"));
    ASSERT_TRUE(catch_up());
    store.objects.erase({"zone", "before"});
    put(zone("after"));
    ASSERT_TRUE(catch_up());
    EXPECT_EQ(standby.loads(), 2u);
    const Estate estate = standby.take();
    EXPECT_FALSE(estate.zones.find("before"));
    EXPECT_TRUE(estate.zones.find("after"));
}

TEST_F(StandbyTest, ReadsManyObjectsAPartAtATime) {
    for (int i = 0; i < 1000; ++i) put(zone(fmt::format("z{}", i)));
    EXPECT_FALSE(try_run(loop, standby.catch_up())) << "the loop has its turn meanwhile";
    ASSERT_TRUE(catch_up());
    EXPECT_EQ(standby.take().zones.all().size(), 1000u);
}

TEST_F(StandbyTest, SetsAsideWhatCannotBeReadAndReadsItWhenItCan) {
    put({.kind = "instance", .id = "i-1", .version = 1, .body = "{"});
    put({.kind = "instance", .id = "i-2", .version = 1, .body = encode_body(Instance{.id = "i-2"})});
    put(zone("one"));
    ASSERT_TRUE(catch_up());
    store.since.push_back(
        {.number = 2, .unreadable = {{"instance", "i-2", "its checksum differs"}}, .whole = false});
    ASSERT_TRUE(catch_up());
    store.since.push_back(
        {.number = 3,
         .live =
             {{.kind = "instance", .id = "i-1", .version = 3, .body = encode_body(Instance{.id = "i-1"})}},
         .whole = false});
    ASSERT_TRUE(catch_up());
    const Estate estate = standby.take();
    EXPECT_TRUE(estate.instances.find("i-1"));
    EXPECT_FALSE(estate.instances.find("i-2")) << "what was there before is not what the store has";
    ASSERT_EQ(estate.unreadable().size(), 1u);
    EXPECT_EQ(estate.unreadable().at({"instance", "i-2"}), "its checksum differs");
    EXPECT_TRUE(estate.unchanged()) << "its row stays as it is";
}

TEST_F(StandbyTest, NobodyLeadsWithoutAClaimThatCannotBeRead) {
    put(zone("one"));
    ASSERT_TRUE(catch_up());
    store.since.push_back(
        {.number = 2, .live = {{.kind = "claim", .id = "c-1", .version = 2, .body = "{"}}, .whole = false});
    const auto refused = catch_up();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "row_damaged");
    EXPECT_NE(refused.error().message.find("`hostler store drop claim c-1`"), std::string::npos);
    EXPECT_FALSE(standby.loaded());
    ASSERT_TRUE(catch_up());
    EXPECT_EQ(standby.loads(), 2u);
}

}  // namespace
}  // namespace hostler::master
