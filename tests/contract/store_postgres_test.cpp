// The store's promises on a real PostgreSQL, and what happens to it there.
#include <gmock/gmock.h>

#include "adapters/postgres/connection.h"
#include "adapters/postgres/store.h"
#include "adapters/postgres/testing/server.h"
#include "core/worker.h"
#include "store_contract.h"

namespace hostler::contract {

namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// One for all tests of the program, a database each.
postgres::testing::Server& server() {
    static postgres::testing::Server one;
    return one;
}

class PostgresRig : public StoreRig {
public:
    Result<std::unique_ptr<Store>> open() override { return open_postgres(url, *worker, options); }
    template <class T>
    Result<T> run(Task<T> task) {
        return testing::run_real(loop, std::move(task));
    }
    std::string database = server().new_database();
    std::string url = server().url(database);
    PostgresOptions options{};
    std::unique_ptr<Worker> worker = make_worker(loop, "store");
};

INSTANTIATE_TEST_SUITE_P(Postgres, StoreContract,
                         ::testing::Values(StoreKind{"server",
                                                     [] { return std::make_unique<PostgresRig>(); }}),
                         [](const auto& info) { return info.param.name; });

Changes change(std::uint64_t epoch, std::uint64_t number, std::string id, std::string tenant = "acme") {
    Changes changes{.epoch = epoch, .number = number};
    changes.put.push_back(
        {.kind = "instance", .id = std::move(id), .tenant = std::move(tenant), .body = "{}"});
    return changes;
}

TEST(Postgres, ASecondMasterIsToldWhy) {
    PostgresRig rig;
    const auto first = rig.open();
    ASSERT_TRUE(first);
    const auto second = rig.open();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
    EXPECT_EQ(second.error().reason, "store_in_use");
    EXPECT_THAT(second.error().message, HasSubstr("in use by another master"));
}

TEST(Postgres, SaysWhatIsWrongWithTheUrl) {
    PostgresRig rig;
    rig.url = "postgresql://[::1/hostler";
    const auto odd = rig.open();
    ASSERT_FALSE(odd);
    EXPECT_EQ(odd.error().code, Code::invalid);
    rig.url = server().url("nothing_of_that_name");
    const auto missing = rig.open();
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Code::unavailable);
    EXPECT_THAT(missing.error().message, HasSubstr("nothing_of_that_name"));
}

TEST(Postgres, RefusesTheTablesOfANewerRelease) {
    PostgresRig rig;
    ASSERT_TRUE(rig.open());
    server().sql(rig.database, "UPDATE meta SET value = 99 WHERE name = 'schema'");
    const auto again = rig.open();
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().reason, "store_too_new");
}

// One name that PostgreSQL cannot hold (bytes that are no UTF-8) fails alone.
TEST(Postgres, AValueThatCannotBeHeldLeavesItsNeighboursAlone) {
    PostgresRig rig;
    auto store = rig.open().value();
    const auto epoch = rig.run(store->lead(0)).value();
    auto a = store->commit(change(epoch, 1, "first")), b = store->commit(change(epoch, 2, "odd", "\xff")),
         c = store->commit(change(epoch, 3, "last"));
    EXPECT_TRUE(rig.run(std::move(a)));
    EXPECT_EQ(rig.run(std::move(b)).error().code, Code::invalid);
    EXPECT_TRUE(rig.run(std::move(c)));
    EXPECT_EQ(rig.run(store->load())->live.size(), 2u);
}

TEST(Postgres, AfterALostConnectionNothingGoesBeforeLead) {
    PostgresRig rig;
    auto store = rig.open().value();
    auto epoch = rig.run(store->lead(0)).value();
    ASSERT_TRUE(rig.run(store->commit(change(epoch, 1, "i-1"))));
    server().sql("postgres",
                 "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hostler'");
    EXPECT_EQ(rig.run(store->commit(change(epoch, 2, "i-2"))).error().code, Code::unavailable);
    EXPECT_EQ(rig.run(store->commit(change(epoch, 3, "i-3"))).error().code, Code::unavailable);
    EXPECT_EQ(rig.run(store->load()).error().code, Code::unavailable);
    epoch = rig.run(store->lead(0)).value();
    EXPECT_TRUE(rig.run(store->commit(change(epoch, 4, "i-4"))));
    EXPECT_TRUE(rig.run(store->find("instance", "i-1")));
    EXPECT_FALSE(rig.run(store->find("instance", "i-3")));
}

TEST(Postgres, AServerThatIsStoppedIsGivenUpInTime) {
    postgres::testing::Server own;
    PostgresRig rig;
    rig.url = own.url(own.new_database());
    rig.options.call_max = rig.options.connect_max = milliseconds{500};
    auto store = rig.open().value();
    const auto epoch = rig.run(store->lead(0)).value();
    own.stop(SIGINT);
    EXPECT_EQ(rig.run(store->commit(change(epoch, 1, "i-1"))).error().code, Code::unavailable);
    EXPECT_EQ(rig.run(store->lead(0)).error().code, Code::unavailable);
    own.start();
    EXPECT_GT(rig.run(store->lead(0)).value(), epoch);
}

// A master that is halted in the middle of a commit holds the row of the epoch; the server ends its
// transaction.
TEST(Postgres, AHaltedMasterDoesNotKeepTheNextOneOut) {
    PostgresRig rig;
    ASSERT_TRUE(rig.open());
    auto halted = postgres::Connection::open(rig.url, milliseconds{5000}, milliseconds{5000}).value();
    ASSERT_TRUE(halted->script("SET idle_in_transaction_session_timeout = '2s'"));
    ASSERT_TRUE(halted->run("BEGIN"));
    ASSERT_TRUE(halted->run("SELECT value FROM meta WHERE name = 'epoch' FOR UPDATE"));
    auto next = rig.open();
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_TRUE(rig.run((*next)->lead(0)));
    EXPECT_FALSE(halted->run("COMMIT"));
}

TEST(Postgres, ManyCommitsShareFewTransactions) {
    PostgresRig rig;
    auto store = rig.open().value();
    const auto epoch = rig.run(store->lead(0)).value();
    const auto transactions = [&] {
        auto look = postgres::Connection::open(rig.url, milliseconds{5000}, milliseconds{5000}).value();
        std::uint64_t number = 0;
        EXPECT_TRUE(look->run("SELECT (pg_current_xact_id()::text)::bigint", {},
                              [&](const sql::Row& row) { number = row.number(0); }));
        return number;
    };
    const auto before = transactions();
    std::vector<Task<>> calls;
    for (std::uint64_t i = 1; i <= 200; ++i)
        calls.push_back(store->commit(change(epoch, i, "i-" + std::to_string(i))));
    for (auto& call : calls) ASSERT_TRUE(rig.run(std::move(call)));
    EXPECT_LE(transactions() - before, 6u) << "two batches, and those who count";
}

}  // namespace

}  // namespace hostler::contract
