#include "roles/gateway/gatekeeper.h"

#include "roles/gateway/testing/keeper_rig.h"

namespace hostler::gateway {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

struct GatekeeperTest : testing::KeeperRig {
    std::shared_ptr<std::optional<Admission>> ask(std::string from = here) {
        auto answer = std::make_shared<std::optional<Admission>>();
        group.start("question", [](GatekeeperTest& test, std::string client, auto into) -> Task<> {
            Question question = test.mine;
            *into = CO_TRY(co_await test.keeper.admit(question, std::move(client)));
            test.by = question;
            co_return Result<>{};
        }(*this, std::move(from), answer));
        timers.settle();
        return answer;
    }
    // Of a credential that is for some addresses.
    static uplink::Frame word_there(bool good) {
        uplink::Frame frame = word(good);
        frame.mutable_authenticate_answer()->set_by_address(true);
        return frame;
    }

    static constexpr const char *here = "203.0.113.7", *there = "198.51.100.9";
    const Question mine{"hk_mine", "t-a", ""};
    const Question mine_here{"hk_mine", "t-a", "", "", here}, mine_there{"hk_mine", "t-a", "", "", there};
    Question by{};  // That was admitted last.
};

TEST_F(GatekeeperTest, AWordThatARevocationOvertookIsNotBelieved) {
    const auto answer = ask();
    ASSERT_EQ(master.asked.size(), 1U);
    master.say(over("key/k-1"));  // The master looked at the key before this, and its answer comes after it.
    master.answer(master.asked[0], word(true));
    EXPECT_FALSE(*answer);
    EXPECT_EQ(keeper.trusted(), 0U);
    ASSERT_EQ(master.asked.size(), 2U) << "it is asked again";
    master.answer(master.asked[1], word(false));
    EXPECT_EQ(*answer, Admission::nobody);
    EXPECT_EQ(keeper.trusted(), 0U);
}

TEST_F(GatekeeperTest, WhereSomethingEndsAllTheTimeNobodyIsLetInOnAGuess) {
    const auto answer = ask();
    for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(master.asked.size(), i + 1);
        master.say(over("key/k-other"));
        master.answer(master.asked[i], word(true));
    }
    EXPECT_EQ(master.asked.size(), 3U) << "and not for ever";
    EXPECT_EQ(*answer, Admission::unavailable);
}

TEST_F(GatekeeperTest, AMasterThatDoesNotSayWhatEndedIsAskedAgain) {
    const auto answer = ask();
    master.answer(master.asked.at(0), word(true));
    EXPECT_EQ(*answer, Admission::allowed);
    EXPECT_EQ(keeper.trusted(), 1U);
    leave();
    come();
    ASSERT_EQ(master.asked.size(), 2U);
    EXPECT_THAT(master.asked[1].trusted_marks().marks(), ElementsAre("key/k-1"));
    master.answer(master.asked[1], wire::failure_frame({Code::unavailable, "it is busy"}));
    timers.advance(29s);
    EXPECT_EQ(master.asked.size(), 2U);
    timers.advance(1s);
    ASSERT_EQ(master.asked.size(), 3U);
    EXPECT_THAT(master.asked[2].trusted_marks().marks(), ElementsAre("key/k-1"));
    master.answer(master.asked[2], over("key/k-1"));
    EXPECT_EQ(keeper.trusted(), 0U);
    timers.advance(60s);
    EXPECT_EQ(master.asked.size(), 3U) << "it has been told";
}

TEST_F(GatekeeperTest, AWordThatIsForAllAddressesIsAskedForOnce) {
    const auto first = ask(here);
    EXPECT_EQ(master.asked.at(0).authenticate_request().address(), here);
    master.answer(master.asked[0], word(true));
    EXPECT_EQ(*first, Admission::allowed);
    EXPECT_EQ(by, mine) << "what it opens stands on the credential alone";
    EXPECT_EQ(*ask(there), Admission::allowed);
    EXPECT_EQ(by, mine);
    EXPECT_EQ(master.asked.size(), 1U);
    EXPECT_EQ(keeper.verdicts(), 1U);
    EXPECT_EQ(keeper.trusted(), 1U);
}

TEST_F(GatekeeperTest, AWordForOneAddressIsNoneForAnother) {
    const auto refused = ask(there);
    master.answer(master.asked.at(0), word_there(false));
    EXPECT_EQ(*refused, Admission::nobody);
    const auto allowed = ask(here);
    ASSERT_EQ(master.asked.size(), 2U) << "a refusal elsewhere says nothing";
    master.answer(master.asked[1], word_there(true));
    EXPECT_EQ(*allowed, Admission::allowed);
    EXPECT_EQ(by, mine_here);
    EXPECT_EQ(*ask(there), Admission::nobody);
    EXPECT_EQ(*ask(here), Admission::allowed);
    EXPECT_EQ(master.asked.size(), 2U);
    EXPECT_EQ(keeper.trusted(), 1U);
    leave();
    timers.advance(5s);
    EXPECT_EQ(*ask(here), Admission::allowed) << "believed while no master answers";
    EXPECT_EQ(by, mine_here);
    EXPECT_EQ(*ask(there), Admission::unavailable);
    EXPECT_EQ(*ask(""), Admission::unavailable);
}

TEST_F(GatekeeperTest, AClientWithoutAnAddressDoesNotSpeakForAll) {
    const auto refused = ask("");
    master.answer(master.asked.at(0), word_there(false));
    EXPECT_EQ(*refused, Admission::nobody);
    const auto allowed = ask(here);
    ASSERT_EQ(master.asked.size(), 2U);
    master.answer(master.asked[1], word_there(true));
    EXPECT_EQ(*allowed, Admission::allowed);
}

TEST_F(GatekeeperTest, WhatIsOpenIsAskedAboutByTheAddressByWhichItCame) {
    for (const char* from : {here, there}) {
        ask(from);
        master.answer(master.asked.back(), word_there(true));
    }
    Stays::Stay one{keeper.stays(), mine_here}, other{keeper.stays(), mine_there};
    group.start("watch", keeper.watch());
    timers.advance(std::chrono::seconds{settings.recheck_s});
    ASSERT_EQ(master.asked.size(), 3U);
    EXPECT_EQ(master.asked[2].authenticate_request().address(), there);
    master.answer(master.asked[2], word_there(false));
    ASSERT_EQ(master.asked.size(), 4U);
    EXPECT_EQ(master.asked[3].authenticate_request().address(), here);
    master.answer(master.asked[3], word_there(true));
    EXPECT_TRUE(other.ended());
    EXPECT_FALSE(one.ended());
    EXPECT_EQ(keeper.trusted(), 1U);
    master.say(over("key/k-1"));
    EXPECT_TRUE(one.ended());
    EXPECT_EQ(keeper.trusted(), 0U);
    EXPECT_EQ(keeper.verdicts(), 0U);
}

TEST_F(GatekeeperTest, TheEndOfACredentialIsItsEndAtEachAddress) {
    for (const char* from : {here, there}) {
        ask(from);
        master.answer(master.asked.back(), word_there(true));
    }
    Stays::Stay one{keeper.stays(), mine_here}, other{keeper.stays(), mine_there};
    master.say(over("key/k-1"));
    EXPECT_TRUE(one.ended());
    EXPECT_TRUE(other.ended());
    EXPECT_EQ(keeper.verdicts(), 0U);
    EXPECT_EQ(keeper.trusted(), 0U);
}

TEST_F(GatekeeperTest, AWordForAllAddressesIsOverWhenOneForAnAddressComes) {
    ask(here);
    master.answer(master.asked.at(0), word(true));
    Stays::Stay before{keeper.stays(), mine};
    timers.advance(1s);
    const auto refused = ask(there);
    ASSERT_EQ(master.asked.size(), 2U);
    master.answer(master.asked[1], word_there(false));
    EXPECT_EQ(*refused, Admission::nobody);
    EXPECT_TRUE(before.ended());
    EXPECT_EQ(keeper.trusted(), 0U);
}

TEST_F(GatekeeperTest, AMasterThatGoesLeavesTheQuestionToTheNext) {
    ask();
    master.answer(master.asked.at(0), word(true));
    leave();
    come();
    ASSERT_EQ(master.asked.size(), 2U);
    leave();
    come();
    ASSERT_EQ(master.asked.size(), 3U);
    master.answer(master.asked[2], over("key/k-1"));
    EXPECT_EQ(keeper.trusted(), 0U);
}

}  // namespace
}  // namespace hostler::gateway
