#include "journal_contract.h"

#include <gmock/gmock.h>

namespace hostler::contract {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::size_t value_max = Journal::value_bytes_max;

TEST_P(JournalContract, WhatWasPutStaysOverARestart) {
    EXPECT_THAT(journal().all(), IsEmpty());
    ASSERT_TRUE(put("a", "1"));
    ASSERT_TRUE(put("b", std::string("\0\n", 2)));
    ASSERT_TRUE(put("a", "2"));
    ASSERT_TRUE(put("c", ""));
    const auto expected = ElementsAre(Pair("a", "2"), Pair("b", std::string("\0\n", 2)), Pair("c", ""));
    EXPECT_THAT(journal().all(), expected);
    rig_->restart();
    EXPECT_THAT(journal().all(), expected);
}

TEST_P(JournalContract, WhatWasErasedStaysAwayAndMayBeErasedAgain) {
    ASSERT_TRUE(put("a", "1"));
    ASSERT_TRUE(put("b", "2"));
    ASSERT_TRUE(run(journal().erase("a")));
    ASSERT_TRUE(run(journal().erase("a")));
    ASSERT_TRUE(run(journal().erase("never")));
    EXPECT_THAT(journal().all(), ElementsAre(Pair("b", "2")));
    rig_->restart();
    EXPECT_THAT(journal().all(), ElementsAre(Pair("b", "2")));
}

TEST_P(JournalContract, ChangesTakeEffectInTheOrderOfTheCalls) {
    {
        TaskGroup group{rig_->loop()};
        for (int i = 0; i < 50; ++i) group.start("put", journal().put("key", std::to_string(i)));
        group.start("erase", journal().erase("other"));
        group.start("put", journal().put("other", "back"));
        group.start("erase", journal().erase("key"));
        group.start("put", journal().put("key", "last"));
        rig_->drive([&group] { return group.size() == 0; });
    }
    const auto expected = ElementsAre(Pair("key", "last"), Pair("other", "back"));
    EXPECT_THAT(journal().all(), expected);
    rig_->restart();
    EXPECT_THAT(journal().all(), expected);
}

TEST_P(JournalContract, SeveralArePutInTheirOrderAndStay) {
    ASSERT_TRUE(put("a", "0"));
    ASSERT_TRUE(run(journal().put_all({{"a", "1"}, {"b", "2"}, {"a", "3"}})));
    ASSERT_TRUE(run(journal().put_all({})));
    const auto expected = ElementsAre(Pair("a", "3"), Pair("b", "2"));
    EXPECT_THAT(journal().all(), expected);
    rig_->restart();
    EXPECT_THAT(journal().all(), expected);
}

TEST_P(JournalContract, OfSeveralNoneIsPutWhenOneIsRefused) {
    ASSERT_TRUE(put("a", "0"));
    EXPECT_EQ(run(journal().put_all({{"a", "1"}, {"", "x"}})).error().code, Code::invalid);
    EXPECT_EQ(run(journal().put_all({{"a", "1"}, {"b", std::string(value_max + 1, 'y')}})).error().code,
              Code::invalid);
    EXPECT_THAT(journal().all(), ElementsAre(Pair("a", "0")));
    rig_->restart();
    EXPECT_THAT(journal().all(), ElementsAre(Pair("a", "0")));
}

TEST_P(JournalContract, AnEntryHasALimitAndWhatWasThereStays) {
    ASSERT_TRUE(put("a", std::string(value_max, 'x')));
    EXPECT_EQ(put("a", std::string(value_max + 1, 'y')).error().code, Code::invalid);
    EXPECT_EQ(put("", "x").error().code, Code::invalid);
    EXPECT_EQ(put(std::string(1025, 'k'), "x").error().code, Code::invalid);
    EXPECT_TRUE(put(std::string(1024, 'k'), "x"));
    EXPECT_EQ(journal().all().size(), 2U);
    EXPECT_EQ(journal().all().at("a"), std::string(value_max, 'x'));
}

TEST_P(JournalContract, TheWholeHasALimitAndErasingMakesRoom) {
    const auto key = [](int i) { return "key-" + std::to_string(i); };
    constexpr int room = Journal::bytes_max / value_max - 1;  // Keys take room, too.
    for (int i = 0; i < room; ++i) ASSERT_TRUE(put(key(i), std::string(value_max, 'x'))) << i;
    EXPECT_EQ(put(key(room), std::string(value_max, 'x')).error().code, Code::exhausted);
    EXPECT_EQ(journal().all().size(), std::size_t{room});
    ASSERT_TRUE(run(journal().erase(key(7))));
    EXPECT_TRUE(put(key(room), std::string(value_max, 'x')));
}

}  // namespace hostler::contract
