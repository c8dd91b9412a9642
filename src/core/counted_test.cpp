#include "core/counted.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(Counted, OneHasNoS) {
    EXPECT_EQ(counted(0, "image"), "0 images");
    EXPECT_EQ(counted(std::size_t{1}, "image"), "1 image");
    EXPECT_EQ(counted(std::int64_t{2}, "stock slot"), "2 stock slots");
}

}  // namespace
}  // namespace hostler
