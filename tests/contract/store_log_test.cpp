// The log of commits beside store.db: what a crash leaves, what an older release may open, damage, and how
// many bytes are written.
#include <gmock/gmock.h>

#include <fstream>

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/replay.h"
#include "copy_rig.h"
#include "sql/rows.h"

namespace hostler::contract {

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::uint64_t places = 200;

std::string bytes_at(const std::string& path) {
    std::ifstream stream{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

std::uint64_t floor_in(const std::string& path) {
    const auto database = sqlite::Database::open(path, "").value();
    return sql::Rows{*database}.meta("schema_floor").value();
}

// A store with commits 1 to 40 that a master with kill -9 left in the folder of `crashed`.
class LogOfCommits : public ::testing::Test {
protected:
    static constexpr std::uint64_t last = 40;
    LogOfCommits() {
        auto store = live.open().value();
        const auto epoch = live.lead(*store);
        for (std::uint64_t number = 1; number <= last; ++number) {
            Changes changes{.epoch = epoch, .number = number};
            changes.put.push_back(
                {.kind = "instance", .id = id_of(number), .tenant = "acme", .body = "{\"a\":1}"});
            changes.events.push_back({.kind = "instance", .id = id_of(number), .reason = "placed"});
            EXPECT_TRUE(live.run(store->commit(std::move(changes))));
        }
        for (const char* suffix : {"", "-wal", "-log"}) left[suffix] = bytes_at(live.file() + suffix);
        EXPECT_GT(left["-log"].size(), 4000u);
    }
    static std::string id_of(std::uint64_t number) { return fmt::format("i-{}", number); }
    void leave(const std::string& log) {
        for (const auto& entry : fs::directory_iterator{crashed.folder.path}) fs::remove(entry);
        for (const auto& [suffix, bytes] : left)
            std::ofstream{crashed.file() + suffix, std::ios::binary} << (suffix == "-log" ? log : bytes);
    }
    Result<std::unique_ptr<Store>> open() {
        return open_sqlite(crashed.file(), *crashed.worker, {.reserve_bytes = 1 << 16});
    }
    // How many of the commits are there: all up to one, and none after it.
    std::uint64_t whole(Store& store) {
        const auto snapshot = crashed.run(store.load()).value();
        EXPECT_EQ(snapshot.live.size(), snapshot.number);
        EXPECT_EQ(crashed.run(store.events({.limit = 1000}))->size(), snapshot.number);
        return snapshot.number;
    }
    Place live{Kind::sqlite}, crashed{Kind::sqlite};
    std::map<std::string, std::string> left;
};

TEST_F(LogOfCommits, IsTakenIntoTheTablesAfterACrash) {
    leave(left["-log"]);
    {
        auto store = open();
        ASSERT_TRUE(store) << store.error().message;
        EXPECT_EQ(whole(**store), last);
        EXPECT_EQ(fs::file_size(crashed.file() + "-log"), 0u);
    }
    ASSERT_TRUE(open());
    leave(left["-log"]);
    auto alone = crashed.alone(IfMissing::refuse);
    ASSERT_TRUE(alone) << alone.error().message;
    EXPECT_EQ(sql::Rows{**alone}.meta("number").value(), last) << "hostler store sees them, too";
    EXPECT_EQ(fs::file_size(crashed.file() + "-log"), 0u);
}

// It would not see what is in the log only.
TEST_F(LogOfCommits, AnOlderReleaseIsKeptOutUntilTheTablesHaveAll) {
    leave(left["-log"]);
    EXPECT_EQ(floor_in(crashed.file()), 5u);
    leave(left["-log"]);
    ASSERT_TRUE(open());
    EXPECT_EQ(floor_in(crashed.file()), 1u) << "closed in order";
    leave(left["-log"]);
    crashed.alone(IfMissing::refuse).value().reset();
    EXPECT_EQ(floor_in(crashed.file()), 1u);
}

TEST_F(LogOfCommits, AFlippedByteIsToldWithTheNameOfTheFile) {
    const std::string& log = left["-log"];
    const std::uint64_t frame = log.size() - log.rfind("HSTLOG1\n");
    int refused = 0;
    for (std::uint64_t i = 0; i < places && !HasFailure(); ++i) {
        const std::size_t at = log.size() * i / places;
        SCOPED_TRACE(fmt::format("byte {} of {}", at, log.size()));
        std::string bytes = log;
        bytes[at] = static_cast<char>(bytes[at] ^ (i % 2 == 0 ? 0xff : 1 << i / 2 % 8));
        leave(bytes);
        const auto store = open();
        if (store) {
            // The last one cannot be told from one that was being written: that is logged.
            EXPECT_GE(at, log.size() - frame);
            EXPECT_EQ(whole(**store), last - 1);
            continue;
        }
        ++refused;
        EXPECT_EQ(store.error().reason, "store_damaged");
        EXPECT_THAT(store.error().message, HasSubstr(crashed.file() + "-log is damaged"));
        EXPECT_EQ(bytes_at(crashed.file() + "-log"), bytes) << "a person may still look at it";
    }
    EXPECT_GT(refused, 180);
}

TEST_F(LogOfCommits, ACutOneGoesOnFromItsLastWholeCommit) {
    const std::string& log = left["-log"];
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < places && !HasFailure(); ++i) {
        leave(log.substr(0, log.size() * i / places));
        const auto store = open();
        ASSERT_TRUE(store) << store.error().message;
        const std::uint64_t now = whole(**store);
        EXPECT_GE(now, before);
        before = now;
    }
    EXPECT_EQ(before, last - 1);
}

TEST_F(LogOfCommits, IsNotWrittenOverAnotherStore) {
    leave(left["-log"]);
    const std::string& log = left["-log"];
    std::ofstream{crashed.file() + "-log", std::ios::binary}
        << log.substr(log.size() / 2).substr(log.substr(log.size() / 2).find("HSTLOG1\n"));
    const auto refused = open();
    ASSERT_FALSE(refused) << "the commits before it are not there";
    EXPECT_EQ(refused.error().reason, "store_damaged");
    EXPECT_THAT(refused.error().message, HasSubstr("it goes on behind commit"));
}

// What a master commits to make an instance from stock, run it and delete it; sizes as they are.
class Writing {
public:
    explicit Writing(std::size_t commit_log_bytes) {
        auto opened = open_sqlite(place.file(), *place.worker, {.commit_log_bytes = commit_log_bytes});
        store = std::move(opened).value();
        epoch = place.lead(*store);
    }
    // Bytes for each instance, the tables included.
    std::uint64_t cost(int instances) {
        const auto before = written();
        for (int i = 0; i < instances; ++i) live_and_die(fmt::format("i-{:016x}", i * 0x9e3779b97f4a7c15));
        store.reset();
        return (written() - before) / static_cast<std::uint64_t>(instances);
    }

private:
    static std::uint64_t written() {
        std::ifstream io{"/proc/self/io"};
        std::string name;
        for (std::uint64_t value = 0; io >> name >> value;)
            if (name == "wchar:") return value;
        ADD_FAILURE() << "the kernel does not count";
        return 0;
    }
    void commit() {
        now.epoch = epoch;
        now.number = ++number;
        ASSERT_TRUE(place.run(store->commit(std::exchange(now, {}))));
    }
    void put(std::string kind, std::string id, std::size_t size, bool is_live = true) {
        now.put.push_back({.kind = std::move(kind),
                           .id = std::move(id),
                           .tenant = "acme",
                           .phase = "running",
                           .live = is_live,
                           .body = std::string(size, 'b')});
    }
    void event(const std::string& id, std::string reason) {
        now.events.push_back(
            {at, "instance", id, "acme", "host/h-abcdefghijkl", std::move(reason), std::string(25, 'm')});
    }
    void held(const std::string& id, std::string use) {
        now.ledger.push_back(
            {at, "claim-" + id, "h-abcdefghijkl", "acme", std::move(use), std::string(290, 'b')});
    }
    void audit(const std::string& id, std::size_t before, std::size_t after) {
        now.audit.push_back({at, "key/k-abcdefghijkl", "203.0.113.7:5000", "createInstance", "instance/" + id,
                             "acme", 200, std::string(before, 'b'), std::string(after, 'b')});
    }
    void live_and_die(const std::string& id) {
        at += std::chrono::seconds{1};
        put("slot", "slot-1", 136), put("claim", "claim-1", 292), put("instance", id, 983);
        put("subnet", "s-" + id, 142), put("command", "c1-" + id, 217);
        event(id, "placed"), held(id, "instance"), audit(id, 0, 676);
        commit();
        put("instance", id, 982), put("command", "c1-" + id, 240), event(id, "starting");
        commit();
        put("instance", id, 1007), put("command", "c1-" + id, 215, false), event(id, "running");
        commit();
        put("instance", id, 1012), put("command", "c2-" + id, 216), event(id, "stop_asked"),
            audit(id, 712, 718);
        commit();
        put("slot", "slot-1", 124), put("claim", "claim-1", 285), put("instance", id, 988, false);
        put("subnet", "s-" + id, 141), put("command", "c3-" + id, 216),
            put("command", "c2-" + id, 214, false);
        event(id, "stopped"), held(id, "leaving"), held(id, "stock");
        commit();
        put("command", "c3-" + id, 214, false), now.erase.emplace_back("subnet", "s-" + id);
        commit();
    }

    Place place{Kind::sqlite};
    std::unique_ptr<Store> store;
    std::uint64_t epoch = 0, number = 0;
    WallTime at{std::chrono::seconds{1'800'000'000}};
    Changes now;
};

TEST(BytesWritten, OfAnInstanceThatIsMadeAndDeletedAreFew) {
    constexpr std::uint64_t kibibyte = 1024;
    const std::uint64_t cost = Writing{SqliteOptions{}.commit_log_bytes}.cost(800);
    RecordProperty("bytes", std::to_string(cost));
    EXPECT_LE(cost, 40 * kibibyte);
    EXPECT_GE(cost, 10 * kibibyte) << "less than what is to be said of it: this counts nothing";
    EXPECT_GT(Writing{1}.cost(40), 200 * kibibyte) << "with the tables written at each commit";
}

}  // namespace

}  // namespace hostler::contract
