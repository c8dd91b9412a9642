// Whole stores copied, backed up, restored and checked, between both kinds of databases.
#include <gmock/gmock.h>

#include <algorithm>

#include "copy_rig.h"
#include "sql/check.h"
#include "sql/rows.h"

namespace hostler::contract {

namespace {

using ::testing::HasSubstr;

class Copies : public ::testing::TestWithParam<std::pair<Database, Database>> {
protected:
    Place from{GetParam().first}, to{GetParam().second};
};

INSTANTIATE_TEST_SUITE_P(Both, Copies,
                         ::testing::Values(std::pair{Database::sqlite, Database::postgres},
                                           std::pair{Database::postgres, Database::sqlite},
                                           std::pair{Database::sqlite, Database::sqlite},
                                           std::pair{Database::postgres, Database::postgres}),
                         [](const auto& info) {
                             const auto name = [](Database kind) {
                                 return kind == Database::sqlite ? "sqlite" : "postgres";
                             };
                             return fmt::format("{}To{}", name(info.param.first), name(info.param.second));
                         });

TEST_P(Copies, EveryRowIsTheSame) {
    from.fill();
    {
        auto source = from.alone().value(), target = to.alone().value();
        const auto sums = sql::copy(*source, *target, digest);
        ASSERT_TRUE(sums) << sums.error().message;
        EXPECT_EQ(sums_of(*source), sums_of(*target));
        EXPECT_EQ(*sums, sums_of(*source));
        EXPECT_EQ(std::ranges::find(*sums, "events", &sql::TableSum::table)->rows, 700u);
    }
    auto before = from.open().value(), after = to.open().value();
    EXPECT_EQ(from.run(before->load())->live, to.run(after->load())->live);
    EXPECT_EQ(to.lead(*after), 8u) << "it goes on where the other was";
}

TEST_P(Copies, ATargetThatIsUsedOrFullIsRefusedAndStaysAsItWas) {
    from.fill(10);
    to.fill(3);
    {
        auto source = from.alone().value(), target = to.alone().value();
        const auto before = sums_of(*target);
        const auto refused = sql::copy(*source, *target, digest);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::conflict);
        EXPECT_EQ(refused.error().reason, "store_not_empty");
        EXPECT_EQ(sums_of(*target), before);
        const auto again = restored(backup_of(*source), *target);
        ASSERT_FALSE(again);
        EXPECT_EQ(again.error().reason, "store_not_empty");
        EXPECT_EQ(sums_of(*target), before);
    }
    const auto master = to.open();
    ASSERT_TRUE(master);
    to.lead(**master);
    const auto used = to.alone();
    ASSERT_FALSE(used);
    EXPECT_EQ(used.error().reason, "store_in_use");
}

TEST_P(Copies, AStoreThatIsMadeAndUnusedIsAPlaceToCopyTo) {
    from.fill(10);
    ASSERT_TRUE(to.open());
    auto source = from.alone().value(), target = to.alone().value();
    ASSERT_TRUE(sql::copy(*source, *target, digest));
    EXPECT_EQ(sums_of(*source), sums_of(*target));
}

// A connection that changes something on its way.
class Wrong final : public sql::Connection {
public:
    explicit Wrong(sql::Connection& connection) : inner_(connection) {}
    using Connection::run;
    Result<> run(std::string_view sql, std::span<const sql::Value> values, const RowSeen& seen) override {
        if (sql.starts_with("INSERT INTO \"events\"") && ++inserts_ == 300) return {};
        return inner_.run(sql, values, seen);
    }
    Result<> script(std::string_view sql) override { return inner_.script(sql); }
    std::uint64_t changes() const override { return inner_.changes(); }
    Result<std::vector<sql::Form>> forms() override { return inner_.forms(); }
    void pipeline() override { inner_.pipeline(); }
    Result<> settle() override { return inner_.settle(); }
    std::string_view name() const override { return inner_.name(); }

private:
    sql::Connection& inner_;
    int inserts_ = 0;
};

TEST_P(Copies, ARowThatGetsLostUndoesItAll) {
    from.fill();
    auto source = from.alone().value(), target = to.alone().value();
    Wrong wrong{*target};
    const auto copied = sql::copy(*source, wrong, digest);
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().reason, "copy_differs");
    EXPECT_THAT(copied.error().message, HasSubstr("events has 699 rows"));
    EXPECT_TRUE(target->forms()->empty());
}

TEST_P(Copies, ABackupMakesANewStore) {
    from.fill();
    const std::string backup = backup_of(*from.alone().value());
    {
        auto target = to.alone().value();
        const auto head = restored(backup, *target);
        ASSERT_TRUE(head) << head.error().message;
        EXPECT_EQ(head->number, 7u);
        EXPECT_EQ(head->epoch, 7u);
        EXPECT_EQ(head->release, "0.1.0");
        const auto wrong = sql::check(*target);
        ASSERT_TRUE(wrong) << wrong.error().message;
        EXPECT_TRUE(wrong->empty()) << wrong->front().subject << wrong->front().message;
    }
    auto before = from.open().value(), after = to.open().value();
    auto was = from.run(before->load()).value(), is = to.run(after->load()).value();
    EXPECT_GT(is.number, was.number + 1'000'000) << "commits of the lost time are not counted again";
    ASSERT_EQ(std::erase_if(is.live, [](const Object& object) { return object.kind == "restore"; }), 1u);
    EXPECT_EQ(is.live, was.live);
    EXPECT_EQ(to.run(after->events({.kind = "master"}))->back().reason, "restored");
}

TEST_P(Copies, WhatOpensADoorDoesNotComeBack) {
    {
        auto store = from.open().value();
        Changes changes{.epoch = from.lead(*store), .number = 1};
        for (const auto& [kind, phase] : std::vector<std::pair<std::string, std::string>>{
                 {"sign_in", ""}, {"share", ""}, {"answer", ""}, {"api_key", "valid"}, {"host", "ready"}})
            changes.put.push_back({.kind = kind, .id = "x-" + kind, .phase = phase, .body = "{}"});
        changes.put.push_back({.kind = "host_token", .id = "t-1", .phase = "unused", .body = "{}"});
        changes.put.push_back({.kind = "host_token", .id = "t-2", .phase = "used", .body = "{}"});
        ASSERT_TRUE(from.run(store->commit(std::move(changes))));
        ASSERT_TRUE(from.run(store->resign()));
    }
    const std::string backup = backup_of(*from.alone().value());
    const auto kinds = [&](bool revoke) {
        Place place{GetParam().second};
        EXPECT_TRUE(restored(backup, *place.alone().value(), revoke));
        std::vector<std::string> ids;
        for (const Object& object : place.run(place.open().value()->load())->live) ids.push_back(object.id);
        return ids;
    };
    EXPECT_THAT(kinds(false), ::testing::UnorderedElementsAre("x-api_key", "x-host", "t-2", "restore"));
    EXPECT_THAT(kinds(true), ::testing::UnorderedElementsAre("x-host", "t-2", "restore"));
}

class OneStore : public ::testing::TestWithParam<Database> {
protected:
    Place place{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Both, OneStore, ::testing::Values(Database::sqlite, Database::postgres),
                         [](const auto& info) {
                             return info.param == Database::sqlite ? "sqlite" : "postgres";
                         });

TEST_P(OneStore, ATornOrChangedBackupLeavesNothingBehind) {
    place.fill(300);
    const std::string whole = backup_of(*place.alone().value());
    Place other{GetParam()};
    auto target = other.alone().value();
    std::vector<std::string> broken{"", "HOSTLER BACKUP 2\n", whole + "x", whole + whole};
    for (std::size_t part = 1; part < 20; ++part) {
        broken.push_back(whole.substr(0, whole.size() * part / 20));
        broken.push_back(whole);
        broken.back()[whole.size() * part / 20] ^= 1;
    }
    broken.push_back(whole.substr(0, whole.size() - 1));
    for (const std::string& text : broken) {
        const auto head = restored(text, *target);
        ASSERT_FALSE(head) << text.size();
        EXPECT_EQ(head.error().reason, "backup_damaged") << head.error().message;
        ASSERT_TRUE(target->forms()->empty());
        EXPECT_FALSE(sql::verify({bytes_of(text), digest}));
    }
    EXPECT_TRUE(sql::verify({bytes_of(whole), digest}));
    EXPECT_TRUE(restored(whole, *target));
}

TEST_P(OneStore, PiecesAreBoundedHoweverLongTheirRows) {
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    {
        auto store = place.open().value();
        const auto epoch = place.lead(*store);
        for (std::uint64_t number = 1; number <= 12; ++number) {
            Changes changes{.epoch = epoch, .number = number};
            changes.put.push_back({.kind = "instance",
                                   .id = fmt::format("i-{}", number),
                                   .tenant = "acme",
                                   .phase = "running",
                                   .body = std::string(mebibyte, 'x')});
            ASSERT_TRUE(place.run(store->commit(std::move(changes))));
        }
        ASSERT_TRUE(place.run(store->resign()));
    }
    auto source = place.alone().value();
    const auto forms = source->forms().value();
    const auto objects = std::ranges::find(forms, "objects", &sql::Form::table);
    ASSERT_NE(objects, forms.end());
    sql::PieceReader reader{*source, *objects};
    std::size_t rows = 0;
    while (true) {
        const auto piece = reader.next().value();
        if (piece.rows == 0) break;
        rows += piece.rows;
        EXPECT_LT(piece.bytes.size(), 6 * mebibyte);
    }
    EXPECT_EQ(rows, 12u);
    Place other{GetParam()};
    EXPECT_TRUE(restored(backup_of(*source), *other.alone().value()));
}

TEST_P(OneStore, WhatIsNotThereIsNotCopied) {
    Place other{GetParam()};
    auto target = other.alone().value();
    const auto missing = place.alone(IfMissing::refuse);
    if (GetParam() == Database::sqlite) {
        ASSERT_FALSE(missing);
        EXPECT_EQ(missing.error().code, Code::not_found);
    } else {
        const auto copied = sql::copy(**missing, *target, digest);
        ASSERT_FALSE(copied);
        EXPECT_EQ(copied.error().reason, "store_not_made");
    }
}

TEST_P(OneStore, SaysWhatIsWrongById) {
    place.fill(60);
    auto connection = place.alone().value();
    const auto none = sql::check(*connection);
    ASSERT_TRUE(none) << none.error().message;
    EXPECT_TRUE(none->empty());
    const auto found = [&](const std::string& sql, const std::string& subject, const std::string& words) {
        ASSERT_TRUE(connection->run("BEGIN"));
        const auto done = connection->run(sql);
        ASSERT_TRUE(done) << done.error().message;
        const auto wrong = sql::check(*connection);
        ASSERT_TRUE(wrong) << wrong.error().message;
        ASSERT_FALSE(wrong->empty()) << sql;
        EXPECT_EQ(wrong->front().subject, subject) << wrong->front().message;
        EXPECT_THAT(wrong->front().message, HasSubstr(words));
        ASSERT_TRUE(connection->run("ROLLBACK"));
    };
    found("DELETE FROM objects WHERE id = '3-é3'", "claim/3-é3", "the ledger has it as instance on h-1");
    found("UPDATE objects SET tenant = 'other' WHERE id = '3-é3'", "claim/3-é3", "instance of 'acme'");
    found("DELETE FROM ledger WHERE claim = '6-é6'", "claim/6-é6", "the ledger does not have it");
    found("UPDATE objects SET version = 99 WHERE id = '1-é1'", "instance/1-é1", "of 1");
    found("UPDATE objects SET state = 7 WHERE id = '1-é1'", "instance/1-é1", "its state is 7");
    found("UPDATE objects SET body = '' WHERE id = '1-é1'", "instance/1-é1", "no body");
    found("UPDATE commands SET kind = 'claim' WHERE id = '2-é2'", "claim/2-é2", "the table commands");
    found("UPDATE events SET number = 50 WHERE line = 3", "events/lines", "after 1");
}

TEST_P(OneStore, MigratesForwardOnlyAndKeepsWhatANewerReleaseAdded) {
    place.fill(20);
    {
        auto newer = place.alone().value();
        ASSERT_TRUE(
            newer->script("ALTER TABLE objects ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'; "
                          "UPDATE objects SET colour = 'blue' WHERE kind = 'instance'; "
                          "CREATE TABLE meters (name TEXT NOT NULL PRIMARY KEY, value BIGINT NOT NULL); "
                          "INSERT INTO meters (name, value) VALUES ('m-1', 7); "
                          "UPDATE meta SET value = 99 WHERE name = 'schema'"));
    }
    const auto coloured = [&] {
        std::uint64_t count = 0;
        EXPECT_TRUE(place.alone().value()->run("SELECT count(*) FROM objects WHERE colour = 'blue'", {},
                                               [&](const sql::Row& row) { count = row.number(0); }));
        return count;
    };
    const auto blue = coloured();
    {
        auto store = place.open();
        ASSERT_TRUE(store) << store.error().message;
        const auto epoch = place.lead(**store);
        const auto object = place.run((*store)->find("instance", "1-é1")).value();
        Changes changes{.epoch = epoch, .number = place.run((*store)->load())->number + 1};
        changes.put = {object, {.kind = "instance", .id = "new", .body = "{}"}};
        ASSERT_TRUE(place.run((*store)->commit(std::move(changes))));
        ASSERT_TRUE(place.run((*store)->resign()));
    }
    EXPECT_EQ(coloured(), blue) << "a row that is written again keeps what this release does not know";
    {
        auto connection = place.alone().value();
        EXPECT_EQ(sql::Rows{*connection}.meta("schema").value(), 99u);
        EXPECT_TRUE(sql::check(*connection));
        // All of it is in a backup, which only that release can use.
        const std::string backup = backup_of(*connection);
        EXPECT_THAT(backup, HasSubstr("colour"));
        EXPECT_THAT(backup, HasSubstr("m-1"));
        Place other{GetParam()};
        const auto head = restored(backup, *other.alone().value());
        ASSERT_FALSE(head);
        EXPECT_EQ(head.error().reason, "store_too_new");
        const auto copied = sql::copy(*connection, *other.alone().value(), digest);
        ASSERT_FALSE(copied);
        EXPECT_EQ(copied.error().reason, "store_too_new");
        ASSERT_TRUE(connection->run("UPDATE meta SET value = 98 WHERE name = 'schema_floor'"));
    }
    const auto refused = place.open();
    ASSERT_FALSE(refused) << "the newer release says that this one may not";
    EXPECT_EQ(refused.error().reason, "store_too_new");
}

constexpr std::uint64_t unsealed = 1, sealed = 3;  // Whom the store serves.

std::uint64_t floor_of(Place& place) {
    return sql::Rows{*place.alone().value()}.meta("schema_floor").value();
}

TEST_P(OneStore, OnceATenantHasASecretOnlyWhoGivesItMayUseIt) {
    place.fill(1);
    auto store = place.open().value();
    Changes changes{.epoch = place.lead(*store), .number = place.run(store->load())->number + 1};
    changes.put = {{.kind = "secret", .id = "sec-1", .tenant = "acme", .body = "{}"}};
    ASSERT_TRUE(place.run(store->commit(changes)));
    ASSERT_TRUE(place.run(store->resign()));
    store.reset();
    EXPECT_EQ(floor_of(place), 6u) << "the schema that knows of secrets";
    EXPECT_TRUE(place.run(place.open().value()->load()));
}

TEST_P(OneStore, OnceATenantHasASecondProjectOnlyWhoSeparatesThemMayUseIt) {
    place.fill(1);
    for (const bool second : {false, true}) {
        auto store = place.open().value();
        Changes changes{.epoch = place.lead(*store), .number = place.run(store->load())->number + 1};
        changes.put = {
            {.kind = "project", .id = second ? "acme/lab" : "acme/default", .tenant = "acme", .body = "{}"}};
        ASSERT_TRUE(place.run(store->commit(changes)));
        ASSERT_TRUE(place.run(store->resign()));
        store.reset();
        EXPECT_EQ(floor_of(place), second ? 10u : unsealed);
    }
}

TEST_P(OneStore, OnceSecretsAreSealedOnlyWhoOpensThemMayUseIt) {
    place.fill(20);
    EXPECT_EQ(floor_of(place), unsealed) << "nothing is sealed: a build from before may have it back";
    {
        auto store = place.open().value();
        Changes changes{.epoch = place.lead(*store), .number = place.run(store->load())->number + 1};
        changes.put = {{.kind = "sealing_key", .id = "k-1", .body = "{}"},
                       {.kind = "instance", .id = "i", .body = "{}"}};
        ASSERT_TRUE(place.run(store->commit(changes)));
        ASSERT_TRUE(place.run(store->resign()));
    }
    EXPECT_EQ(floor_of(place), sealed);
    EXPECT_TRUE(place.run(place.open().value()->load()));
    EXPECT_EQ(floor_of(place), sealed) << "it does not fall";
    Place other{GetParam()}, third{GetParam()};
    ASSERT_TRUE(restored(backup_of(*place.alone().value()), *other.alone().value()));
    EXPECT_EQ(floor_of(other), sealed) << "nor by a restore";
    ASSERT_TRUE(sql::copy(*place.alone().value(), *third.alone().value(), digest));
    EXPECT_EQ(floor_of(third), sealed);
}

// A build that knew two migrations could have sealed already.
TEST_P(OneStore, AStoreThatIsSealedAlreadyIsToldApartByTheMigration) {
    for (const bool is_sealed : {false, true}) {
        Place before{GetParam()};
        {
            auto connection = before.alone().value();
            sql::Rows rows{*connection};
            ASSERT_TRUE(rows.migrate(false, "of before", 2));
            ASSERT_EQ(rows.meta("schema").value(), 2u);
            if (is_sealed)
                ASSERT_TRUE(
                    connection->script("INSERT INTO objects (kind, id, tenant, project, phase, generation, "
                                       "created, version, state, body) VALUES ('sealing_key', 'k-1', '', '', "
                                       "'', 0, 1, 1, 0, '{}')"));
            EXPECT_EQ(rows.meta("schema_floor").value(), unsealed);
        }
        ASSERT_TRUE(before.open());
        EXPECT_EQ(floor_of(before), is_sealed ? sealed : unsealed);
    }
}

}  // namespace

}  // namespace hostler::contract
