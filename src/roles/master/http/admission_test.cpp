#include "roles/master/http/admission.h"

#include <gtest/gtest.h>

#include "core/testing/manual_timers.h"
#include "core/testing/run.h"

namespace hostler::master {
namespace {

using std::chrono::seconds;

struct AdmissionTest : ::testing::Test {
    ~AdmissionTest() override {
        if (group) (void)hostler::testing::try_run(loop, group->close());
        made.clear();
    }
    struct Request {
        std::string tenant;
        std::optional<Result<>> answer;
        Admission::Turn turn;
        bool works() const { return answer && *answer; }
        std::string refused() const { return answer && !*answer ? answer->error().reason : ""; }
    };
    // One that begins now, under way until finish().
    Request& ask(const std::string& tenant, const std::string& key = "") {
        if (!admission) admission.emplace(limits, timers), group.emplace(loop);
        Request& request = *made.emplace_back(std::make_unique<Request>());
        request.tenant = tenant;
        group->start("request", [](Admission& at, Request& of, std::string by) -> Task<> {
            auto turn = co_await at.enter(of.tenant, std::move(by));
            if (turn) of.turn = std::move(*turn);
            of.answer = turn ? Result<>{} : std::unexpected(turn.error());
            co_return Result<>{};
        }(*admission, request, key.empty() ? "key/" + tenant : key));
        timers.settle();
        return request;
    }
    void finish(Request& request) {
        request.turn.leave();
        timers.settle();
    }

    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    AdmissionLimits limits{.requests_max = 4,
                           .requests_tenant_max = 3,
                           .operators_max = 1,
                           .waiting_max = 6,
                           .waiting_tenant_max = 4,
                           .key_rate = {.per_second = 1000, .burst = 1000}};
    std::optional<Admission> admission;
    std::optional<TaskGroup> group;
    std::vector<std::unique_ptr<Request>> made;
};

TEST_F(AdmissionTest, OneTenantTakesNoMoreThanItsShare) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask("a").works());
    Request& fourth = ask("a");
    EXPECT_FALSE(fourth.answer) << "though one place is free";
    EXPECT_TRUE(ask("b").works());
    EXPECT_FALSE(ask("b").answer) << "all places are taken";
    finish(*made[0]);
    EXPECT_TRUE(fourth.works());
    EXPECT_TRUE(fourth.turn.waited());
    EXPECT_EQ(admission->count().under_way, 4u);
    EXPECT_EQ(admission->count().waiting, 1u);
}

TEST_F(AdmissionTest, OperatorsAreServedHoweverBusyTenantsAre) {
    for (const char* tenant : {"a", "a", "a", "b", "b", "b", "a"}) ask(tenant);
    EXPECT_TRUE(ask("").works());
    Request& second = ask("");
    EXPECT_FALSE(second.answer);
    finish(*made[7]);
    EXPECT_TRUE(second.works());
    EXPECT_EQ(admission->count().operators_under_way, 1u);
}

// Whoever floods waits behind himself: a request of another tenant is passed by one of each that waits, at
// most.
TEST_F(AdmissionTest, AFloodDelaysOthersByOneRequestEach) {
    limits.waiting_max = 1000;
    limits.waiting_tenant_max = 400;
    limits.requests_tenant_max = 4;
    for (int i = 0; i < 300; ++i) ask("flood");
    for (int i = 0; i < 100; ++i) ask("other");
    Request& mine = ask("mine");
    Request& mine_too = ask("mine");
    std::vector<std::string> served;
    for (int i = 0; i < 8; ++i) {
        const auto next = std::ranges::find_if(made, [](const auto& one) { return one->works(); });
        std::set<Request*> before;
        for (const auto& one : made)
            if (one->works()) before.insert(one.get());
        finish(**next);
        made.erase(next);
        for (const auto& one : made)
            if (one->works() && !before.contains(one.get())) served.push_back(one->tenant);
    }
    EXPECT_TRUE(mine.works()) << "third at the latest";
    EXPECT_TRUE(mine_too.works());
    ASSERT_GE(served.size(), 6u);
    EXPECT_LE(std::ranges::find(served, "mine") - served.begin(), 2);
    EXPECT_EQ(std::ranges::count(served.begin(), served.begin() + 6, "mine"), 2);
    EXPECT_EQ(std::ranges::count(served.begin(), served.begin() + 6, "flood"), 2);
}

TEST_F(AdmissionTest, AFullQueueTakesFromWhoeverHasMostInIt) {
    for (const char* tenant : {"a", "a", "a", "b"}) ask(tenant);
    for (int i = 0; i < 4; ++i) EXPECT_FALSE(ask("a").answer);
    EXPECT_EQ(ask("a").refused(), "too_many_requests");
    Request& newest_of_a = *made[7];
    ask("b"), ask("b");
    EXPECT_EQ(admission->count().waiting, 6u);
    Request& late = ask("c");
    EXPECT_FALSE(late.answer) << "it waits,";
    EXPECT_EQ(newest_of_a.refused(), "too_many_requests") << "in the place of one of the many";
    Request& later = ask("d");
    EXPECT_FALSE(later.answer);
    EXPECT_EQ(ask("c").refused(), "overloaded") << "nobody has more than one more";
    EXPECT_EQ(admission->count().waiting, 6u);
    finish(*made[3]);
    finish(*made[0]);
    finish(*made[1]);
    finish(*made[2]);
    EXPECT_TRUE(late.works());
    EXPECT_TRUE(later.works());
}

TEST_F(AdmissionTest, NobodyWaitsForEver) {
    limits.requests_max = 1;
    ask("a");
    Request& second = ask("a");
    timers.advance(limits.wait_max - seconds{1});
    EXPECT_FALSE(second.answer);
    timers.advance(seconds{1});
    EXPECT_EQ(second.refused(), "overloaded");
    EXPECT_EQ(second.answer->error().code, Code::unavailable);
    EXPECT_EQ(admission->count().waiting, 0u);
    finish(*made[0]);
    EXPECT_TRUE(ask("b").works()) << "its place in the queue is gone as well";
    EXPECT_EQ(admission->count().refused_busy, 1u);
}

TEST_F(AdmissionTest, WhoeverIsCancelledAsHeIsCalledGivesHisTurnOn) {
    limits.requests_max = 1;
    ask("a");
    std::optional<Result<>> answer;
    TaskGroup gone{loop};
    gone.start("request", [](Admission& at, std::optional<Result<>>& into) -> Task<> {
        const auto turn = co_await at.enter("b", "key/b");
        into = turn ? Result<>{} : std::unexpected(turn.error());
        co_return Result<>{};
    }(*admission, answer));
    timers.settle();
    Request& third = ask("c");
    gone.cancel();
    made[0]->turn.leave();  // Before the cancelled one has gone on.
    timers.settle();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error().code, Code::cancelled);
    EXPECT_TRUE(third.works());
    finish(third);
    EXPECT_EQ(admission->count().under_way, 0u);
    EXPECT_EQ(admission->count().tenants, 0u) << "nothing is kept of whoever has nothing here";
}

TEST_F(AdmissionTest, AKeyHasARate) {
    limits.key_rate = {.per_second = 2, .burst = 3};
    limits.requests_max = limits.requests_tenant_max = 100;
    limits.operators_max = 100;
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask("a", "key/1").works());
    EXPECT_EQ(ask("a", "key/1").refused(), "rate_limited");
    EXPECT_TRUE(ask("a", "key/2").works());
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(ask("", "key/operator").works());
    timers.advance(seconds{1});
    EXPECT_TRUE(ask("a", "key/1").works());
    EXPECT_TRUE(ask("a", "key/1").works());
    EXPECT_EQ(ask("a", "key/1").refused(), "rate_limited");
    EXPECT_EQ(admission->count().refused_rate, 2u);
}

TEST_F(AdmissionTest, StrangersHaveARateByAddress) {
    limits.stranger_rate = {.per_second = 1, .burst = 2};
    Admission at{limits, timers};
    EXPECT_TRUE(at.enter_stranger("203.0.113.7:5000"));
    EXPECT_TRUE(at.enter_stranger("203.0.113.7:5001"));
    EXPECT_EQ(at.enter_stranger("203.0.113.7:5002").error().reason, "rate_limited");
    EXPECT_TRUE(at.enter_stranger("[2001:db8::1]:5000"));
}

}  // namespace
}  // namespace hostler::master
