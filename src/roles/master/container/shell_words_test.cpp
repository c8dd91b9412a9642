#include "roles/master/container/shell_words.h"

#include <gtest/gtest.h>

namespace hostler::master {
namespace {

using Words = std::vector<std::string>;

TEST(ShellWords, SplitsAsAShellWould) {
    EXPECT_EQ(shell_words("").value(), Words{});
    EXPECT_EQ(shell_words("  a  b\tc\n").value(), (Words{"a", "b", "c"}));
    EXPECT_EQ(shell_words("sh -c 'echo \"$HOME\" \\n'").value(), (Words{"sh", "-c", "echo \"$HOME\" \\n"}));
    EXPECT_EQ(shell_words(R"(a"b c"d "\"\\\$\n")").value(), (Words{"ab cd", "\"\\$\\n"}));
    EXPECT_EQ(shell_words(R"('' "" \ )").value(), (Words{"", "", " "}));
}

TEST(ShellWords, RefusesWhatHasNoEnd) {
    for (const char* line : {"'a", "\"a", "\"a\\", "a\\"})
        EXPECT_EQ(shell_words(line).error().code, Code::invalid) << line;
}

}  // namespace
}  // namespace hostler::master
