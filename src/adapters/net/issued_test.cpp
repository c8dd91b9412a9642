#include "adapters/net/issued.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/log.h"
#include "core/testing/temp_folder.h"

namespace hostler::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string logged;

struct IssuedTest : ::testing::Test {
    IssuedTest() {
        logged.clear();
        set_log_sink([](Level, std::string_view line) { logged += line; });
    }
    ~IssuedTest() override { set_log_sink(nullptr); }
    void append(std::string_view text) const {
        std::ofstream{path(), std::ios::binary | std::ios::app} << text;
    }
    std::string path() const { return folder.path() + "/issued"; }
    testing::TempFolder folder;
    FolderOfIssuedKeys issued{folder.path()};
    const IssuedKey one{"gateway/gw-1", std::string(64, 'a')}, two{"access/nj-1", std::string(64, 'b')};
};

TEST_F(IssuedTest, IsKeptInItsOrderAndEachOnce) {
    EXPECT_THAT(issued.all(), IsEmpty());
    for (const IssuedKey& key : {one, two, one}) ASSERT_TRUE(issued.note(key));
    EXPECT_THAT(issued.all(), ElementsAre(one, two));
    struct stat found{};
    ASSERT_EQ(::stat(path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
}

TEST_F(IssuedTest, WhatACrashHasTornHidesNothing) {
    ASSERT_TRUE(issued.note(one));
    append("gateway/gw-2 abcd");
    EXPECT_THAT(issued.all(), ElementsAre(one));
    ASSERT_TRUE(issued.note(two));
    EXPECT_THAT(issued.all(), ElementsAre(one, two));
}

// Whichever byte changed: the other keys are there, and the log names the line once.
TEST_F(IssuedTest, ALineThatTheDiskHasChangedIsNamed) {
    const IssuedKey three{"gateway/gw-2", std::string(64, 'c')};
    for (const IssuedKey& key : {one, two, three}) ASSERT_TRUE(issued.note(key));
    std::ifstream stream{path(), std::ios::binary};
    const std::string whole{std::istreambuf_iterator<char>{stream}, {}};
    const std::size_t from = whole.find(two.name), to = whole.find('#', from) + 18;
    for (std::size_t at = from; at < to; ++at) {
        for (const int flip : {1, 0xff}) {
            SCOPED_TRACE(fmt::format("byte {} ^ {}", at, flip));
            std::string changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ flip);
            std::ofstream{path(), std::ios::binary | std::ios::trunc} << changed;
            logged.clear();
            const FolderOfIssuedKeys damaged{folder.path()};
            const auto keys = damaged.all();
            EXPECT_EQ(keys.front(), one);
            EXPECT_EQ(keys.back(), three);
            EXPECT_LE(keys.size(), 3U);
            EXPECT_THAT(logged, HasSubstr(path() + ": the line at byte "));
            logged.clear();
            (void)damaged.all();
            EXPECT_EQ(logged, "");
        }
    }
}

TEST_F(IssuedTest, WhatAnOlderReleaseWroteHasNoSums) {
    append(fmt::format("\n{} {}\n", one.name, one.key_fingerprint));
    ASSERT_TRUE(issued.note(two));
    append(fmt::format("\n{} {}\n", one.name, std::string(64, 'd')));
    EXPECT_THAT(issued.all(), ElementsAre(one, two, IssuedKey{one.name, std::string(64, 'd')}));
    EXPECT_EQ(logged, "");
}

TEST_F(IssuedTest, AFolderThatIsNotThereIsAnError) {
    const auto noted = FolderOfIssuedKeys{folder.path() + "/none"}.note(one);
    ASSERT_FALSE(noted);
    EXPECT_EQ(noted.error().code, Code::unavailable);
}

}  // namespace
}  // namespace hostler::net
