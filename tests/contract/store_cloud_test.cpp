// A store knows of which cloud it is: a lost one does not become a new cloud, nor another one take its place.
#include <gmock/gmock.h>

#include <fstream>

#include "adapters/sim/vfs.h"
#include "adapters/sqlite/tables.h"
#include "copy_rig.h"

namespace hostler::contract {

namespace {

using ::testing::HasSubstr;

class StoreOfACloud : public ::testing::TestWithParam<Database> {
protected:
    using Asked = std::shared_ptr<sql::Cloud>;
    static Asked asked(std::uint64_t mark, std::uint64_t fresh = 77) {
        return std::make_shared<sql::Cloud>(sql::Cloud{.mark = mark, .fresh = fresh, .authority = "/a"});
    }
    static Result<std::unique_ptr<Store>> open(Place& place, const Asked& cloud) {
        if (place.kind == Database::sqlite) return open_sqlite(place.file(), *place.worker, {.cloud = cloud});
        return open_postgres(place.url, *place.worker, *place.lease_worker, {.cloud = cloud});
    }
    static bool has_tables(Place& place) {
        if (place.kind == Database::sqlite) return std::filesystem::exists(place.file());
        return !place.alone().value()->forms()->empty();
    }
    static void expect_refused(Place& place, const Asked& cloud, const std::string& reason,
                               const std::string& words) {
        const auto refused = open(place, cloud);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().reason, reason) << refused.error().message;
        EXPECT_THAT(refused.error().message, HasSubstr(words));
        EXPECT_THAT(refused.error().message, HasSubstr("/a")) << "the authority";
    }
    Place place{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Both, StoreOfACloud, ::testing::Values(Database::sqlite, Database::postgres),
                         [](const auto& info) {
                             return info.param == Database::sqlite ? "sqlite" : "postgres";
                         });

TEST_P(StoreOfACloud, GetsItsNumberAtTheFirstStartAndKeepsIt) {
    const auto first = asked(0, 41), second = asked(0, 42), third = asked(41, 43);
    ASSERT_TRUE(open(place, first));
    EXPECT_EQ(first->mark, 41u);
    ASSERT_TRUE(open(place, second)) << "a start that ended before it wrote the mark";
    EXPECT_EQ(second->mark, 41u);
    ASSERT_TRUE(open(place, third)) << "empty, but known: nothing was ever committed";
    place.fill(20);
    ASSERT_TRUE(open(place, third));
    const auto standby = asked(0);
    standby->in_use = true;
    ASSERT_TRUE(open(place, standby)) << "another master of the same cloud";
    EXPECT_EQ(standby->mark, 41u);
}

TEST_P(StoreOfACloud, AnOlderStoreGetsTheMarkOfItsAuthority) {
    place.fill(20);
    const auto unmarked = asked(0, 41);
    unmarked->in_use = true;
    ASSERT_TRUE(open(place, unmarked));
    EXPECT_EQ(unmarked->mark, 41u);
    Place restored_from_before{GetParam()};
    restored_from_before.fill(20);
    const auto marked = asked(5);
    ASSERT_TRUE(open(restored_from_before, marked));
    EXPECT_EQ(marked->mark, 5u);
    expect_refused(restored_from_before, asked(6), "store_of_another_cloud", "0000000000000005");
}

TEST_P(StoreOfACloud, ALostStoreIsRefusedAndNothingIsMade) {
    expect_refused(place, asked(5), "store_lost", "--new-store");
    EXPECT_FALSE(has_tables(place));
    const auto with_sealing_keys = asked(0);
    with_sealing_keys->in_use = true;
    expect_refused(place, with_sealing_keys, "store_lost", "hostler restore FILE --to");
    EXPECT_FALSE(has_tables(place));
    if (GetParam() == Database::sqlite) {
        std::ofstream{place.file()};
        expect_refused(place, asked(5), "store_lost", place.file());
        EXPECT_EQ(std::filesystem::file_size(place.file()), 0u);
    }
    // Tables without a single commit are no cloud either.
    ASSERT_TRUE(place.open());
    expect_refused(place, asked(5), "store_lost", "missing or empty");
}

TEST_P(StoreOfACloud, ANewCloudIsBegunOnPurposeOnly) {
    const auto begun = asked(5, 41);
    begun->begin = true;
    ASSERT_TRUE(open(place, begun));
    EXPECT_EQ(begun->mark, 41u);
    EXPECT_FALSE(begun->begin) << "not once more by the same master";
    const auto again = asked(5, 42);
    again->begin = true;
    ASSERT_TRUE(open(place, again)) << "the first ended before it wrote its mark";
    EXPECT_EQ(again->mark, 41u);
    place.fill(20);
    const auto left_in = asked(41, 43);
    left_in->begin = true;
    ASSERT_TRUE(open(place, left_in));
    EXPECT_EQ(left_in->mark, 41u);
    const auto other = asked(5, 44);
    other->begin = true;
    expect_refused(place, other, "store_of_another_cloud", "another cloud");
}

TEST_P(StoreOfACloud, ACopyAndABackupAreOfTheSameCloud) {
    ASSERT_TRUE(open(place, asked(0, 41)));
    place.fill(20);
    Place other{GetParam()}, third{GetParam()};
    ASSERT_TRUE(restored(backup_of(*place.alone().value()), *other.alone().value()));
    ASSERT_TRUE(sql::copy(*place.alone().value(), *third.alone().value(), digest));
    for (Place* one : {&other, &third}) {
        EXPECT_TRUE(open(*one, asked(41)));
        expect_refused(*one, asked(42), "store_of_another_cloud", "another cloud");
    }
}

// A file that was replaced under a master that leads again after a failure.
TEST(SqliteOfACloud, AMasterThatOpensItAgainLooksAgain) {
    sim::SimVfs vfs{3};
    const auto cloud = std::make_shared<sql::Cloud>(sql::Cloud{.fresh = 41, .authority = "/a"});
    auto tables = sqlite::Tables::open("store.db", {.vfs = vfs.name(), .cloud = cloud}).value();
    Changes one{.epoch = tables->lead(m1, lease_time, 0)->epoch, .number = 1};
    one.put.push_back({.kind = "instance", .id = "i-1", .body = "{}"});
    ASSERT_TRUE(tables->commit({one}).front());
    ++one.number;
    vfs.fail_call(1);
    ASSERT_FALSE(tables->commit({one}).front());
    cloud->mark = 42;
    const auto led = tables->lead(m1, lease_time, 0);
    ASSERT_FALSE(led);
    EXPECT_EQ(led.error().reason, "store_of_another_cloud");
}

}  // namespace

}  // namespace hostler::contract
