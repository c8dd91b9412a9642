#include "adapters/net/issued.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/testing/temp_folder.h"

namespace hostler::net {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct IssuedTest : ::testing::Test {
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

TEST_F(IssuedTest, AFolderThatIsNotThereIsAnError) {
    const auto noted = FolderOfIssuedKeys{folder.path() + "/none"}.note(one);
    ASSERT_FALSE(noted);
    EXPECT_EQ(noted.error().code, Code::unavailable);
}

}  // namespace
}  // namespace hostler::net
