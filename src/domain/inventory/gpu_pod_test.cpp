#include "domain/inventory/gpu_pod.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(GpuPod, HasTheNamesThatKubernetesAllows) {
    EXPECT_TRUE(is_valid({"default", "train-0", "main"}));
    EXPECT_TRUE(is_valid({"default", "train.v2.0", ""}));
    EXPECT_TRUE(is_valid({std::string(63, 'a'), std::string(253, 'b'), std::string(63, 'c')}));

    EXPECT_FALSE(is_valid({"", "train-0", "main"}));
    EXPECT_FALSE(is_valid({"default", "", "main"}));
    EXPECT_FALSE(is_valid({"a.b", "train-0", "main"}));
    EXPECT_FALSE(is_valid({"default", "train-0", "a.b"}));
    EXPECT_FALSE(is_valid({"default", "train..0", "main"}));
    EXPECT_FALSE(is_valid({"default", "train-0.", "main"}));
    EXPECT_FALSE(is_valid({"default", "-train", "main"}));
    EXPECT_FALSE(is_valid({"default", "Train", "main"}));
    EXPECT_FALSE(is_valid({"default", "train\n0", "main"}));
    EXPECT_FALSE(is_valid({"default", "train\xC3\xA9", "main"}));
    EXPECT_FALSE(is_valid({std::string(64, 'a'), "b", "c"}));
    EXPECT_FALSE(is_valid({"a", std::string(254, 'b'), "c"}));
    EXPECT_FALSE(is_valid({"a", "b", std::string(64, 'c')}));
}

}  // namespace
}  // namespace hostler
