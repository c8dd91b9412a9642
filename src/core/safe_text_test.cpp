#include "core/safe_text.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(SafeText, WhatSteersATerminalIsWrittenOut) {
    EXPECT_EQ(safe_line("a\x1b[2Jb\x07"), "a\\x1b[2Jb\\x07");
    EXPECT_EQ(safe_line("a\tb\r\nc\x7f"), "a b  c\\x7f");
    EXPECT_EQ(safe_line("\xc2\x9b"
                        "2J"),
              "\\u009b2J")
        << "as ESC [ in eight bits";
    EXPECT_EQ(safe_line("abc\u202Etxt\u2066\u200B\ufeff"), "abc\\u202etxt\\u2066\\u200b\\ufeff");
    EXPECT_EQ(safe_line("\U000e0041"), "\\U000e0041");
    EXPECT_EQ(safe_line("\xff\xc0\x80"
                        "a"),
              "\\xff\\xc0\\x80a");
    EXPECT_EQ(safe_line("Zürich, 東京, 🚀"), "Zürich, 東京, 🚀");
    EXPECT_EQ(safe_lines("a\n\tb\x1b"), "a\n\tb\\x1b");
}

TEST(SafeText, ColoursOfALogStay) {
    EXPECT_EQ(safe_log("\x1b[1;31mred\x1b[0m\r\n\x1b[2J\x1b]0;title\x07"),
              "\x1b[1;31mred\x1b[0m\r\n\\x1b[2J\\x1b]0;title\\x07");
    EXPECT_EQ(safe_log("\x1b"), "\\x1b");
    EXPECT_EQ(safe_log("\x1b["), "\\x1b[");
}

TEST(SafeText, WhatGoesOnIsWaitedFor) {
    EXPECT_EQ(unfinished_bytes(""), 0U);
    EXPECT_EQ(unfinished_bytes("abc\n"), 0U);
    EXPECT_EQ(unfinished_bytes("Z\xc3"), 1U);
    EXPECT_EQ(unfinished_bytes("Z\xc3\xbc"), 0U);
    EXPECT_EQ(unfinished_bytes("\xf0\x9f\x9a"), 3U);
    EXPECT_EQ(unfinished_bytes("\xf0\x9f\x9a\x80"), 0U);
    EXPECT_EQ(unfinished_bytes("\x80\x80\x80\x80"), 0U);
    EXPECT_EQ(unfinished_bytes("red \x1b"), 1U);
    EXPECT_EQ(unfinished_bytes("red \x1b[1;3"), 5U);
    EXPECT_EQ(unfinished_bytes("red \x1b[1;31m"), 0U);
    EXPECT_EQ(unfinished_bytes("\x1b[" + std::string(100, '1')), 0U) << "no colour is that long";
}

TEST(SafeText, JsonKeepsItsMeaning) {
    EXPECT_EQ(safe_json("{\n  \"a\": \"\u202e\x7f\U000e0041ü\"\n}"),
              "{\n  \"a\": \"\\u202e\\u007f\\udb40\\udc41ü\"\n}");
}

TEST(SafeText, FieldsOfCsvBeginNoFormula) {
    EXPECT_EQ(csv_field("=1+1"), "'=1+1");
    EXPECT_EQ(csv_field("@x"), "'@x");
    EXPECT_EQ(csv_field("+x,\"y\""), "\"'+x,\"\"y\"\"\"");
    EXPECT_EQ(csv_field("-"), "'-");
    EXPECT_EQ(csv_field("a=b"), "a=b");
    EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
    EXPECT_EQ(csv_field("\x1b[2J\x07"), "\\x1b[2J\\x07");
    EXPECT_EQ(csv_field(""), "");
}

}  // namespace
}  // namespace hostler
