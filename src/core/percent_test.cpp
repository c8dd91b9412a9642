#include "core/percent.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(Percent, EncodesAllButUnreservedCharacters) {
    EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
    EXPECT_EQ(percent_encode("a b/c?d=e&f+%"), "a%20b%2Fc%3Fd%3De%26f%2B%25");
    EXPECT_EQ(percent_encode("ü\xff"), "%C3%BC%FF");
    EXPECT_EQ(percent_encode(std::string_view("\0\n", 2)), "%00%0A");
    EXPECT_EQ(percent_encode(""), "");
}

}  // namespace
}  // namespace hostler
