#include "roles/master/leader/term.h"

#include <gtest/gtest.h>

#include "roles/master/http/caller.h"
#include "roles/master/testing/term_rig.h"

namespace hostler::master {
namespace {

using hostler::testing::try_run;
using testing::TermRig;
using Numbers = std::vector<std::uint64_t>;

TEST(Term, AnswersWaitForDurability) {
    TermRig rig;
    rig.store.hang = true;
    rig.touch("nj");
    EXPECT_FALSE(rig.commit()) << "not durable so far";
    EXPECT_FALSE(try_run(rig.loop, rig.term().settled())) << "nor is what was read from memory";
    EXPECT_EQ(rig.store.begun, (Numbers{1}));
    rig.store.let_go();
    EXPECT_TRUE(try_run(rig.loop, rig.term().settled())->has_value())
        << "who asked has gone; the commit went on";
    EXPECT_EQ(rig.store.done, (Numbers{1}));
    EXPECT_TRUE(rig.store.objects.contains({"zone", "nj"}));
    EXPECT_TRUE(rig.commit()->has_value());
    EXPECT_EQ(rig.store.begun, (Numbers{1})) << "nothing changed, nothing written";
}

TEST(Term, CommitsAreInOrderAndSoIsWhatFollowsThem) {
    TermRig rig;
    rig.store.hang = true;
    std::vector<std::string> said;
    for (const char* zone : {"a", "b", "c"}) {
        rig.touch(zone);
        rig.term().commit_then([&said, zone] { said.emplace_back(zone); });
    }
    rig.term().commit_then([&said] { said.emplace_back("nothing new"); });
    rig.timers.settle();
    EXPECT_TRUE(said.empty());
    rig.store.let_go();
    rig.timers.settle();
    EXPECT_EQ(rig.store.done, (Numbers{1, 2, 3}));
    EXPECT_EQ(said, (std::vector<std::string>{"a", "b", "c", "nothing new"}));
    rig.term().commit_then([&said] { said.emplace_back("at once"); });
    EXPECT_EQ(said.back(), "at once");
    EXPECT_EQ(rig.term().feed().last(), 3u);
}

TEST(Term, AFailedCommitEndsIt) {
    const std::pair<Code, Code> failures[] = {{Code::unavailable, Code::unavailable},
                                              {Code::conflict, Code::unavailable},
                                              {Code::exhausted, Code::exhausted}};
    for (const auto& [code, told] : failures) {
        TermRig rig;
        rig.store.hang = true;
        rig.store.failure = Error{code, "no", "", {}, {}};
        auto held = std::make_shared<int>(0);
        rig.touch("a");
        rig.term().commit_then([held, term = rig.lead.term] { ++*held; });
        rig.touch("b");
        std::optional<Result<>> answer;
        TaskGroup group{rig.loop};
        group.start("caller", [](TermPtr term, std::optional<Result<>>& into) -> Task<> {
            into.emplace(co_await term->commit());
            co_return Result<>{};
        }(rig.lead.term, answer));
        rig.timers.settle();
        EXPECT_FALSE(answer);
        rig.store.let_go();
        rig.timers.settle();
        EXPECT_TRUE(rig.term().ended());
        ASSERT_TRUE(answer && !*answer);
        EXPECT_EQ(answer->error().code, told);
        EXPECT_EQ(*held, 0) << "what should have followed never does";
        EXPECT_EQ(held.use_count(), 1) << "and holds the ended term no more";
        EXPECT_FALSE(*rig.commit());
        EXPECT_FALSE(*try_run(rig.loop, rig.term().settled())) << "an ended term's memory is worth nothing";
        EXPECT_FALSE(*try_run(rig.loop, rig.term().feed().next("zone", {})));
        Api api{rig.lead};
        EXPECT_EQ(api.leader().error().code, Code::unavailable);
    }
}

TEST(Term, SomebodyObeyedAHigherEpoch) {
    TermRig rig;
    rig.term().outranked("host h-1", 7);
    EXPECT_TRUE(rig.term().ended());
    EXPECT_EQ(rig.term().outranked_by(), 7u);
    EXPECT_EQ(rig.commit()->error().code, Code::unavailable);
}

TEST(Term, SweepsAndPrunes) {
    TermRig rig;
    rig.settings.audit_kept = std::chrono::days{30};
    TaskGroup group{rig.loop};
    std::optional<Result<>> ended;
    group.start("run", [](TermPtr term, std::optional<Result<>>& into) -> Task<> {
        into.emplace(co_await term->run());
        co_return Result<>{};
    }(rig.lead.term, ended));
    rig.desk().estate.sign_ins.add({.hash = "h", .expires_at = rig.desk().estate.micros() + 5'000'000});
    (void)rig.commit();
    rig.timers.advance(std::chrono::seconds{4});
    EXPECT_TRUE(rig.store.objects.contains({"sign_in", "h"}));
    rig.timers.advance(std::chrono::seconds{3});
    EXPECT_FALSE(rig.store.objects.contains({"sign_in", "h"}));
    rig.timers.advance(std::chrono::minutes{11});
    ASSERT_EQ(rig.store.pruned.size(), 1u);
    EXPECT_LE(rig.store.pruned[0], rig.timers.wall() - std::chrono::days{90});
    ASSERT_EQ(rig.store.audit_pruned.size(), 1u);
    EXPECT_LE(rig.store.audit_pruned[0], rig.timers.wall() - std::chrono::days{30});
    EXPECT_GT(rig.store.audit_pruned[0], rig.timers.wall() - std::chrono::days{31});
    rig.term().end({Code::unavailable, "test"});
    rig.timers.settle();
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->error().message, "test");
    EXPECT_EQ(rig.timers.size(), 0u) << "nothing waits any more";
}

TEST(Term, TheNextOneBeginsFromTheStore) {
    TermRig rig;
    rig.touch("nj");
    (void)rig.commit();
    rig.touch("lost");
    rig.store.failure = Error{Code::unavailable, "no", "", {}, {}};
    EXPECT_FALSE(*rig.commit());
    rig.store.failure.reset();
    rig.finish();
    rig.begin(2);
    ASSERT_TRUE(rig.term().estate().load(try_run(rig.loop, rig.store.load())->value().live));
    EXPECT_NE(rig.term().look().estate.zones.find("nj"), nullptr);
    EXPECT_EQ(rig.term().look().estate.zones.find("lost"), nullptr);
}

// ── Who asks

TEST(Caller, KeysOpenUntilTheyExpireOrAreRevoked) {
    TermRig rig;
    rig.settings.operator_key_hash = "#root";
    const auto now = rig.desk().estate.micros();
    rig.desk().estate.api_keys.add({.id = "k-1", .name = "n", .hash = "#hk_1", .tenant = "acme"});
    rig.desk().estate.api_keys.add(
        {.id = "k-2", .hash = "#hk_2", .tenant = "acme", .expires_at = now + 1'000'000});
    rig.desk().estate.api_keys.add({.id = "k-3", .hash = "#hk_3"});
    EXPECT_EQ(caller_of(rig.term(), "root")->principal.kind, PrincipalKind::operator_);
    EXPECT_EQ(caller_of(rig.term(), "hk_1")->tenant, "acme");
    EXPECT_EQ(caller_of(rig.term(), "hk_1")->actor, "key/k-1");
    EXPECT_EQ(caller_of(rig.term(), "hk_3")->principal.kind, PrincipalKind::operator_);
    EXPECT_TRUE(caller_of(rig.term(), "hk_2"));
    rig.timers.advance(std::chrono::seconds{1});
    EXPECT_FALSE(caller_of(rig.term(), "hk_2"));
    rig.desk().estate.api_keys.edit("k-1").revoked_at = 1;
    EXPECT_FALSE(caller_of(rig.term(), "hk_1"));
    for (const std::string nobody : {"", "hk_9", "#hk_3"})
        EXPECT_FALSE(caller_of(rig.term(), nobody)) << nobody;
    rig.settings.operator_key_hash.clear();
    EXPECT_FALSE(caller_of(rig.term(), "root"));
    EXPECT_FALSE(caller_of(rig.term(), ""));
    EXPECT_FALSE(caller_of(rig.term(), std::string(257, 'x')));
}

TEST(Caller, ACodeIsGoodOnceForOneRouteForAMinute) {
    TermRig rig;
    rig.desk().estate.api_keys.add({.id = "k-1", .hash = "#hk_1", .tenant = "acme"});
    const auto caller = *caller_of(rig.term(), "hk_1");
    const auto code = make_code(rig.term(), caller, "80-i-1");
    EXPECT_EQ(redeem_code(rig.term(), code, "80-i-2").error().code, Code::unauthenticated)
        << "bound to its route";
    EXPECT_FALSE(caller_of_sign_in(rig.term(), code, "80-i-1")) << "a code is no session";
    const auto session = redeem_code(rig.term(), code, "80-i-1");
    ASSERT_TRUE(session);
    EXPECT_FALSE(redeem_code(rig.term(), code, "80-i-1")) << "one time";
    EXPECT_EQ(caller_of_sign_in(rig.term(), *session, "80-i-1")->caller.tenant, "acme");
    EXPECT_FALSE(caller_of(rig.term(), *session)) << "it opens an instance, not the API";
    EXPECT_FALSE(caller_of_sign_in(rig.term(), *session, "80-i-2")) << "nor another instance";
    EXPECT_FALSE(redeem_code(rig.term(), *session, "80-i-1")) << "a session is no code";
    const auto late = make_code(rig.term(), caller, "80-i-1");
    rig.timers.advance(std::chrono::seconds{60});
    EXPECT_FALSE(redeem_code(rig.term(), late, "80-i-1"));
    EXPECT_TRUE(caller_of_sign_in(rig.term(), *session, "80-i-1"));
    rig.desk().estate.api_keys.edit("k-1").revoked_at = 1;
    EXPECT_FALSE(caller_of_sign_in(rig.term(), *session, "80-i-1")) << "worth nothing when its key is not";
    rig.desk().estate.api_keys.edit("k-1").revoked_at = 0;
    rig.timers.advance(std::chrono::hours{12});
    EXPECT_FALSE(caller_of_sign_in(rig.term(), *session, "80-i-1"));
}

}  // namespace
}  // namespace hostler::master
