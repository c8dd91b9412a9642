#include "adapters/node_steps/command.h"

#include <gtest/gtest.h>

#include <ranges>

#include "adapters/node_steps/groups.h"

namespace hostler::node_steps {
namespace {

StepSettings settings() {
    StepSettings made;
    made.folder = "/nowhere";
    made.group_parent = "hostler-test-commands";
    return made;
}

Result<CommandEnd> shell(std::string script) {
    const Stop stop{Clock::now() + std::chrono::seconds{60}};
    return run_command(settings(), "kn-1.test", {"sh", "-c", std::move(script)}, stop);
}

TEST(Commands, HaveTheirOwnEnvironmentSessionAndNoInput) {
    ::setenv("HOSTLER_TEST_VALUE", "seen", 1);
    const auto end = shell("env | sort; cat; ps -o sid= -p $$ | tr -d ' '; echo $$");
    ::unsetenv("HOSTLER_TEST_VALUE");
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_EQ(end->exit_code, 0);
    EXPECT_NE(end->output.find("HOME=/root\nLANG=C.UTF-8\nPATH="), std::string::npos) << end->output;
    EXPECT_EQ(end->output.find("HOSTLER_TEST"), std::string::npos);
    std::vector<std::string> lines;
    for (const auto part : std::views::split(end->output, '\n')) lines.emplace_back(std::string_view{part});
    ASSERT_GE(lines.size(), 3U);
    EXPECT_EQ(lines[lines.size() - 3], lines[lines.size() - 2]) << "the first of its session";
}

TEST(Commands, OfMuchOutputTheBeginningAndTheEndAreKept) {
    const auto end = shell("echo first=1; yes 0123456789 | head -c 3000000; echo last words >&2");
    ASSERT_TRUE(end);
    EXPECT_EQ(end->output.size(), output_bytes_max);
    EXPECT_TRUE(end->output.starts_with("first=1\n"));
    EXPECT_LE(end->last.size(), last_bytes_max);
    EXPECT_NE(end->last.find("last words"), std::string::npos);
}

// A command ends when its process does, and not when the last holder of its outputs does.
TEST(Commands, WhatTheyLeaveEndsWithThem) {
    const auto end = shell("setsid sleep 311 & echo $!");
    ASSERT_TRUE(end);
    const auto left = parse_number(end->output);
    ASSERT_TRUE(left);
    if (make_groups(group_folders(settings(), "probe")).empty()) GTEST_SKIP() << "no control groups here";
    (void)end_groups(group_folders(settings(), "probe"));
    // A zombie has no arguments.
    EXPECT_EQ(read_text("/proc/" + std::to_string(*left) + "/cmdline").value_or(""), "");
}

TEST(Commands, ASignalIsAnExitCode) { EXPECT_EQ(shell("kill -TERM $$")->exit_code, 128 + 15); }

TEST(Commands, LastLinesHaveNoOutputs) {
    EXPECT_EQ(last_lines("a\n\ntoken=abcdef\nuse abcdef here\nb\n", {"token"}, {{"token", "abcdef"}}),
              "a\nuse *** here\nb");
    EXPECT_EQ(outputs_in("x\ntoken=a=b\r\nother=1\n", {"token"}),
              (std::map<std::string, std::string>{{"token", "a=b"}}));
}

TEST(Commands, NamesOfGroupsAreNoPaths) {
    EXPECT_EQ(plain("kn-1.make"), "kn-1.make");
    EXPECT_EQ(plain("../../x y"), "x_._.._x_y");
    EXPECT_EQ(plain(""), "x");
    EXPECT_EQ(plain(plain("-a/b")), plain("-a/b"));
}

}  // namespace
}  // namespace hostler::node_steps
