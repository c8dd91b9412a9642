// One byte of store.db-wal that changed, a larger part of it, and one end of it that is gone, at 200 places,
// in a log as a killed master leaves it: what SQLite would drop without a word is put right, refused, or
// told.
#include <gmock/gmock.h>

#include <fstream>

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/wal.h"
#include "copy_rig.h"
#include "core/log.h"

namespace hostler::contract {

namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t places = 200;
constexpr std::uint64_t commits = 90;

std::string logged;

// What a master wrote in one life: its files while it lives, so as a kill leaves them.
class DamagedLog : public ::testing::Test {
protected:
    DamagedLog() {
        place.fill(30);
        live(commits);
        set_log_sink([](Level, std::string_view line) { logged += line; });
    }
    ~DamagedLog() override { set_log_sink(nullptr); }

    void live(std::uint64_t count, std::size_t log_bytes = 4 << 20) {
        live_in(place.file(), count, log_bytes);
    }
    void live_in(const std::string& where, std::uint64_t count, std::size_t log_bytes = 4 << 20,
                 bool ends_large = false) {
        auto store =
            open_sqlite(where, *place.worker, {.log_bytes = log_bytes, .reserve_bytes = 1 << 16}).value();
        const auto epoch = place.lead(*store);
        first = place.run(store->load())->number;
        for (std::uint64_t i = 1; i <= count; ++i) {
            Changes changes{.epoch = epoch, .number = first + i};
            changes.put.push_back(
                {.kind = "instance",
                 .id = fmt::format("i-{}", i),
                 .body = fmt::format("{{\"text\":\"{}\"}}", std::string(i * 61 % 3000, 'x'))});
            EXPECT_TRUE(place.run(store->commit(std::move(changes))));
            // Now and then what is pending goes into the tables: commits of many frames.
            if (i % 31 == 0) EXPECT_TRUE(place.run(store->list({.kind = "instance"})));
        }
        if (ends_large) {
            Changes changes{.epoch = epoch, .number = first + count + 1};
            for (int i = 0; i < 40; ++i)
                changes.put.push_back(
                    {.kind = "claim", .id = fmt::format("large-{}", i), .body = std::string(2000, 'x')});
            EXPECT_TRUE(place.run(store->commit(std::move(changes))));
        }
        file = bytes_of_file(where);
        log = bytes_of_file(where + "-wal");
    }
    sqlite::Wal wal_of(const std::string& bytes) const {
        const auto lies_there = [](const std::string& text) {
            return sqlite::FileBytes{text.size(),
                                     [&text](std::uint64_t from, std::size_t count) -> Result<std::string> {
                                         return text.substr(from, count);
                                     }};
        };
        return sqlite::look_at_wal(lies_there(bytes), lies_there(file)).value();
    }
    static std::string bytes_of_file(const std::string& path) {
        std::ifstream stream{path, std::ios::binary};
        return {std::istreambuf_iterator<char>{stream}, {}};
    }
    std::string path() const { return place.folder.path / "damaged" / "store.db"; }
    void put(const std::string& log_bytes) {
        std::filesystem::remove_all(place.folder.path / "damaged");
        std::filesystem::create_directory(place.folder.path / "damaged");
        std::ofstream{path(), std::ios::binary} << file;
        std::ofstream{path() + "-wal", std::ios::binary} << log_bytes;
        logged.clear();
    }
    // The last commit that is there; what is there is all of it. An error is one of the log.
    Result<std::uint64_t> look(const std::string& log_bytes) {
        put(log_bytes);
        const auto store = open_sqlite(path(), *place.worker, {.reserve_bytes = 1 << 16});
        if (!store) {
            EXPECT_EQ(store.error().reason, "store_damaged");
            EXPECT_THAT(store.error().message, HasSubstr(path() + "-wal"));
            return std::unexpected(store.error());
        }
        const Snapshot snapshot = place.run((*store)->load()).value();
        const std::uint64_t found = snapshot.number - first;
        EXPECT_LE(found, commits);
        std::uint64_t there = 0;
        for (const Object& object : snapshot.live) there += object.id.starts_with("i-") ? 1 : 0;
        EXPECT_EQ(there, std::max(found, earlier)) << "a state of no moment";
        return found;
    }
    std::size_t at(std::uint64_t i) const { return log.size() * i / places + i * 37 % (log.size() / places); }

    Place place{Database::sqlite};
    std::uint64_t first = 0;
    std::uint64_t earlier = 0;  // Objects of lives before.
    std::string file, log;
};

TEST_F(DamagedLog, ItIsWhole) {
    EXPECT_GT(log.size(), std::size_t{150'000});
    EXPECT_EQ(look(log), commits);
    EXPECT_EQ(logged, "");
}

TEST_F(DamagedLog, AByteOfItsHeaderIsPutRight) {
    for (std::size_t where = 0; where < 32; ++where) {
        for (const int flip : {0xff, 0x80, 1}) {
            SCOPED_TRACE(fmt::format("byte {}", where));
            std::string bytes = log;
            bytes[where] = static_cast<char>(bytes[where] ^ flip);
            EXPECT_EQ(look(bytes), commits);
            EXPECT_THAT(logged, HasSubstr(fmt::format("changed byte {} of {}-wal", where, path())));
        }
    }
}

TEST_F(DamagedLog, AChangeIsRefusedAndCutWhereverItIs) {
    int refused = 0;
    for (std::uint64_t i = 0; i < places && !HasFailure(); ++i) {
        // All of the last frame's header, and then everywhere; a byte, and a sector.
        const std::size_t where = i < 24 ? log.size() - 1048 + i : at(i),
                          size = i < 24 || i % 3 != 0 ? 1 : 512;
        SCOPED_TRACE(fmt::format("{} bytes at {} of {}", size, where, log.size()));
        std::string bytes = log;
        for (std::size_t n = where; n < std::min(where + size, bytes.size()); ++n)
            bytes[n] = static_cast<char>(bytes[n] ^ (size > 1 || i % 2 == 0 ? 0xff : 1 << i / 2 % 8));
        const auto found = look(bytes);
        if (found) {  // Of the last commit nobody knows whether it was ever durable.
            EXPECT_EQ(*found, commits - 1);
            EXPECT_THAT(logged, HasSubstr(fmt::format("the last commit in {}-wal is incomplete", path())));
            continue;
        }
        ++refused;
        if (i % 8 != 0) continue;
        const SqliteCut cut = cut_sqlite_log(path()).value();
        EXPECT_GT(cut.dropped, 1u);
        EXPECT_FALSE(cut.nothing_lost);
        const auto left = look(bytes_of_file(path() + "-wal"));
        ASSERT_TRUE(left) << left.error().message;
        EXPECT_GE(*left + cut.dropped + 1, commits);
        EXPECT_EQ(cut_sqlite_log(path()).error().reason, "nothing_damaged");
    }
    EXPECT_GT(refused, 160);
}

TEST_F(DamagedLog, AByteOfTheFrameBeforeTheLastCommitIsRefused) {
    const std::size_t frame = 24 + 1024;
    const std::size_t begin = wal_of(log.substr(0, log.size() - frame)).whole_bytes - frame;
    ASSERT_EQ(wal_of(log.substr(0, begin)).whole_commits + 2, wal_of(log).whole_commits);
    for (std::size_t where = 0; where < 32 && !HasFailure(); ++where) {
        // Some changes of a sum's first byte leave numbers that a frame may have.
        for (int flip = 1; flip < 256; flip += where == 16 || where == 20 ? 2 : 127) {
            SCOPED_TRACE(fmt::format("byte {} of the frame, ^ {}", where, flip));
            std::string bytes = log;
            bytes[begin + where] = static_cast<char>(bytes[begin + where] ^ flip);
            EXPECT_FALSE(look(bytes)) << "two commits would be lost, and it is told of one";
        }
    }
}

TEST_F(DamagedLog, OneThatIsCutOffIsOfAnEarlierMomentAndIsToldUnlessACommitEndedThere) {
    const std::uint32_t frame = 24 + 1024;
    for (std::uint64_t i = 0; i < places && !HasFailure(); ++i) {
        SCOPED_TRACE(fmt::format("{} of {} bytes", at(i), log.size()));
        const auto found = look(log.substr(0, at(i)));
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_LE(*found, commits);
        if (at(i) > 0 && (at(i) - std::min<std::size_t>(at(i), 32)) % frame != 0)
            EXPECT_THAT(logged, HasSubstr("is incomplete"));
    }
}

// SQLite begins at the front again once the file has everything: frames of the time before stay behind.
TEST_F(DamagedLog, WhatIsBehindOneThatBeganAgainIsNoDamage) {
    live(commits, 64 << 10);
    EXPECT_EQ(look(log), commits);
    EXPECT_EQ(logged, "");
    std::string bytes = log;
    bytes.back() ^= 1;
    EXPECT_EQ(look(bytes), commits);
    EXPECT_EQ(logged, "") << "nobody reads that";
    for (std::size_t i = 0; i < 32; i += 8) bytes[i] ^= 1;  // Its header, beyond one byte.
    const auto found = look(bytes);
    EXPECT_TRUE(!found || !logged.empty());
}

// SQLite goes on behind the last whole commit, under the same salts: frames of one that a power cut has torn
// stay behind newer ones, and a second power cut tears one of those.
TEST_F(DamagedLog, WhatTwoPowerCutsLeaveIsNoDamage) {
    live_in(place.file(), 1, 4 << 20, true);
    const std::size_t frame = 24 + 1024;
    std::string torn = log;
    for (std::size_t begin = log.size() - 3 * frame; begin < log.size() - 2 * frame; ++begin) torn[begin] = 0;
    ASSERT_EQ(wal_of(torn).state, sqlite::Wal::State::unfinished);
    ASSERT_EQ(wal_of(torn).whole_commits + 1, wal_of(log).whole_commits);
    put(torn);
    earlier = commits;
    live_in(path(), 3);
    const std::size_t end = wal_of(log).whole_bytes;
    ASSERT_LT(end + 2 * frame, log.size()) << "frames of the first life are behind those of the second";
    EXPECT_EQ(look(log), 3u);
    EXPECT_THAT(logged, HasSubstr("is incomplete"));
    std::string again = log;
    again[end - 1] ^= 1;
    EXPECT_EQ(look(again), 2u);
    EXPECT_THAT(logged, HasSubstr("is incomplete"));
}

// A crash between the copying and the new beginning.
TEST_F(DamagedLog, OneThatTheFileHasAllOfCanGo) {
    const std::string before = file;
    put(log);
    {
        auto database = sqlite::Database::open(path(), "").value();
        ASSERT_TRUE(database->script("PRAGMA locking_mode = EXCLUSIVE; PRAGMA wal_checkpoint(FULL)"));
        file = bytes_of_file(path());
        EXPECT_EQ(bytes_of_file(path() + "-wal"), log);
    }
    std::string bytes = log;
    for (std::size_t n = log.size() / 2; n < log.size() / 2 + 100; ++n) bytes[n] = '!';
    const auto found = look(bytes);
    ASSERT_FALSE(found) << "older pages would hide newer ones";
    EXPECT_THAT(found.error().message, HasSubstr("nothing is lost"));
    const SqliteCut cut = cut_sqlite_log(path()).value();
    EXPECT_TRUE(cut.nothing_lost);
    EXPECT_EQ(look(""), commits);
    // And one that was being copied: no moment is left.
    file.replace(0, before.size() / 2, before.substr(0, before.size() / 2));
    put(bytes);
    EXPECT_EQ(cut_sqlite_log(path()).error().reason, "store_damaged");
}

}  // namespace

}  // namespace hostler::contract
