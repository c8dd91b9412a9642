// Rows that are not as they were written: found, named, left out, and taken out by an operator.
#include <gmock/gmock.h>

#include "adapters/sqlite/database.h"
#include "copy_rig.h"
#include "sql/check.h"
#include "sql/drop.h"
#include "sql/rows.h"

namespace hostler::contract {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DamagedRows : public ::testing::TestWithParam<Database> {
protected:
    void change(const std::string& sql) {
        auto connection = place.alone().value();
        const auto done = connection->run(sql);
        ASSERT_TRUE(done) << done.error().message;
        ASSERT_EQ(connection->changes(), 1u) << sql;
    }
    std::vector<sql::Finding> findings() { return sql::check(*place.alone().value()).value(); }
    std::vector<std::string> listed(Store& store, const std::string& kind, std::size_t limit) {
        std::vector<std::string> ids;
        ListQuery query{.kind = kind, .limit = limit};
        for (int pages = 0; pages < 1000; ++pages) {
            const Page page = place.run(store.list(query)).value();
            for (const Object& object : page.objects) ids.push_back(object.id);
            if (!page.more) return ids;
            query.at = page.at;
            query.after_created = page.objects.back().created;
            query.after_id = page.objects.back().id;
        }
        ADD_FAILURE() << "the list has no end";
        return ids;
    }
    Place place{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Both, DamagedRows, ::testing::Values(Database::sqlite, Database::postgres),
                         [](const auto& info) {
                             return info.param == Database::sqlite ? "sqlite" : "postgres";
                         });

TEST_P(DamagedRows, AreNamedAndLeftOut) {
    place.fill(60);
    std::vector<std::string> all = listed(*place.open().value(), "instance", 100);
    const std::string live = "4-é4", ended = "10-é3", command = "8-é1";
    change("UPDATE objects SET phase = 'instancf' WHERE id = '4-é4'");
    change("UPDATE objects SET generation = 11 WHERE id = '10-é3'");
    change("UPDATE commands SET body = '{\"text\":\"\"}' WHERE id = '8-é1'");
    auto store = place.open().value();
    const Snapshot snapshot = place.run(store->load()).value();
    ASSERT_EQ(snapshot.unreadable.size(), 2u);
    EXPECT_EQ(snapshot.unreadable[0].kind, "command");
    EXPECT_EQ(snapshot.unreadable[0].id, command);
    EXPECT_EQ(snapshot.unreadable[1].kind, "instance");
    EXPECT_EQ(snapshot.unreadable[1].id, live);
    EXPECT_THAT(snapshot.unreadable[1].why, HasSubstr("checksum"));
    EXPECT_EQ(snapshot.live.size(), 46u) << "all others";
    for (const std::string& id : {live, ended}) {
        const auto found = place.run(store->find("instance", id));
        ASSERT_FALSE(found);
        EXPECT_EQ(found.error().code, Code::internal);
        EXPECT_EQ(found.error().reason, "row_damaged");
        EXPECT_THAT(found.error().message, HasSubstr("instance " + id));
        std::erase(all, id);
    }
    for (const std::size_t limit : {1, 2, 3, 100}) EXPECT_EQ(listed(*store, "instance", limit), all) << limit;
    // Written again, it is whole again.
    Changes whole{.epoch = place.lead(*store), .number = snapshot.number + 1};
    whole.put.push_back({.kind = "instance", .id = live, .body = "{}"});
    ASSERT_TRUE(place.run(store->commit(whole)));
    EXPECT_EQ(place.run(store->find("instance", live))->body, "{}");
    EXPECT_EQ(place.run(store->load())->unreadable.size(), 1u);
    ASSERT_TRUE(place.run(store->resign()));
}

TEST_P(DamagedRows, AreFoundByTheCheckWhateverTable) {
    place.fill(60);
    EXPECT_TRUE(findings().empty());
    change("UPDATE objects SET project = 'q' WHERE id = '10-é3'");
    change("UPDATE events SET reason = 'placee' WHERE line = 4");
    change("UPDATE ledger SET body = '{ }' WHERE claim = '9-é2'");
    change("UPDATE audit SET status = 500 WHERE number = 1");
    std::vector<std::string> subjects;
    for (const auto& [subject, message] : findings()) {
        subjects.push_back(subject);
        EXPECT_THAT(message, HasSubstr("checksum"));
    }
    EXPECT_EQ(subjects, (std::vector<std::string>{"instance/10-é3", "events/1", "ledger/1", "audit/1"}));
    const auto events = place.run(place.open().value()->events({.limit = 1000})).value();
    EXPECT_EQ(events.size(), 59u);
    for (const EventRecord& event : events) EXPECT_EQ(event.reason, "placed");
}

// One of each table that has checksums, whichever of its values changed.
TEST_P(DamagedRows, EachValueOfEachKindOfRowIsNamed) {
    place.fill(60);
    struct Row {
        std::string table, where, subject;
    };
    auto connection = place.alone().value();
    for (const auto& [table, where, subject] :
         {Row{"objects", "id = '4-é4'", "instance/4-é4"}, Row{"commands", "id = '8-é1'", "command/8-é1"},
          Row{"events", "line = 4", "events/1"}, Row{"ledger", "line = 3", "ledger/1"},
          Row{"audit", "number = 1", "audit/1"}, Row{"audit_chain", "name = 'head'", "audit_chain/head"},
          Row{"audit_seals", "position = 1", "audit_seals/1"}}) {
        const auto forms = connection->forms().value();
        const auto form = std::ranges::find(forms, table, &sql::Form::table);
        ASSERT_NE(form, forms.end());
        for (const auto& [column, is_number] : form->columns) {
            SCOPED_TRACE(table + " " + column);
            ASSERT_TRUE(connection->run("BEGIN"));
            ASSERT_TRUE(connection->run(fmt::format("UPDATE {0} SET {1} = {1} {2} WHERE {3}", table, column,
                                                    is_number ? "+ 1000" : "|| 'x'", where)));
            ASSERT_EQ(connection->changes(), 1u);
            std::string named = subject;
            if (column == "number" || (table == "audit_seals" && column == "position"))
                named = table + "/1001";
            if (column == "name") named += "x";
            if (subject.contains("é")) {
                if (column == "kind") named.insert(named.find('/'), "x");
                if (column == "id") named += "x";
            }
            const auto found = sql::check(*connection).value();
            EXPECT_TRUE(std::ranges::count(found, named, &sql::Finding::subject)) << named;
            ASSERT_TRUE(connection->run("ROLLBACK"));
        }
    }
    EXPECT_TRUE(sql::check(*connection)->empty());
}

// A flipped byte can make the version any number; what the row says otherwise is still of the one before.
TEST_P(DamagedRows, AVersionThatChangedAlone) {
    place.fill(60);
    for (const std::string version : {"2", "300", "-9223372036854775807", "9223372036854775807"}) {
        SCOPED_TRACE(version);
        change(fmt::format("UPDATE objects SET version = {} WHERE id = '4-é4'", version));
        auto store = place.open().value();
        const Snapshot snapshot = place.run(store->load()).value();
        ASSERT_EQ(snapshot.unreadable.size(), 1u);
        EXPECT_EQ(snapshot.unreadable[0].id, "4-é4");
        EXPECT_THAT(snapshot.unreadable[0].why, HasSubstr("its contents are those of version 1"));
        EXPECT_EQ(place.run(store->find("instance", "4-é4")).error().reason, "row_damaged");
    }
    EXPECT_FALSE(findings().empty());
}

// An older release knows no checksum and leaves the one of a former version behind.
TEST_P(DamagedRows, WhatAnOlderReleaseWroteIsNone) {
    place.fill(60);
    {
        auto older = place.alone().value();
        ASSERT_TRUE(older->run(
            "INSERT INTO objects (kind, id, tenant, project, phase, generation, created, version, state, "
            "body) VALUES "
            "('instance', '4-é4', 'acme', '', 'changed', 9, 2, 2, 0, '{\"new\":1}') ON CONFLICT (kind, id) "
            "DO UPDATE SET "
            "tenant = excluded.tenant, project = excluded.project, phase = excluded.phase, generation = "
            "excluded.generation, version = excluded.version, state = excluded.state, body = excluded.body"));
        ASSERT_TRUE(older->run("UPDATE objects SET state = 2, body = '' WHERE id = '10-é3'"));
        ASSERT_TRUE(older->run(
            "INSERT INTO events (number, line, time, kind, id, tenant, actor, reason, message) VALUES "
            "(2, 0, 1, 'instance', '4-é4', 'acme', 'test', 'changed', 'It was.')"));
        ASSERT_TRUE(older->run("UPDATE meta SET value = 2 WHERE name = 'number'"));
    }
    EXPECT_TRUE(findings().empty());
    auto store = place.open().value();
    EXPECT_TRUE(place.run(store->load())->unreadable.empty());
    EXPECT_EQ(place.run(store->find("instance", "4-é4"))->phase, "changed");
    EXPECT_FALSE(place.run(store->find("instance", "10-é3"))->live);
    EXPECT_EQ(place.run(store->events({.after = 1}))->size(), 1u);
    // This release prunes without leaving one that is wrong.
    ASSERT_TRUE(place.run(store->prune(WallTime{std::chrono::seconds{2'000'000'000}})));
    store.reset();
    EXPECT_TRUE(findings().empty());
}

TEST_P(DamagedRows, AStoreFromBeforeChecksumsIsReadAndGetsThemAsItIsWritten) {
    {
        auto connection = place.alone().value();
        sql::Rows rows{*connection};
        ASSERT_TRUE(rows.migrate(false, "of before", 3));
        ASSERT_TRUE(
            connection->script("INSERT INTO objects (kind, id, tenant, project, phase, generation, created, "
                               "version, state, body) VALUES "
                               "('instance', 'i-1', 'acme', '', 'running', 1, 1, 1, 0, '{}'), "
                               "('instance', 'i-2', 'acme', '', 'running', 1, 1, 1, 0, '{}'); "
                               "UPDATE meta SET value = 1 WHERE name = 'number'"));
    }
    {
        auto store = place.open().value();
        const Snapshot snapshot = place.run(store->load()).value();
        EXPECT_TRUE(snapshot.unreadable.empty());
        ASSERT_EQ(snapshot.live.size(), 2u);
        Changes changes{.epoch = place.lead(*store), .number = 2};
        changes.put = {snapshot.live[0]};
        ASSERT_TRUE(place.run(store->commit(changes)));
        ASSERT_TRUE(place.run(store->resign()));
    }
    change("UPDATE objects SET tenant = 'acmf' WHERE id = 'i-1'");
    change("UPDATE objects SET tenant = 'acmf' WHERE id = 'i-2'");
    ASSERT_EQ(findings().size(), 1u) << "nobody knows what the other was";
    EXPECT_EQ(findings().front().subject, "instance/i-1");
}

TEST_P(DamagedRows, AnOperatorTakesOneOut) {
    place.fill(60);
    change("UPDATE objects SET body = '{\"text\":\"!\"}' WHERE id = '4-é4'");
    {
        auto connection = place.alone().value();
        const auto text = sql::text_of_row(*connection, "instance", "4-é4");
        ASSERT_TRUE(text) << text.error().message;
        EXPECT_THAT(*text, HasSubstr("kind instance\nid 4-é4\ntenant acme\n"));
        EXPECT_TRUE(text->ends_with("\n\n{\"text\":\"!\"}")) << *text;
        EXPECT_EQ(sql::text_of_row(*connection, "instance", "none").error().code, Code::not_found);
        ASSERT_TRUE(connection->run("BEGIN"));
        ASSERT_TRUE(
            sql::drop_row(*connection, "instance", "4-é4", WallTime{std::chrono::seconds{1'800'000'001}}));
        ASSERT_TRUE(connection->run("COMMIT"));
    }
    EXPECT_TRUE(findings().empty());
    auto store = place.open().value();
    EXPECT_EQ(place.run(store->find("instance", "4-é4")).error().code, Code::not_found);
    const Snapshot snapshot = place.run(store->load()).value();
    EXPECT_TRUE(snapshot.unreadable.empty());
    EXPECT_EQ(snapshot.number, 2u) << "a commit of its own";
    const auto told = place.run(store->events({.kind = "instance", .id = "4-é4", .after = 1})).value();
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told.front().reason, "dropped");
}

// Commits that a killed master left in the table `pending`.
class DamagedPending : public ::testing::Test {
protected:
    DamagedPending() {
        place.fill(3);
        auto store = place.open().value();
        const auto epoch = place.lead(*store);
        first = place.run(store->load())->number;
        for (std::uint64_t i = 1; i <= 8; ++i) {
            Changes changes{.epoch = epoch, .number = first + i};
            changes.put.push_back({.kind = "instance", .id = fmt::format("i-{}", i), .body = "{}"});
            EXPECT_TRUE(place.run(store->commit(std::move(changes))));
            if (i == 5)
                EXPECT_TRUE(place.run(store->list({.kind = "instance"})));  // 1 to 5 are in the tables.
        }
        for (const char* suffix : {"", "-wal"})
            std::filesystem::copy_file(place.file() + suffix, left() + suffix);
    }
    std::string left() const { return place.folder.path / "left.db"; }
    // The file as it was left, changed.
    std::string changed(const std::string& name, std::string_view sql,
                        std::initializer_list<sql::Value> values) {
        const std::string path = place.folder.path / name;
        for (const char* suffix : {"", "-wal"}) std::filesystem::copy_file(left() + suffix, path + suffix);
        const auto database = sqlite::Database::open(path, "").value();
        EXPECT_TRUE(database->run(sql, values));
        EXPECT_EQ(database->changes(), 1u);
        return path;
    }
    Place place{Database::sqlite};
    std::uint64_t first = 0;
};

TEST_F(DamagedPending, ARowIsNamedWhicheverOfItsValuesChanged) {
    std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> rows;  // By number: place, changes.
    {
        const std::string path = changed("read.db", "UPDATE meta SET value = value WHERE name = 'epoch'", {});
        const auto database = sqlite::Database::open(path, "").value();
        ASSERT_TRUE(database->run("SELECT number, place, changes FROM pending", {}, [&](const sql::Row& row) {
            rows[row.number(0)] = {row.number(1), row.text(2)};
        }));
    }
    ASSERT_EQ(rows.size(), 5u) << "the later three are written over the first three";
    for (std::uint64_t i = 4; i <= 8; ++i) {
        const auto& [at, bytes] = rows.at(first + i);
        const bool in_tables = i <= 5;
        std::string other = bytes;
        other[other.size() / 2] = static_cast<char>(other[other.size() / 2] ^ 4);
        int n = 0;
        for (const std::string& path :
             {changed(fmt::format("fell-{}.db", i), "UPDATE pending SET number = 1 WHERE place = ?1", {at}),
              changed(fmt::format("bytes-{}.db", i), "UPDATE pending SET changes = ?2 WHERE place = ?1",
                      {at, other}),
              changed(fmt::format("sum-{}.db", i), "UPDATE pending SET checksum = 7 WHERE place = ?1", {at}),
              changed(fmt::format("rose-{}.db", i),
                      "UPDATE pending SET number = number + 100 WHERE place = ?1", {at})}) {
            SCOPED_TRACE(path);
            const auto store = open_sqlite(path, *place.worker);
            if (in_tables && n++ < 3) {
                ASSERT_TRUE(store) << store.error().message;
                EXPECT_EQ(place.run((*store)->load())->number, first + 8);
                continue;
            }
            ASSERT_FALSE(store) << "commit " << first + i << " is lost";
            EXPECT_EQ(store.error().reason, "store_damaged");
            EXPECT_THAT(
                store.error().message,
                HasSubstr(fmt::format("{} is damaged: the row at place {} of its table pending", path, at)));
            EXPECT_FALSE(open_sqlite_alone(path, IfMissing::refuse));
        }
    }
}

}  // namespace

}  // namespace hostler::contract
