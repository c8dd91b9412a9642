// The chain of the audit in both kinds of stores: what somebody does to the tables is found, and a copy, a
// backup and an upgrade keep it.
#include <gmock/gmock.h>

#include "copy_rig.h"
#include "sql/rows.h"

namespace hostler::contract {

namespace {

using ::testing::HasSubstr;

class AuditChain : public ::testing::TestWithParam<Database> {
protected:
    // So many lines, of three in a commit; every second commit is sealed.
    void write(int commits, std::uint64_t first = 1) {
        auto store = place.open().value();
        Changes changes{.epoch = place.lead(*store)};
        AuditHead head = place.run(store->load()).value().audit;
        for (int i = 0; i < commits; ++i) {
            changes.number = first + static_cast<std::uint64_t>(i);
            changes.audit.clear();
            changes.seals.clear();
            for (int line = 0; line < 3; ++line)
                changes.audit.push_back({.time = WallTime{std::chrono::seconds{i}},
                                         .actor = "key/k-1",
                                         .operation = "createVolume",
                                         .subject = fmt::format("volume/v-{}-{}", i, line),
                                         .status = 202,
                                         .service = "volume",
                                         .result = "ok"});
            chain_lines(digest, changes.number, changes.audit, head);
            if (i % 2 == 1) changes.seals.push_back({head, {}, changes.epoch, "f00d", "PEM", "c2ln"});
            ASSERT_TRUE(place.run(store->commit(changes)));
        }
        ASSERT_TRUE(place.run(store->resign()));
    }
    static std::string findings(Place& in) {
        auto opened = in.open();
        if (!opened) return "it does not open: " + opened.error().message;
        const auto store = std::move(*opened);
        const AuditAnchors anchors = in.run(store->audit_anchors(0, 1000)).value();
        ChainCheck check{digest, anchors.base};
        check.expect_head(anchors.head);
        for (const AuditSeal& seal : anchors.seals)
            check.add_seal(seal, [](const AuditSeal&) { return Result<>{}; });
        const AuditPage page = in.run(store->audit({.limit = 1000, .order = AuditOrder::written})).value();
        for (const AuditLine& line : page.lines) check.add(line);
        check.end();
        std::string all = fmt::format("{} {}:", check.unchained(), check.chained());
        for (const ChainFinding& one : check.findings())
            all += fmt::format(" {} {}.", one.position, one.text);
        return all;
    }
    std::string findings() { return findings(place); }
    void change(const std::string& sql) {
        auto connection = place.alone().value();
        const auto done = connection->run(sql);
        ASSERT_TRUE(done) << done.error().message;
        ASSERT_GT(connection->changes(), 0u) << sql;
    }
    Place place{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Both, AuditChain, ::testing::Values(Database::sqlite, Database::postgres),
                         [](const auto& info) {
                             return info.param == Database::sqlite ? "sqlite" : "postgres";
                         });

TEST_P(AuditChain, WhatSomebodyDoesToTheTableIsFound) {
    write(6);
    EXPECT_EQ(findings(), "0 18:");
    struct Deed {
        std::string sql, undo, found;
    };
    for (const auto& [sql, undo, found] : {
             Deed{"UPDATE audit SET subject = 'volume/x' WHERE position = 5",
                  "UPDATE audit SET subject = 'volume/v-1-1' WHERE position = 5",
                  "5 its contents are not those that its hash is of."},
             Deed{"UPDATE audit SET result = 'failed' WHERE position = 5",
                  "UPDATE audit SET result = 'ok' WHERE position = 5",
                  "5 its contents are not those that its hash is of."},
             Deed{"UPDATE audit SET hash = '' , position = 0 WHERE number = 2 AND line = 1",
                  "UPDATE audit SET position = 5 WHERE number = 2 AND line = 1", "0 17:"},
         }) {
        change(sql);
        EXPECT_THAT(findings(), HasSubstr(found)) << sql;
        if (!found.starts_with("0 17")) change(undo);
    }
}

TEST_P(AuditChain, ALineThatIsGoneMovedOrPutInIsFound) {
    write(6);
    change("UPDATE audit SET number = 6, line = 99 WHERE position = 5");  // Moved to the end.
    EXPECT_THAT(findings(), HasSubstr("6 the line at position 5 before it is missing."));
    EXPECT_THAT(findings(), HasSubstr("5 it comes behind the line at position 18"));
    change("DELETE FROM audit WHERE line = 99");
    EXPECT_EQ(findings(), "0 17: 6 the line at position 5 before it is missing.");
    // As an older release writes it, or somebody who knows no better.
    change(
        "INSERT INTO audit (number, line, time, actor, address, operation, subject, tenant, status, "
        "body_before, "
        "body_after) VALUES (3, 7, 1, 'key/evil', '', 'createVolume', 'volume/x', '', 202, '', '')");
    EXPECT_THAT(findings(), HasSubstr("0 it has no hash, and the chain has begun before it"));
}

TEST_P(AuditChain, AnEndThatWasCutOffIsFoundBySealsAlso) {
    write(6);
    change("DELETE FROM audit WHERE number >= 4");
    EXPECT_THAT(findings(),
                HasSubstr("18 it was the last line, and the last one that is there is at position 9"));
    change("DELETE FROM audit_chain");
    EXPECT_THAT(findings(),
                HasSubstr("12 it is sealed, and the last line is at position 9: the end was cut off"));
    // Who goes on from there writes other lines in their places.
    write(2, 100);
    EXPECT_THAT(findings(), HasSubstr("it is sealed"));
}

TEST_P(AuditChain, IsInACopyAndInABackup) {
    write(6);
    ASSERT_EQ(place.run(place.open().value()->prune_audit(WallTime{std::chrono::seconds{2}})).value(), 6u);
    EXPECT_EQ(findings(), "0 12:");
    for (const Database kind : {Database::sqlite, Database::postgres}) {
        Place copied{kind}, back{kind};
        ASSERT_TRUE(sql::copy(*place.alone().value(), *copied.alone().value(), digest));
        EXPECT_EQ(findings(copied), "0 12:");
        ASSERT_TRUE(restored(backup_of(*place.alone().value()), *back.alone().value()));
        EXPECT_EQ(findings(back), "0 12:");
    }
}

TEST_P(AuditChain, BeginsBehindTheLinesOfAnOlderReleaseAndTellsOfLaterOnes) {
    constexpr std::string_view older =
        "INSERT INTO audit (number, line, time, actor, address, operation, subject, tenant, status, "
        "body_before, "
        "body_after, checksum, client, client_checksum) VALUES ({}, 0, 1, 'key/k-1', '', 'createVolume', "
        "'volume/v', '', 202, '', '', 0, '', 0); UPDATE meta SET value = {} WHERE name = 'number'";
    {
        auto connection = place.alone().value();
        ASSERT_TRUE(sql::Rows{*connection}.migrate(false, "of before", 8));
        ASSERT_TRUE(connection->script(fmt::format(older, 1, 1)));
    }
    EXPECT_EQ(findings(), "1 0:");
    write(2, 2);
    EXPECT_EQ(findings(), "1 6:");
    // A release that knows no chain leads for a while.
    ASSERT_TRUE(place.alone().value()->script(fmt::format(older, 4, 4)));
    write(1, 5);
    EXPECT_THAT(findings(),
                HasSubstr("1 9: 0 it has no hash, and the chain has begun before it at position 6: an "
                          "older release wrote it"));
}

TEST_P(AuditChain, AHeadThatCannotBeReadIsThatOfTheLastLine) {
    write(2);
    change("UPDATE audit_chain SET position = 3 WHERE name = 'head'");
    const auto store = place.open().value();
    EXPECT_EQ(place.run(store->load())->audit.position, 6u);
}

}  // namespace

}  // namespace hostler::contract
