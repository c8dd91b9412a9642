// One byte of store.db that changed, and one end of it that is gone, at 200 places: refused with the name of
// the file, or told row by row; nothing is lost without a word.
#include <gmock/gmock.h>

#include <fstream>

#include "adapters/sqlite/integrity.h"
#include "copy_rig.h"

namespace hostler::contract {

namespace {

using ::testing::HasSubstr;
using Key = std::pair<std::string, std::string>;

constexpr std::uint64_t places = 200;

struct Read {
    std::map<Key, Object> live, found, listed;
    std::set<Key> unreadable;
    std::uint64_t number = 0;
    std::vector<EventRecord> events;
};

class Corruption : public ::testing::Test {
protected:
    Corruption() {
        place.fill(120);
        std::ifstream stream{place.file(), std::ios::binary};
        whole.assign(std::istreambuf_iterator<char>{stream}, {});
        EXPECT_GT(whole.size(), places * 100);
        was = read(*open().value()).value();
        EXPECT_EQ(was.found.size(), 120u);
        EXPECT_EQ(was.events.size(), 120u);
    }
    Result<std::unique_ptr<Store>> open() {
        return open_sqlite(place.file(), *place.worker, {.reserve_bytes = 1 << 16});
    }
    void put(const std::string& bytes) {
        for (const char* suffix : {"-wal", "-shm", "-reserve"})
            std::filesystem::remove(place.file() + suffix);
        std::ofstream{place.file(), std::ios::binary | std::ios::trunc} << bytes;
    }
    // All that can be asked for; an error is one of the file.
    Result<Read> read(Store& store) {
        Read all;
        const Snapshot snapshot = TRY(place.run(store.load()));
        all.number = snapshot.number;
        for (const Object& object : snapshot.live) all.live[{object.kind, object.id}] = object;
        for (const auto& row : snapshot.unreadable) all.unreadable.emplace(row.kind, row.id);
        for (int i = 0; i < 120; ++i) {
            const Key key{i % 3 == 0   ? "claim"
                          : i % 3 == 1 ? "instance"
                                       : "command",
                          fmt::format("{}-é{}", i, i % 7)};
            auto found = place.run(store.find(key.first, key.second));
            if (found)
                all.found[key] = *std::move(found);
            else if (found.error().reason == "row_damaged")
                all.unreadable.insert(key);
            else if (found.error().code != Code::not_found)
                return std::unexpected(found.error());
        }
        for (const std::string kind : {"claim", "instance", "command"})
            for (const Object& object : TRY(place.run(store.list({.kind = kind, .limit = 1000}))).objects)
                all.listed[{object.kind, object.id}] = object;
        all.events = TRY(place.run(store.events({.limit = 1000})));
        return all;
    }
    enum class End { refused, told, unharmed };
    End look(const std::string& bytes) {
        put(bytes);
        const auto store = open();
        const auto now = store ? read(**store) : Result<Read>{std::unexpected(store.error())};
        if (!now) {
            EXPECT_THAT(now.error().message, HasSubstr(place.file()));
            return End::refused;
        }
        EXPECT_GE(now->number, was.number) << "commits would get their numbers twice";
        for (const auto& [key, object] : was.found) {
            if (now->unreadable.contains(key)) continue;
            const auto same = [&](const std::map<Key, Object>& in) {
                const auto at = in.find(key);
                return at != in.end() && at->second == object;
            };
            EXPECT_TRUE(same(now->found) && same(now->listed) && (!object.live || same(now->live)))
                << key.first << " " << key.second << " is lost or changed without a word";
        }
        for (const EventRecord& event : now->events)
            EXPECT_EQ(std::ranges::count(was.events, event), 1) << event.id << ": another event";
        const bool all = now->unreadable.empty() && now->events.size() == was.events.size();
        return all ? End::unharmed : End::told;
    }
    Place place{Database::sqlite};
    std::string whole;
    Read was;
};

TEST_F(Corruption, AFlippedByteIsRefusedOrToldWhereverItIs) {
    std::map<End, int> ends;
    for (std::uint64_t i = 0; i < places && !HasFailure(); ++i) {
        const std::size_t at = whole.size() * i / places + i * 37 % (whole.size() / places);
        SCOPED_TRACE(fmt::format("byte {}", at));
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ (i % 2 == 0 ? 0xff : 1 << i / 2 % 8));
        ++ends[look(bytes)];
    }
    EXPECT_GT(ends[End::refused], 20);
    EXPECT_GT(ends[End::told], 5);
}

TEST_F(Corruption, ACutFileIsRefused) {
    for (std::uint64_t i = 0; i < places && !HasFailure(); ++i) {
        const std::size_t size = 1 + whole.size() * i / places;
        SCOPED_TRACE(fmt::format("{} of {} bytes", size, whole.size()));
        EXPECT_EQ(look(whole.substr(0, size)), End::refused);
    }
}

TEST_F(Corruption, ANumberOfTheLastCommitThatFellIsRefused) {
    ASSERT_TRUE(place.alone().value()->run("UPDATE meta SET value = 1 WHERE name = 'number'"));
    const auto refused = open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "store_damaged");
    EXPECT_THAT(refused.error().message, HasSubstr("its last commit is 1, and its events are of commit 2"));
}

TEST_F(Corruption, OnlyALargeFileIsLookedAtQuicklyAfterACrash) {
    const auto looks = [&] { return sqlite::look_for(place.file(), "").value(); };
    const std::string log = place.file() + "-wal";
    std::filesystem::remove(log);
    EXPECT_EQ(looks(), sqlite::Look::everywhere);
    std::filesystem::resize_file(place.file(), sqlite::quick_look_from_bytes);
    EXPECT_EQ(looks(), sqlite::Look::everywhere) << "it was closed in order";
    std::ofstream{log} << "something";
    EXPECT_EQ(looks(), sqlite::Look::quickly);
    std::filesystem::resize_file(place.file(), sqlite::quick_look_from_bytes - 1);
    EXPECT_EQ(looks(), sqlite::Look::everywhere);
}

}  // namespace

}  // namespace hostler::contract
