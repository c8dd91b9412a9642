#include "domain/job/output_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler {
namespace {

using ::testing::HasSubstr;

const OutputNames names{.job = "137",
                        .array_job = "135",
                        .array_index = 5,
                        .name = "arr",
                        .host = "vm",
                        .user = "root",
                        .rank = 2};

std::string expand(std::string_view pattern, const OutputNames& with = names) {
    const auto path = expand_output(pattern, with, "/base/dir", "output");
    return path ? *path : path.error().message;
}

TEST(OutputPattern, NamesAreThoseOfSlurm) {
    EXPECT_EQ(expand("r_%A_%a_%x_%N_%u_%j_%%_%n_%t.out"), "r_135_5_arr_vm_root_137_%_0_2.out");
    EXPECT_EQ(expand("%5a-%3j-%10A"), "00005-137-0000000135");
    EXPECT_EQ(expand("%5x"), "arr") << "Only numbers are padded.";
    EXPECT_EQ(expand("slurm-%A_%a.out", {.job = "7", .array_job = "", .name = "", .host = "", .user = ""}),
              "slurm-7_4294967294.out");
}

TEST(OutputPattern, PathsAreInTheWorkingDirectory) {
    EXPECT_EQ(expand("logs/%j/out"), "logs/137/out");
    EXPECT_EQ(expand("/base/dir/logs/%j"), "logs/137");
    EXPECT_EQ(expand("/dev/null"), "/dev/null");
    for (const auto pattern : {"/base/directory/x", "/etc/passwd", "/base/dir", "/base", "/dev/null2"})
        EXPECT_THAT(expand(pattern), HasSubstr("is outside the working directory")) << pattern;
    for (const auto pattern : {"..", "../x", "a/../x", "a/..", "/base/dir/../x"})
        EXPECT_THAT(expand(pattern), HasSubstr("'..'")) << pattern;
    EXPECT_EQ(expand("a..b/..."), "a..b/...");
}

TEST(OutputPattern, NamesCannotLeaveTheFolder) {
    OutputNames evil = names;
    evil.name = "../../etc/passwd";
    EXPECT_EQ(expand("%x.out", evil), ".._.._etc_passwd.out");
    evil.name = "..";
    EXPECT_THAT(expand("%x/out", evil), HasSubstr("'..'"));
    evil.name = ".";
    EXPECT_THAT(expand(".%x/out", evil), HasSubstr("'..'"));
    evil.name = "";
    EXPECT_THAT(expand("%x/out", evil), HasSubstr("is no file's name"));
    evil.name = std::string(5000, 'x');
    EXPECT_THAT(expand("%x", evil), HasSubstr("more than 4096"));
}

TEST(OutputPattern, UnknownSignsAreRefused) {
    for (const auto pattern : {"%q", "%", "a%", "%11a", "%5", "%s", "%J", "%999999999999999999999a"})
        EXPECT_THAT(expand(pattern), HasSubstr("a sign that is not read")) << pattern;
    EXPECT_THAT(expand("a\\b"), HasSubstr("backslash"));
    EXPECT_THAT(expand("a\nb"), HasSubstr("control character"));
    EXPECT_THAT(expand(""), HasSubstr("is empty"));
    EXPECT_THAT(expand("a/"), HasSubstr("is a folder"));
    EXPECT_THAT(expand(std::string(2000, 'x')), HasSubstr("at most 1024"));
    const auto wrong = expand_output("%q", names, "/w", "output");
    ASSERT_FALSE(wrong);
    ASSERT_EQ(wrong.error().fields.size(), 1u);
    EXPECT_EQ(wrong.error().fields[0].path, "output");
}

}  // namespace
}  // namespace hostler
