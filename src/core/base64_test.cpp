#include "core/base64.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(Base64, IsReadAsItIsWritten) {
    EXPECT_EQ(base64("M"), "TQ==");
    EXPECT_EQ(base64("Ma"), "TWE=");
    EXPECT_EQ(base64("Man"), "TWFu");
    EXPECT_EQ(base64(""), "");
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        EXPECT_EQ(base64_decoded(base64(bytes)), bytes);
        bytes += static_cast<char>(i);
    }
    EXPECT_EQ(base64_decoded("-_8="), base64_decoded("+/8="));
    EXPECT_EQ(base64_decoded("TW\nFu"), "Man");
}

}  // namespace
}  // namespace hostler
