#include "roles/master/leader/tenure.h"

#include <gtest/gtest.h>

#include "roles/master/testing/term_rig.h"

namespace hostler::master {
namespace {

using namespace std::chrono_literals;

TEST(Tenure, EndsATenthBeforeTheLeaseThatWasAskedFor) {
    const Instant asked{100s};
    Tenure tenure{1s, asked};
    EXPECT_FALSE(tenure.without_end());
    EXPECT_TRUE(tenure.lasts(asked));
    EXPECT_TRUE(tenure.lasts(asked + 899ms));
    EXPECT_FALSE(tenure.lasts(asked + 900ms));
    EXPECT_EQ(tenure.left(asked + 200ms), 700ms);
}

TEST(Tenure, CountsFromWhenTheRenewalWasAsked) {
    Tenure tenure{1s, Instant{100s}};
    tenure.renewed(Instant{100s} + 300ms);
    EXPECT_TRUE(tenure.lasts(Instant{100s} + 1199ms));
    EXPECT_FALSE(tenure.lasts(Instant{100s} + 1200ms));
}

TEST(Tenure, OfAStoreThatNobodyElseCanHaveNeverEnds) {
    const Tenure tenure;
    EXPECT_TRUE(tenure.without_end());
    EXPECT_TRUE(tenure.lasts(Instant{std::chrono::hours{24 * 365 * 100}}));
}

// A lease of 900 ms is renewed each 300 ms and counts 810 ms.
struct HoldLease : ::testing::Test {
    HoldLease() {
        group.start("lease", [](HoldLease& rig) -> Task<> {
            rig.lost = co_await hold_lease(rig.timers, rig.store, rig.tenure);
            co_return Result<>{};
        }(*this));
        timers.settle();
    }
    ~HoldLease() override {
        store.hang_renewals = false;
        for (auto& waker : std::exchange(store.renewing, {})) waker->wake({});
        (void)hostler::testing::try_run(loop, group.close());
    }
    bool lasts() const { return tenure->lasts(timers.now_with_sleep()); }

    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    testing::FakeStore store;
    std::shared_ptr<Tenure> tenure = std::make_shared<Tenure>(900ms, timers.now_with_sleep());
    std::optional<Result<>> lost;
    TaskGroup group{loop};
};

TEST_F(HoldLease, RenewsItThriceInItsTime) {
    timers.advance(10s);
    EXPECT_EQ(store.renewals, 33);
    EXPECT_TRUE(lasts());
    EXPECT_FALSE(lost);
}

TEST_F(HoldLease, AnAnswerThatComesLateCountsFromTheQuestion) {
    store.hang_renewals = true;
    timers.advance(700ms);  // Asked at 300 ms.
    ASSERT_EQ(store.renewing.size(), 1u);
    store.hang_renewals = false;
    store.renewing.front()->wake({});
    timers.settle();
    EXPECT_EQ(tenure->left(timers.now_with_sleep()), 410ms);
    EXPECT_FALSE(lost);
}

TEST_F(HoldLease, IsLostWhenTheStoreIsSilent) {
    store.hang_renewals = true;
    timers.advance(809ms);
    EXPECT_TRUE(lasts());
    EXPECT_FALSE(lost);
    timers.advance(1ms);
    EXPECT_FALSE(lasts());
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->error().reason, "no_leader");
}

TEST_F(HoldLease, ARefusalThatTellsNothingIsAskedAgain) {
    store.renewal_failure = Error{Code::unavailable, "the network", "", {}, {}};
    timers.advance(700ms);
    EXPECT_EQ(store.renewals, 2);
    EXPECT_FALSE(lost);
    timers.advance(110ms);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->error().reason, "no_leader");
}

// The loop comes back from a long stall: its timers are late, and somebody renewed the lease meanwhile.
TEST_F(HoldLease, LastsWhenItWasRenewedBesideTheLoop) {
    const Instant now = timers.now_with_sleep();
    Tenure kept{900ms, now, &store};
    store.renewed_beside = now + 500ms;
    EXPECT_TRUE(kept.lasts(now + 1309ms));
    EXPECT_FALSE(kept.lasts(now + 1310ms));
    kept.end();
    EXPECT_FALSE(kept.lasts(now));
}

TEST_F(HoldLease, IsLostWhenTheRenewalsBesideTheLoopEnd) {
    store.hang_renewals = true;
    store.renewed_beside = timers.now_with_sleep() + 500ms;
    std::optional<Result<>> ended;
    group.start("kept lease", [](HoldLease& rig, std::optional<Result<>>& ended) -> Task<> {
        ended = co_await hold_lease(rig.timers, rig.store,
                                    std::make_shared<Tenure>(900ms, rig.timers.now_with_sleep(), &rig.store));
        co_return Result<>{};
    }(*this, ended));
    timers.advance(1309ms);
    EXPECT_TRUE(lost) << "without them";
    EXPECT_FALSE(ended);
    timers.advance(1ms);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->error().reason, "no_leader");
}

TEST_F(HoldLease, IsLostAtOnceWhenAnotherLeads) {
    store.renewal_failure = Error{Code::conflict, "another leads", "not_leader", {}, {}};
    timers.advance(300ms);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->error().reason, "not_leader");
}

// ── What a term does at its end

TEST(TermOnALease, TellsNothingFromMemoryAfterIt) {
    testing::TermRig rig;
    rig.finish();
    const auto tenure = std::make_shared<Tenure>(1s, rig.timers.now_with_sleep());
    rig.lead.term = std::make_shared<Term>(rig.ports, rig.settings,
                                           AddressPool::parse("10.208.0.0/12").value(), 2, 0, tenure);
    const Api api{rig.lead};
    rig.touch("nj");
    ASSERT_TRUE(*rig.commit());
    rig.timers.advance(899ms);
    EXPECT_TRUE(api.leader());
    EXPECT_TRUE(*hostler::testing::try_run(rig.loop, rig.term().settled()));
    rig.timers.advance(1ms);
    EXPECT_TRUE(rig.term().ended());
    EXPECT_FALSE(api.leader());
    EXPECT_FALSE(*hostler::testing::try_run(rig.loop, rig.term().settled()));
}

// What is durable was decided by the leader: the store has seen to that.
TEST(TermOnALease, AcknowledgesWhatBecameDurable) {
    testing::TermRig rig;
    rig.finish();
    const auto tenure = std::make_shared<Tenure>(1s, rig.timers.now_with_sleep());
    rig.lead.term = std::make_shared<Term>(rig.ports, rig.settings,
                                           AddressPool::parse("10.208.0.0/12").value(), 2, 0, tenure);
    rig.store.hang = true;
    rig.touch("nj");
    std::optional<Result<>> done;
    TaskGroup group{rig.loop};
    group.start("commit", [](Term& term, std::optional<Result<>>& into) -> Task<> {
        into = co_await term.commit();
        co_return Result<>{};
    }(rig.term(), done));
    rig.timers.advance(2s);
    EXPECT_FALSE(done);
    rig.store.let_go();
    rig.timers.settle();
    ASSERT_TRUE(done);
    EXPECT_TRUE(*done);
    (void)hostler::testing::try_run(rig.loop, group.close());
}

}  // namespace
}  // namespace hostler::master
