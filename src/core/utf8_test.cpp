#include "core/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace hostler {
namespace {

// The encoding of `character`, by the definition alone: also of what has none.
std::string encoded(std::uint32_t character) {
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((character >> shift) & 0x3f)); };
    if (character < 0x80) return {static_cast<char>(character)};
    if (character < 0x800) return {static_cast<char>(0xc0 | (character >> 6)), tail(0)};
    if (character < 0x10000) return {static_cast<char>(0xe0 | (character >> 12)), tail(6), tail(0)};
    return {static_cast<char>(0xf0 | (character >> 18)), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCharacterAndNoSurrogate) {
    for (std::uint32_t character = 0; character < 0x120000; ++character) {
        const bool is_character = (character < 0xd800 || character > 0xdfff) && character <= 0x10ffff;
        const std::string text = encoded(character);
        ASSERT_EQ(utf8_length(text), is_character ? text.size() : 0) << character;
        ASSERT_EQ(utf8_length(text + "x"), is_character ? text.size() : 0) << character;
        for (std::size_t cut = 1; cut < text.size(); ++cut)
            ASSERT_EQ(utf8_length(text.substr(0, cut)), 0U) << character << " cut to " << cut;
    }
}

// Of all sequences of two bytes, and of three and four that begin so, as many are characters as there are
// characters.
TEST(Utf8, NothingElseIsACharacter) {
    std::size_t found[5] = {};
    for (int first = 0; first < 256; ++first)
        for (int second = 0; second < 256; ++second)
            for (int third = 0x7f; third <= 0xc0; ++third)
                for (int fourth = 0x7f; fourth <= 0xc0; ++fourth) {
                    const char text[] = {static_cast<char>(first), static_cast<char>(second),
                                         static_cast<char>(third), static_cast<char>(fourth)};
                    ++found[utf8_length({text, 4})];
                }
    EXPECT_EQ(found[1], 0x80U * 256 * 66 * 66);
    EXPECT_EQ(found[2], (0x800U - 0x80) * 66 * 66);
    EXPECT_EQ(found[3], (0x10000U - 0x800 - 0x800) * 66);
    EXPECT_EQ(found[4], 0x110000U - 0x10000);
}

TEST(Utf8, ATextIsItOrIsNot) {
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
    EXPECT_TRUE(is_utf8("grün, 日本, 🦺, \xEF\xBF\xBF"));
    EXPECT_FALSE(is_utf8("gr\xFCn"));                   // Latin-1.
    EXPECT_FALSE(is_utf8("\xEF\xBF\xEF\xBF"));          // Two that are not whole.
    EXPECT_FALSE(is_utf8("\xC0\xAF"));                  // '/', overlong.
    EXPECT_FALSE(is_utf8("\xED\xA0\xBD\xED\xB2\xA9"));  // A pair of surrogates, as CESU-8 has it.
    EXPECT_FALSE(is_utf8("whole until its end \xF0\x9F\xA6"));
}

}  // namespace
}  // namespace hostler
