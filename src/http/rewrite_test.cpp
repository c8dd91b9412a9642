#include "http/proxy.h"

#include <gtest/gtest.h>

namespace hostler::http {
namespace {

TEST(Cookies, AreDroppedByName) {
    EXPECT_EQ(without_cookies("a=b; c=d", {"c"}), "a=b");
    EXPECT_EQ(without_cookies("c=d;a=b;c=e", {"c"}), "a=b");
    EXPECT_EQ(without_cookies("cc=d; Cc", {"c"}), "cc=d; Cc");
    EXPECT_EQ(without_cookies(" c = d ; x_1=1; x_2=2", {"c", "x_*"}), "");
    EXPECT_EQ(without_cookies("a=\"b=c\"; ;", {"c"}), "a=\"b=c\"");
}

}  // namespace
}  // namespace hostler::http
