// The store's promises on a real PostgreSQL, and what happens to it there.
#include <gmock/gmock.h>

#include <thread>

#include "adapters/postgres/connection.h"
#include "adapters/postgres/store.h"
#include "adapters/postgres/testing/server.h"
#include "core/task_group.h"
#include "core/worker.h"
#include "store_contract.h"

namespace hostler::contract {

namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

postgres::testing::Server& server() { return postgres::testing::shared(); }

class PostgresRig : public StoreRig {
public:
    Result<std::unique_ptr<Store>> open() override {
        return open_postgres(url, *worker, *lease_worker, options);
    }
    template <class T>
    Result<T> run(Task<T> task) {
        return testing::run_real(loop, std::move(task));
    }
    std::string database = server().new_database();
    std::string url = server().url(database);
    PostgresOptions options{.stall_max = {}};  // Only this loop renews.
    std::unique_ptr<Worker> worker = make_worker(loop, "store");
    std::unique_ptr<Worker> lease_worker = make_worker(loop, "lease");
};

INSTANTIATE_TEST_SUITE_P(Postgres, StoreContract,
                         ::testing::Values(StoreKind{"server",
                                                     [] { return std::make_unique<PostgresRig>(); }}),
                         [](const auto& info) { return info.param.name; });

Changes tenant_change(std::uint64_t epoch, std::uint64_t number, std::string id,
                      std::string tenant = "acme") {
    Changes changes{.epoch = epoch, .number = number};
    changes.put.push_back(
        {.kind = "instance", .id = std::move(id), .tenant = std::move(tenant), .body = "{}"});
    return changes;
}

// Two masters on one database.
struct TwoMasters : ::testing::Test {
    PostgresRig rig;
    std::unique_ptr<Store> first = rig.open().value();
    std::unique_ptr<Store> second = rig.open().value();

    Result<Lease> lead(Store& store, const Contender& who, Duration length = lease_time) {
        return rig.run(store.lead(who, length, 0));
    }
    // "" when it leads.
    std::string refusal(Store& store, const Contender& who) {
        const auto taken = lead(store, who);
        return taken ? "" : taken.error().reason;
    }
    // As if the lease's time had passed.
    void run_out() { server().sql(rig.database, "UPDATE lease SET ends = ends - 3600 * 1000000::bigint"); }
};

TEST_F(TwoMasters, TheLeaseIsTakenOnlyWhenItHasRunOut) {
    EXPECT_EQ(rig.run(second->leader()).value(), std::nullopt);
    const auto mine = lead(*first, m1);
    ASSERT_TRUE(mine);
    EXPECT_TRUE(mine->runs_out);
    const auto refused = lead(*second, m2);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_EQ(refused.error().reason, "lease_held");
    EXPECT_THAT(refused.error().message, HasSubstr("m-1 at one:7440"));
    EXPECT_EQ(rig.run(second->leader()).value()->who, m1);
    EXPECT_GT(rig.run(second->leader()).value()->left, lease_time / 2);
    ASSERT_TRUE(rig.run(first->commit(tenant_change(mine->epoch, 1, "i-1"))));

    run_out();
    EXPECT_EQ(rig.run(second->leader()).value()->left, Duration{0});
    const auto next = lead(*second, m2);
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_GT(next->epoch, mine->epoch);
    EXPECT_EQ(rig.run(first->commit(tenant_change(mine->epoch, 2, "late"))).error().code, Code::conflict);
    EXPECT_EQ(rig.run(first->renew()).error().reason, "not_leader");
    EXPECT_EQ(rig.run(first->resign()).error().reason, "not_leader");
    EXPECT_EQ(refusal(*first, m1), "lease_held");
    EXPECT_TRUE(rig.run(second->commit(tenant_change(next->epoch, 2, "i-2"))));
    EXPECT_FALSE(rig.run(second->find("instance", "late")));
}

TEST_F(TwoMasters, OneThatFollowsReadsWhatChanged) {
    const auto epoch = lead(*first, m1).value().epoch;
    ASSERT_TRUE(rig.run(first->commit(tenant_change(epoch, 1, "i-1"))));
    const auto before = rig.run(second->load()).value();
    ASSERT_TRUE(rig.run(first->commit(tenant_change(epoch, 2, "i-2"))));
    const auto since = rig.run(second->load_since(before.point())).value();
    EXPECT_FALSE(since.whole);
    ASSERT_EQ(since.live.size(), 1u);
    EXPECT_EQ(since.live[0].id, "i-2");
    EXPECT_TRUE(rig.run(second->load_since({before.number, before.life + 1})).value().whole)
        << "after a failover the same number may mean another commit";
    // A release that notes no changes has led in between.
    server().sql(rig.database, "DELETE FROM changed WHERE number = 2");
    EXPECT_TRUE(rig.run(second->load_since(before.point())).value().whole);
    EXPECT_TRUE(rig.run(second->load_since({7, before.life})).value().whole) << "it went back";
}

TEST_F(TwoMasters, ARenewalMakesItLastFromThen) {
    ASSERT_TRUE(lead(*first, m1));
    run_out();
    ASSERT_TRUE(rig.run(first->renew())) << "nobody has taken it: it is still the first's";
    EXPECT_GT(rig.run(second->leader()).value()->left, lease_time / 2);
    EXPECT_EQ(refusal(*second, m2), "lease_held");
    EXPECT_TRUE(lead(*first, m1)) << "its own it takes again at once";
}

TEST_F(TwoMasters, AResignedLeaseIsTakenAtOnce) {
    ASSERT_TRUE(lead(*first, m1));
    ASSERT_TRUE(rig.run(first->resign()));
    EXPECT_EQ(rig.run(second->leader()).value()->left, Duration{0});
    EXPECT_TRUE(lead(*second, m2));
}

TEST_F(TwoMasters, ARenewalWaitsForNoCommit) {
    const auto epoch = lead(*first, m1).value().epoch;
    auto holder = postgres::Connection::open(rig.url, milliseconds{5000}, milliseconds{60000}).value();
    ASSERT_TRUE(holder->run("BEGIN"));
    ASSERT_TRUE(holder->run("SELECT value FROM meta WHERE name = 'number' FOR UPDATE"));
    std::optional<Result<>> committed;
    TaskGroup tasks{rig.loop};
    tasks.start("commit", [](Task<> commit, std::optional<Result<>>& into) -> Task<> {
        into = co_await std::move(commit);
        co_return Result<>{};
    }(first->commit(tenant_change(epoch, 1, "i-1")), committed));
    EXPECT_TRUE(rig.run(first->renew()));
    EXPECT_FALSE(committed);
    ASSERT_TRUE(holder->run("COMMIT"));
    (void)rig.run(first->find("instance", "i-1"));  // Behind it on the same thread.
    EXPECT_TRUE(committed && *committed);
    (void)rig.run(tasks.close());
}

// Whoever works on a store that no master uses has it alone: a leader that stood still and wakes up, and one
// that comes, wait for him.
TEST_F(TwoMasters, WaitForWhoeverHasTheStoreAlone) {
    const auto epoch = lead(*first, m1).value().epoch;
    run_out();
    auto alone = open_postgres_alone(rig.url).value();
    TaskGroup tasks{rig.loop};
    std::optional<Result<>> committed;
    std::optional<Result<Lease>> led;
    tasks.start("commit", [](Task<> commit, std::optional<Result<>>& into) -> Task<> {
        into = co_await std::move(commit);
        co_return Result<>{};
    }(first->commit(tenant_change(epoch, 1, "i-1")), committed));
    tasks.start("lead", [](Task<Lease> lead, std::optional<Result<Lease>>& into) -> Task<> {
        into = co_await std::move(lead);
        co_return Result<>{};
    }(first->lead(m1, lease_time, 0), led));
    rig.loop.restart();
    rig.loop.poll();
    EXPECT_FALSE(committed);
    const auto seen = [&] {
        std::uint64_t waiting = 0;
        EXPECT_TRUE(alone->run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted",
                               {}, [&](const sql::Row& row) { waiting = row.number(0); }));
        return waiting;
    };
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{30};
         seen() == 0 && std::chrono::steady_clock::now() < until;)
        std::this_thread::yield();
    EXPECT_EQ(seen(), 1u);
    rig.loop.poll();
    EXPECT_FALSE(committed || led);
    alone.reset();
    (void)rig.run(first->load());  // Behind them on the same thread.
    EXPECT_TRUE(committed && *committed);
    EXPECT_TRUE(led && *led);
    (void)rig.run(tasks.close());
}

// After a failover the clock is another machine's: what it says of the lease counts for nothing.
TEST_F(TwoMasters, OnAnotherServerALeaseLastsOnceMore) {
    ASSERT_TRUE(lead(*first, m1));
    for (const char* clock : {"ends - 3600 * 1000000::bigint", "ends + 3600 * 1000000::bigint"}) {
        server().sql(rig.database, fmt::format("UPDATE lease SET server = 1, ends = {}", clock));
        EXPECT_EQ(rig.run(second->leader()).value()->left, Duration{0}) << "it is worth asking";
        EXPECT_EQ(refusal(*second, m2), "lease_held");
        const auto left = rig.run(second->leader()).value()->left;
        EXPECT_GT(left, lease_time / 2);
        EXPECT_LE(left, lease_time);
    }
    server().sql(rig.database, "UPDATE lease SET server = 1");
    EXPECT_TRUE(rig.run(first->renew())) << "its holder goes on there";
    run_out();
    EXPECT_TRUE(lead(*second, m2));
}

// Else nobody could lead until it is as late again, when the one that leads dies.
TEST_F(TwoMasters, AfterTheClockWasPutBackALeaseLastsOnceMore) {
    ASSERT_TRUE(lead(*first, m1));
    server().sql(rig.database, "UPDATE lease SET ends = ends + 3600 * 1000000::bigint");
    EXPECT_GT(rig.run(second->leader()).value()->left, 2 * lease_time) << "it is worth asking";
    EXPECT_EQ(refusal(*second, m2), "lease_held");
    const auto left = rig.run(second->leader()).value()->left;
    EXPECT_GT(left, lease_time / 2);
    EXPECT_LE(left, lease_time);
    EXPECT_TRUE(rig.run(first->renew())) << "its holder goes on";
}

TEST_F(TwoMasters, StartTogetherOnAnEmptyDatabase) {
    PostgresRig empty;
    std::array<std::optional<Result<std::unique_ptr<Store>>>, 4> opened;
    std::vector<std::jthread> masters;
    for (auto& one : opened) masters.emplace_back([&] { one = empty.open(); });
    masters.clear();
    for (const auto& one : opened) EXPECT_TRUE(*one) << one->error().message;
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
    server().sql(rig.database, "UPDATE meta SET value = 99 WHERE name LIKE 'schema%'");
    const auto again = rig.open();
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().reason, "store_too_new");
}

// It opened the store before a newer release led.
TEST(Postgres, WhoFollowsDoesNotLeadOverTheTablesOfANewerRelease) {
    PostgresRig rig;
    auto store = rig.open().value();
    server().sql(rig.database, "UPDATE meta SET value = 99 WHERE name LIKE 'schema%'");
    const auto led = rig.run(store->lead(m1, lease_time, 0));
    ASSERT_FALSE(led);
    EXPECT_EQ(led.error().reason, "store_too_new");
    const auto leader = rig.run(store->leader());
    EXPECT_TRUE(leader && !*leader) << "it has not taken the lease";
    server().sql(rig.database, "UPDATE meta SET value = 1 WHERE name = 'schema_floor'");
    EXPECT_TRUE(rig.run(store->lead(m1, lease_time, 0))) << "that one only added";
}

// One name that PostgreSQL cannot hold (bytes that are no UTF-8) fails alone.
TEST(Postgres, AValueThatCannotBeHeldLeavesItsNeighboursAlone) {
    PostgresRig rig;
    auto store = rig.open().value();
    const auto epoch = rig.run(store->lead(m1, lease_time, 0)).value().epoch;
    auto a = store->commit(tenant_change(epoch, 1, "first")),
         b = store->commit(tenant_change(epoch, 2, "odd", "\xff")),
         c = store->commit(tenant_change(epoch, 3, "last"));
    EXPECT_TRUE(rig.run(std::move(a)));
    EXPECT_EQ(rig.run(std::move(b)).error().code, Code::invalid);
    EXPECT_TRUE(rig.run(std::move(c)));
    EXPECT_EQ(rig.run(store->load())->live.size(), 2u);
}

// Reading goes on: a follower reads too.
TEST(Postgres, AfterALostConnectionNothingIsWrittenBeforeLead) {
    PostgresRig rig;
    auto store = rig.open().value();
    auto epoch = rig.run(store->lead(m1, lease_time, 0)).value().epoch;
    ASSERT_TRUE(rig.run(store->commit(tenant_change(epoch, 1, "i-1"))));
    server().sql("postgres",
                 "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hostler'");
    EXPECT_EQ(rig.run(store->commit(tenant_change(epoch, 2, "i-2"))).error().code, Code::unavailable);
    EXPECT_EQ(rig.run(store->commit(tenant_change(epoch, 3, "i-3"))).error().code, Code::unavailable);
    EXPECT_EQ(rig.run(store->load())->live.size(), 1u);
    EXPECT_EQ(rig.run(store->commit(tenant_change(epoch, 3, "i-3"))).error().code, Code::unavailable);
    epoch = rig.run(store->lead(m1, lease_time, 0)).value().epoch;
    EXPECT_TRUE(rig.run(store->commit(tenant_change(epoch, 4, "i-4"))));
    EXPECT_TRUE(rig.run(store->find("instance", "i-1")));
    EXPECT_FALSE(rig.run(store->find("instance", "i-3")));
}

// The thread of the test is the loop: while it asks the second store, nothing runs for the first.
TEST_F(TwoMasters, ALoopThatStandsStillKeepsItsLeaseForAWhile) {
    rig.options.stall_max = milliseconds{3'000};
    first = rig.open().value();
    const Duration length = milliseconds{1'000};
    const auto begun = std::chrono::steady_clock::now();
    const auto epoch = lead(*first, m1, length).value().epoch;
    while (refusal(*second, m2) != "")
        ASSERT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{30});
    EXPECT_GE(std::chrono::steady_clock::now() - begun, rig.options.stall_max);
    ASSERT_TRUE(first->renewed());
    EXPECT_EQ(rig.run(first->renew()).error().reason, "not_leader");
    EXPECT_EQ(rig.run(first->commit(tenant_change(epoch, 1, "late"))).error().code, Code::conflict);
}

TEST_F(TwoMasters, WhatIsLetGoOrResignedIsRenewedNoMore) {
    rig.options.stall_max = std::chrono::hours{1};
    first = rig.open().value();
    ASSERT_TRUE(lead(*first, m1, milliseconds{300}));
    first->stop_keeping();
    while (refusal(*second, m2) != "") std::this_thread::yield();
    ASSERT_TRUE(rig.run(second->resign()));
    ASSERT_TRUE(lead(*first, m1, milliseconds{300}));
    ASSERT_TRUE(rig.run(first->resign()));
    EXPECT_EQ(refusal(*second, m2), "");
}

TEST(Postgres, AServerThatIsStoppedIsGivenUpInTime) {
    postgres::testing::Server own;
    PostgresRig rig;
    rig.url = own.url(own.new_database());
    rig.options.call_max = rig.options.connect_max = milliseconds{500};
    auto store = rig.open().value();
    const auto epoch = rig.run(store->lead(m1, lease_time, 0)).value().epoch;
    own.stop(SIGINT);
    EXPECT_EQ(rig.run(store->commit(tenant_change(epoch, 1, "i-1"))).error().code, Code::unavailable);
    EXPECT_EQ(rig.run(store->lead(m1, lease_time, 0)).error().code, Code::unavailable);
    own.start();
    EXPECT_GT(rig.run(store->lead(m1, lease_time, 0)).value().epoch, epoch);
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
    EXPECT_TRUE(rig.run((*next)->lead(m1, lease_time, 0)));
    EXPECT_FALSE(halted->run("COMMIT"));
}

TEST(Postgres, ManyCommitsShareFewTransactions) {
    PostgresRig rig;
    auto store = rig.open().value();
    const auto epoch = rig.run(store->lead(m1, lease_time, 0)).value().epoch;
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
        calls.push_back(store->commit(tenant_change(epoch, i, "i-" + std::to_string(i))));
    for (auto& call : calls) ASSERT_TRUE(rig.run(std::move(call)));
    EXPECT_LE(transactions() - before, 6u) << "two batches, and those who count";
}

}  // namespace

}  // namespace hostler::contract
