// The store's promises on SQLite: on the real disk, and on one that fails and loses power.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "adapters/sim/vfs.h"
#include "adapters/sqlite/database.h"
#include "adapters/sqlite/store.h"
#include "sim_rig.h"

namespace hostler::contract {

namespace {

struct Folder {
    Folder() {
        std::string pattern = std::filesystem::temp_directory_path() / "hostler-store-XXXXXX";
        path = ::mkdtemp(pattern.data());
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

class DiskRig : public StoreRig {
public:
    Result<std::unique_ptr<Store>> open() override { return open_sqlite(folder.path / "store.db", *worker); }
    Folder folder;
    std::unique_ptr<Worker> worker = make_worker(loop, "store");
};

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreContract,
                         ::testing::Values(StoreKind{"disk", [] { return std::make_unique<DiskRig>(); }},
                                           StoreKind{"sim", [] { return std::make_unique<SimRig>(1); }},
                                           StoreKind{"sim2", [] { return std::make_unique<SimRig>(2); }}),
                         [](const auto& info) { return info.param.name; });

Changes change(std::uint64_t epoch, std::uint64_t number, std::string id, std::size_t body = 100) {
    Changes changes{.epoch = epoch, .number = number};
    changes.put.push_back({.kind = "instance",
                           .id = std::move(id),
                           .tenant = "acme",
                           .phase = "ready",
                           .generation = 1,
                           .body = std::string(body, 'x')});
    return changes;
}

TEST(Sqlite, ASecondMasterIsToldWhy) {
    DiskRig rig;
    const auto first = rig.open();
    ASSERT_TRUE(first);
    const auto second = rig.open();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
    EXPECT_EQ(second.error().reason, "store_in_use");
    EXPECT_THAT(second.error().message, ::testing::HasSubstr("in use by another master"));
}

TEST(Sqlite, OthersCannotReadTheFiles) {
    DiskRig rig;
    const auto store = rig.open();
    ASSERT_TRUE(store);
    ASSERT_TRUE(testing::run_real(rig.loop, (*store)->lead(m1, lease_time, 0)));
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator{rig.folder.path}) {
        ++files;
        EXPECT_EQ(entry.status().permissions() & std::filesystem::perms{0077}, std::filesystem::perms::none)
            << entry.path();
    }
    EXPECT_GE(files, 3);
}

TEST(Sqlite, SaysThatAFileIsDamaged) {
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{4096}}) {
        SimRig rig{7};
        {
            auto store = rig.open().value();
            const auto epoch = testing::run_real(rig.loop, store->lead(m1, lease_time, 0)).value().epoch;
            for (std::uint64_t i = 1; i < 50; ++i)
                ASSERT_TRUE(
                    testing::run_real(rig.loop, store->commit(change(epoch, i, "i-" + std::to_string(i)))));
        }
        rig.vfs.scribble("store.db", at, std::string(2000, '\x5a'));
        const auto again = rig.open();
        ASSERT_FALSE(again) << at;
        EXPECT_EQ(again.error().reason, "store_damaged") << again.error().message;
        EXPECT_THAT(again.error().message, ::testing::HasSubstr("put a backup in its place"));
    }
}

TEST(Sqlite, RefusesTheFileOfANewerRelease) {
    SimRig rig{7};
    ASSERT_TRUE(rig.open());
    ASSERT_TRUE(
        sqlite::Database::open("store.db", rig.vfs.name())
            .value()
            ->script(
                "PRAGMA locking_mode = EXCLUSIVE; UPDATE meta SET value = 99 WHERE name LIKE 'schema%'"));
    const auto again = rig.open();
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().reason, "store_too_new");
}

TEST(Sqlite, AnAuditLineIsKeptAsItCameAndForGood) {
    SimRig rig{7};
    auto store = rig.open().value();
    Changes changes{.epoch = testing::run_real(rig.loop, store->lead(m1, lease_time, 0)).value().epoch,
                    .number = 1};
    const WallTime at{std::chrono::microseconds{1'700'000'000'000'001}};
    changes.audit.push_back({at, "key/k-1", "203.0.113.7:5000", "deleteVolume", "volume/v-1", "acme", 202,
                             R"({"state":"available"})", R"({"state":"deleting"})"});
    ASSERT_TRUE(testing::run_real(rig.loop, store->commit(changes)));
    ASSERT_TRUE(testing::run_real(rig.loop, store->prune(at + std::chrono::hours{1})));
    store.reset();
    const auto database = sqlite::Database::open("store.db", rig.vfs.name()).value();
    ASSERT_TRUE(database->script("PRAGMA locking_mode = EXCLUSIVE"));
    std::vector<AuditLine> kept;
    ASSERT_TRUE(database->run(
        "SELECT time, actor, address, operation, subject, tenant, status, body_before, body_after FROM audit",
        {}, [&](const sql::Row& row) {
            kept.push_back({WallTime{std::chrono::microseconds{row.number(0)}}, row.text(1), row.text(2),
                            row.text(3), row.text(4), row.text(5), static_cast<int>(row.number(6)),
                            row.text(7), row.text(8)});
        }));
    EXPECT_EQ(kept, changes.audit);
}

TEST(Sqlite, ManyCommitsShareFewSyncs) {
    SimRig rig{3};
    auto store = rig.open().value();
    const auto epoch = testing::run_real(rig.loop, store->lead(m1, lease_time, 0)).value().epoch;
    const auto before = rig.vfs.syncs();
    std::vector<Task<>> calls;
    for (std::uint64_t i = 1; i <= 200; ++i)
        calls.push_back(store->commit(change(epoch, i, "i-" + std::to_string(i))));
    for (auto& call : calls) ASSERT_TRUE(testing::run_real(rig.loop, std::move(call)));
    EXPECT_LE(rig.vfs.syncs() - before, 6u) << "two batches, and the log written back";
}

// Bytes that 600 commits write, of the size that commits of an instance's life have, each durable by itself.
std::uint64_t bytes_of_commits(std::size_t reserve_bytes) {
    SimRig rig{3};
    auto store =
        open_sqlite("store.db", rig.worker, {.vfs = rig.vfs.name(), .reserve_bytes = reserve_bytes}).value();
    const auto run = [&](auto task) { return testing::run_real(rig.loop, std::move(task)); };
    const auto epoch = run(store->lead(m1, lease_time, 0)).value().epoch;
    std::uint64_t number = 0;
    const auto commit = [&](int count) {
        for (int i = 0; i < count; ++i)
            EXPECT_TRUE(run(store->commit(change(epoch, ++number, fmt::format("i-{}", i % 50), 1000))));
    };
    commit(600);
    const auto before = rig.vfs.written();
    commit(600);
    const auto written = rig.vfs.written() - before;
    EXPECT_EQ(run(store->load())->live.size(), 50u);
    return written;
}

TEST(Sqlite, CommitsThatGatherWriteLessThanHalf) {
    constexpr std::size_t too_small_to_gather = 16;
    EXPECT_LT(bytes_of_commits(16 << 20) * 2, bytes_of_commits(too_small_to_gather));
}

// What is pending is in no table yet, and yet nobody misses it.
TEST(Sqlite, ReadersSeeWhatIsPending) {
    SimRig rig{3};
    auto store = rig.open().value();
    const auto run = [&](auto task) { return testing::run_real(rig.loop, std::move(task)); };
    const auto epoch = run(store->lead(m1, lease_time, 0)).value().epoch;
    ASSERT_TRUE(run(store->commit(change(epoch, 1, "i-1"))));
    EXPECT_EQ(run(store->find("instance", "i-2")).error().code, Code::not_found);
    EXPECT_TRUE(run(store->find("instance", "i-1")));
    ASSERT_TRUE(run(store->commit(change(epoch, 2, "i-2"))));
    EXPECT_EQ(run(store->list({.kind = "instance"}))->objects.size(), 2u);
    Changes erase{.epoch = epoch, .number = 3};
    erase.erase.push_back({"instance", "i-1"});
    erase.events.push_back({.kind = "instance", .id = "i-1", .reason = "gone"});
    ASSERT_TRUE(run(store->commit(erase)));
    EXPECT_EQ(run(store->find("instance", "i-1")).error().code, Code::not_found);
    ASSERT_TRUE(run(store->commit(change(epoch, 4, "i-4"))));
    EXPECT_EQ(run(store->events({}))->size(), 1u);
    EXPECT_EQ(run(store->commit(change(epoch, 4, "i-5"))).error().reason, "not_leader");
    ASSERT_TRUE(run(store->commit(change(epoch, 5, "i-5"))));
    EXPECT_EQ(run(store->load())->number, 5u);
}

// A release that does not know of pending commits would lead without them.
TEST(Sqlite, OlderReleasesMayUseTheFileOnlyWhileNothingIsPending) {
    SimRig rig{3};
    const auto floor = [&] {
        std::uint64_t value = 0;
        const auto file = sqlite::Database::open("store.db", rig.vfs.name()).value();
        EXPECT_TRUE(file->script("PRAGMA locking_mode = EXCLUSIVE"));
        EXPECT_TRUE(file->run("SELECT value FROM meta WHERE name = 'schema_floor'", {},
                              [&](const sql::Row& row) { value = row.number(0); }));
        return value;
    };
    auto store = rig.open().value();
    const auto run = [&](auto task) { return testing::run_real(rig.loop, std::move(task)); };
    const auto epoch = run(store->lead(m1, lease_time, 0)).value().epoch;
    ASSERT_TRUE(run(store->commit(change(epoch, 1, "i-1"))));
    rig.vfs.crash();
    store.reset();
    EXPECT_EQ(floor(), 7u);
    store = rig.open().value();
    EXPECT_EQ(run(store->load())->live.size(), 1u);
    store.reset();
    EXPECT_EQ(floor(), 1u);
}

TEST(Sqlite, ACancelledCallerLeavesItsCommitInTheQueue) {
    SimRig rig{3};
    auto store = rig.open().value();
    const auto epoch = testing::run_real(rig.loop, store->lead(m1, lease_time, 0)).value().epoch;
    {
        TaskGroup group{rig.loop};
        group.start("commit", store->commit(change(epoch, 1, "i-1")));
        group.cancel();
        while (rig.loop.poll() > 0) {
        }
        rig.loop.restart();
    }
    EXPECT_TRUE(testing::run_real(rig.loop, store->find("instance", "i-1")));
}

TEST(Sqlite, AFullDiskRefusesWhatGrowsAndLetsTheRestThrough) {
    SimRig rig{11};
    auto store = rig.open().value();
    const auto run = [&](auto task) { return testing::run_real(rig.loop, std::move(task)); };
    const auto epoch = run(store->lead(m1, lease_time, 0)).value().epoch;
    std::uint64_t number = 0;
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(run(store->commit(change(epoch, ++number, fmt::format("i-{}", i), 20'000))));
    rig.vfs.capacity = rig.vfs.used() + 10'000;
    const auto last = number;
    auto first = store->commit(change(epoch, last + 1, "big", 5'000'000));
    // Decided in the belief that the first went in.
    auto behind = store->commit(change(epoch, last + 2, "small", 10));
    const auto refused = run(std::move(first));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::exhausted) << refused.error().message;
    EXPECT_EQ(refused.error().reason, "disk_full");
    EXPECT_EQ(run(std::move(behind)).error().code, Code::exhausted);
    rig.vfs.capacity = rig.vfs.used() + 500'000;  // Somebody else takes most of what the reserve was.
    EXPECT_EQ(run(store->commit(change(epoch, last + 3, "small", 10))).error().code, Code::exhausted);
    EXPECT_EQ(run(store->load())->number, last);

    Changes erase{.epoch = epoch, .number = last + 4};
    for (int i = 0; i < 10; ++i) erase.erase.push_back({"instance", fmt::format("i-{}", i)});
    EXPECT_TRUE(run(store->commit(erase))) << "what makes room goes in, out of the reserve";
    EXPECT_TRUE(run(store->prune(WallTime{})));
    EXPECT_TRUE(run(store->lead(m1, lease_time, 0)));
    EXPECT_EQ(run(store->load())->live.size(), 10u);
    store.reset();
    auto reopened = rig.open();  // A full disk does not keep it from starting.
    ASSERT_TRUE(reopened) << reopened.error().message;
    store = std::move(*reopened);
    const auto led = run(store->lead(m1, lease_time, 0));
    ASSERT_TRUE(led) << led.error().message;
    const auto later = led->epoch;
    EXPECT_EQ(run(store->commit(change(later, last + 5, "big", 5'000'000))).error().code, Code::exhausted);
    rig.vfs.capacity += 2 << 20;
    EXPECT_TRUE(run(store->commit(change(later, last + 6, "small", 10))));
}

TEST(Sqlite, AfterAnIoErrorNothingGoesBeforeLead) {
    SimRig rig{12};
    auto store = rig.open().value();
    const auto run = [&](auto task) { return testing::run_real(rig.loop, std::move(task)); };
    auto epoch = run(store->lead(m1, lease_time, 0)).value().epoch;
    ASSERT_TRUE(run(store->commit(change(epoch, 1, "i-1"))));
    rig.vfs.fail_call(1);
    EXPECT_EQ(run(store->commit(change(epoch, 2, "i-2"))).error().code, Code::unavailable);
    EXPECT_EQ(run(store->commit(change(epoch, 3, "i-3"))).error().code, Code::unavailable);
    EXPECT_EQ(run(store->load()).error().code, Code::unavailable);
    epoch = run(store->lead(m1, lease_time, 0)).value().epoch;
    const auto number = run(store->load())->number;
    EXPECT_TRUE(run(store->commit(change(epoch, number + 1, "i-4"))));
    EXPECT_TRUE(run(store->find("instance", "i-1")));
    EXPECT_FALSE(run(store->find("instance", "i-3")));
}

}  // namespace

}  // namespace hostler::contract
