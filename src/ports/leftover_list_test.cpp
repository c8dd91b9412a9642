#include "ports/leftover_list.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace hostler {
namespace {

TEST(LeftoverList, APatternFitsAWholeName) {
    EXPECT_TRUE(fits_pattern("kubelet", "kubelet"));
    EXPECT_FALSE(fits_pattern("kubelet", "kubelet2"));
    EXPECT_FALSE(fits_pattern("kubelet", "akubelet"));
    EXPECT_TRUE(fits_pattern("KUBE-*", "KUBE-"));
    EXPECT_TRUE(fits_pattern("*a*b*", "xxaxbyab"));
    EXPECT_FALSE(fits_pattern("*a*b", "ba"));
    EXPECT_TRUE(fits_pattern("*", ""));
    EXPECT_FALSE(fits_pattern("", "x"));
    EXPECT_TRUE(fits_pattern("a*b*c", "abbbcbc"));
}

TEST(LeftoverList, MoreOfAKindAreCounted) {
    LeftoverList list;
    for (int i = 0; i < 70; ++i) list.add("mount", fmt::format("/m/{:02}", i));
    list.add("mount", "/m/01");
    list.add("file", "/f");
    const auto all = list.sorted();
    ASSERT_EQ(all.size(), 66U);
    EXPECT_EQ(all[0], (Leftover{"file", "/f"}));
    EXPECT_EQ(all[1], (Leftover{"mount", "/m/00"}));
    EXPECT_EQ(all[65], (Leftover{"mount", "and 6 more"}));
}

}  // namespace
}  // namespace hostler
