#include "domain/tenancy/device_code.h"

#include <gtest/gtest.h>

#include <limits>

namespace hostler {
namespace {

TEST(DeviceCode, IsShownInTwoHalvesAndReadAsPeopleTypeIt) {
    EXPECT_EQ(shown_device_code("BCDFGHJK"), "BCDF-GHJK");
    for (const char* typed : {"BCDF-GHJK", "bcdf-ghjk", " BcdFGHJK ", "b-c-d-f g h j k"})
        EXPECT_EQ(device_code_typed(typed), "BCDFGHJK") << typed;
    for (const char* typed : {"", "BCDF-GHJ", "BCDF-GHJKL", "BCDF-GHJA", "BCDF-GHJ1", "BCDF_GHJK"})
        EXPECT_FALSE(device_code_typed(typed)) << typed;
}

TEST(DeviceCode, OfANumberHasEightLetters) {
    EXPECT_EQ(device_code_of(0), "BBBBBBBB");
    EXPECT_EQ(device_code_of(19), "ZBBBBBBB");
    EXPECT_EQ(device_code_of(20), "BCBBBBBB");
    EXPECT_TRUE(device_code_typed(device_code_of(std::numeric_limits<std::uint64_t>::max())));
}

}  // namespace
}  // namespace hostler
