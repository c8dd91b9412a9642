// Backups of stores that are in use.
#include "adapters/sqlite/tables.h"
#include "copy_rig.h"
#include "sim_rig.h"
#include "sql/check.h"

namespace hostler::contract {

namespace {

class Backups : public ::testing::TestWithParam<Database> {
protected:
    Place place{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Both, Backups, ::testing::Values(Database::sqlite, Database::postgres),
                         [](const auto& info) {
                             return info.param == Database::sqlite ? "sqlite" : "postgres";
                         });

std::string all_of(Loop& loop, Backup& backup) {
    std::string all;
    while (true) {
        const auto piece = testing::run_real(loop, backup.next());
        EXPECT_TRUE(piece) << piece.error().message;
        if (!piece || piece->empty()) return all;
        all += *piece;
    }
}

Changes one_more(std::uint64_t epoch, std::uint64_t number) {
    Changes changes{.epoch = epoch, .number = number};
    const std::string id = fmt::format("late-{}", number);
    changes.put.push_back(
        {.kind = "claim", .id = id, .tenant = "acme", .phase = "instance", .body = std::string(20'000, 'x')});
    changes.ledger.push_back({WallTime{}, id, "h-1", "acme", "instance", "{}"});
    return changes;
}

// Of one moment, though commits go on from before it is begun until after its last piece.
TEST_P(Backups, ABackupIsMadeWhileCommitsGoOn) {
    place.fill(3000);
    auto store = place.open().value();
    const auto epoch = place.lead(*store);
    std::uint64_t number = place.run(store->load())->number;
    const std::uint64_t before = number;
    const auto commits = [&](int count) {
        std::vector<Task<>> calls;
        for (int i = 0; i < count; ++i) calls.push_back(store->commit(one_more(epoch, ++number)));
        for (auto& call : calls) ASSERT_TRUE(place.run(std::move(call)));
    };
    std::string file;
    bool done = false;
    const auto make = [](Store& from, std::string& into, bool& over) -> Task<> {
        const auto backup =
            CO_TRY(co_await from.backup(WallTime{std::chrono::seconds{1'700'000'000}}, digest));
        while (true) {
            const auto piece = CO_TRY(co_await backup->next());
            if (piece.empty()) break;
            into += piece;
        }
        over = true;
        co_return Result<>{};
    };
    TaskGroup group{place.loop};
    group.start("backup", make(*store, file, done));
    for (int round = 0; round < 1000 && !done; ++round) commits(3);
    ASSERT_TRUE(done);
    ASSERT_TRUE(place.run(store->resign()));
    ASSERT_TRUE(place.run(store->load()));  // What ends the backup is done by then.
    store.reset();
    Place other{GetParam()};
    {
        auto target = other.alone().value();
        const auto head = restored(file, *target);
        ASSERT_TRUE(head) << head.error().message;
        EXPECT_GE(head->number, before);
        EXPECT_LE(head->number, number);
        const auto wrong = sql::check(*target);
        ASSERT_TRUE(wrong) << wrong.error().message;
        EXPECT_TRUE(wrong->empty()) << wrong->front().subject << ": " << wrong->front().message;
        std::uint64_t late = 0;
        ASSERT_TRUE(
            target->run("SELECT count(*) FROM objects WHERE tenant = 'acme' AND id > 'late' AND id < 'latf'",
                        {}, [&](const sql::Row& row) { late = row.number(0); }));
        EXPECT_EQ(late, head->number - before) << "every commit up to that moment, and none after it";
    }
    if (GetParam() == Database::sqlite) {
        EXPECT_FALSE(std::filesystem::exists(place.file() + "-backup"));
    }
}

TEST_P(Backups, ABackupThatIsLeftOrWhoseStoreGoesLeavesNothing) {
    place.fill(3000);
    auto store = place.open().value();
    place.lead(*store);
    {
        auto backup = place.run(store->backup(WallTime{}, digest)).value();
        ASSERT_TRUE(place.run(backup->next()));
        if (GetParam() == Database::sqlite) {
            const auto second = place.run(store->backup(WallTime{}, digest));
            ASSERT_FALSE(second);
            EXPECT_EQ(second.error().reason, "backup_under_way");
        }
    }
    auto backup = place.run(store->backup(WallTime{}, digest));
    ASSERT_TRUE(backup) << backup.error().message;
    EXPECT_TRUE(sql::verify({bytes_of(all_of(place.loop, **backup)), digest}));
    backup->reset();
    ASSERT_TRUE(place.run(store->load()));  // What ends it is done by then.
    EXPECT_FALSE(std::filesystem::exists(place.file() + "-backup"));
}

TEST(CopyAside, ADiskWithoutRoomKeepsItsStore) {
    SimRig rig{5};
    auto store = rig.open().value();
    const auto run = [&](auto task) { return testing::run_real(rig.loop, std::move(task)); };
    const auto epoch = run(store->lead({"m-1", "here"}, std::chrono::seconds{60}, 0)).value().epoch;
    std::uint64_t number = 0;
    while (number < 60) ASSERT_TRUE(run(store->commit(one_more(epoch, ++number))));
    rig.vfs.capacity = rig.vfs.used() + 300'000;
    const auto refused = run(store->backup(WallTime{}, digest));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::exhausted) << refused.error().message;
    EXPECT_EQ(refused.error().reason, "disk_full");
    ASSERT_TRUE(run(store->load()));
    EXPECT_FALSE(rig.vfs.exists("store.db-backup"));
    EXPECT_TRUE(run(store->commit(one_more(epoch, ++number)))) << "the store has its room back";
    rig.vfs.capacity = UINT64_MAX;
    auto backup = run(store->backup(WallTime{}, digest));
    ASSERT_TRUE(backup) << backup.error().message;
    EXPECT_TRUE(sql::verify({bytes_of(all_of(rig.loop, **backup)), digest}));
    backup->reset();
    ASSERT_TRUE(run(store->load()));
}

TEST(CopyAside, AStoreThatIsOpenedAnewEndsIt) {
    sim::SimVfs vfs{6};
    auto tables = sqlite::Tables::open("store.db", {.vfs = vfs.name()}).value();
    const auto lead = [&] { return tables->lead({"m-1", "here"}, std::chrono::seconds{60}, 0); };
    const auto epoch = lead().value().epoch;
    std::uint64_t number = 0;
    while (number < 60) ASSERT_TRUE(tables->commit({one_more(epoch, ++number)}).front());
    auto reading = tables->begin_reading().value();
    ASSERT_TRUE(reading->prepare().value()) << "there is more to copy";
    vfs.fail_call(1);
    EXPECT_EQ(tables->commit({one_more(epoch, ++number)}).front().error().code, Code::unavailable);
    ASSERT_TRUE(lead());
    const auto ended = reading->prepare();
    ASSERT_FALSE(ended) << "it was of a connection that has gone";
    EXPECT_EQ(ended.error().code, Code::unavailable);
    EXPECT_EQ(tables->begin_reading().error().reason, "backup_under_way");
    reading.reset();
    EXPECT_FALSE(vfs.exists("store.db-backup"));
    EXPECT_TRUE(tables->begin_reading());
}

}  // namespace

}  // namespace hostler::contract
