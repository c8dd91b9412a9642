#include "logs_contract.h"

namespace hostler::contract {

TEST_P(LogsContract, KeptTextIsReadFromItsEndAlsoAfterARestart) {
    ASSERT_TRUE(keep("i-1", "one\ntwo\n"));
    ASSERT_TRUE(keep("i-2", ""));
    rig_->restart();
    EXPECT_EQ(read("i-1"), "one\ntwo\n");
    EXPECT_EQ(read("i-1", 4), "two\n");
    EXPECT_EQ(read("i-1", 0), "");
    EXPECT_EQ(read("i-2"), "");
    EXPECT_EQ(read("i-3").error().code, Code::not_found);
}

TEST_P(LogsContract, KeepingAgainReplaces) {
    ASSERT_TRUE(keep("i-1", "a longer text than the next"));
    ASSERT_TRUE(keep("i-1", "new"));
    EXPECT_EQ(read("i-1"), "new");
}

TEST_P(LogsContract, OfALongTextTheFirstBytesAreDropped) {
    ASSERT_TRUE(keep("i-1", "first" + std::string(LogStore::text_max - 1, 'x') + "y"));
    EXPECT_EQ(read("i-1", 2 * LogStore::text_max), std::string(LogStore::text_max - 1, 'x') + "y");
}

TEST_P(LogsContract, TheOldestGoFirst) {
    const auto name = [](std::size_t i) { return "i-" + std::to_string(i); };
    for (std::size_t i = 0; i < LogsRig::kept_max; ++i) ASSERT_TRUE(keep(name(i), "text"));
    EXPECT_TRUE(read(name(0)));
    ASSERT_TRUE(keep(name(LogsRig::kept_max), "text"));
    EXPECT_EQ(read(name(0)).error().code, Code::not_found);
    for (std::size_t i = 1; i <= LogsRig::kept_max; ++i) EXPECT_TRUE(read(name(i))) << i;
}

TEST_P(LogsContract, ANameLeadsNowhereElse) {
    for (const auto* name : {"", "..", "../evil", "a/b", "/etc/passwd", ".hidden"}) {
        EXPECT_EQ(keep(name, "x").error().code, Code::invalid) << name;
        EXPECT_EQ(read(name).error().code, Code::not_found) << name;
    }
}

}  // namespace hostler::contract
