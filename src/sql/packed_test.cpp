#include "sql/packed.h"

#include <gtest/gtest.h>

namespace hostler::sql {
namespace {

TEST(Packed, AnyTextGoesThereAndBack) {
    std::string noise;
    for (std::uint32_t i = 0, word = 1; i < 100'000; ++i, word = word * 1664525 + 1013904223)
        noise += static_cast<char>(word >> 24);
    for (const std::string& text :
         {std::string{}, std::string{"a\0b", 3}, std::string(3'000'000, 'x'), noise}) {
        const auto back = unpack(pack(text));
        ASSERT_TRUE(back);
        EXPECT_TRUE(*back == text) << text.size();
    }
}

TEST(Packed, WhatIsNotWholeIsRefused) {
    const std::string packed = pack(R"({"id":"i-1","phase":"running"})");
    for (std::size_t size = 0; size < packed.size(); ++size)
        EXPECT_FALSE(unpack(packed.substr(0, size))) << size;
    EXPECT_FALSE(unpack(packed + "more"));
    EXPECT_FALSE(unpack("no packed bytes"));
}

// Stores hold bytes that were packed with the dictionary as it is.
TEST(Packed, BytesOfEarlierReleasesAreRead) {
    const std::string packed = pack(R"({"id":"c-1","host":"h-1","zone":"","use":"stock"})");
    std::string hex;
    for (const char c : packed) hex += "0123456789abcdef"[(c >> 4) & 15], hex += "0123456789abcdef"[c & 15];
    EXPECT_EQ(hex, "787dbdb8dfe783574d86c81107e260af9c6a01496b0dc4");
}

}  // namespace
}  // namespace hostler::sql
