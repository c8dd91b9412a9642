#include "core/names.h"

#include <gtest/gtest.h>

#include <string>

namespace hostler {
namespace {

TEST(PlainName, IsAFilesNameAndNothingElse) {
    for (const std::string name : {"a", "i-7f3k2m9qxy", "A_b.c-9", "9", "-", "a..b"})
        EXPECT_TRUE(is_plain_name(name)) << name;
    EXPECT_TRUE(is_plain_name(std::string(128, 'a')));
    EXPECT_FALSE(is_plain_name(std::string(129, 'a')));
    for (const std::string name : {"", ".", "..", ".a", "a/b", "/", "a b", "a\n", "ä", "a:b", "a\\b"})
        EXPECT_FALSE(is_plain_name(name)) << name;
    EXPECT_FALSE(is_plain_name({"a\0b", 3}));
}

}  // namespace
}  // namespace hostler
