#include "adapters/program/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "adapters/program/inside.h"
#include "core/testing/temp_folder.h"

namespace hostler::program {
namespace {

TEST(Records, AreReadAsTheyWereWritten) {
    const Record record{.name = "p-1",
                        .id = std::string(64, 'a'),
                        .labels = {{"hostler.instance", "i-1"}, {"odd", "\"\n\xff"}},
                        .user = 4'000'000'000,
                        .groups = {"/sys/fs/cgroup/cpu/x"}};
    EXPECT_EQ(parse_record(to_text(record)), record);
    const Running running{.holder = {7, 8}, .init = {9, 10}};
    EXPECT_EQ(parse_running(to_text(running)), running);
    const Ending ending{.exit_code = 137, .oom_killed = true, .stop_killed = true, .error = "e"};
    EXPECT_EQ(parse_ending(to_text(ending)), ending);
}

TEST(Records, OfAnotherVersionAreReadAsFarAsTheyGo) {
    EXPECT_EQ(parse_record(R"({"name":"p-1","new":[1]})"), (Record{.name = "p-1"}));
    EXPECT_EQ(parse_record(R"({"name":"p-1","labels":7,"groups":{},"user":"x"})"), (Record{.name = "p-1"}));
    EXPECT_EQ(parse_ending("{}"), Ending{});
    for (const auto* text : {"", "{", "[]", "7", "{}"}) EXPECT_FALSE(parse_record(text)) << text;
    EXPECT_FALSE(parse_ending("half of a f"));
}

TEST(Records, AProcessIsKnownByItsStart) {
    const auto own = mark_of(::getpid());
    EXPECT_GT(own.started, 0U);
    EXPECT_EQ(mark_of(::getpid()), own);
    EXPECT_NE(mark_of(::getppid()).started, 0U);
    EXPECT_EQ(mark_of(1 << 30).started, 0U);
}

TEST(Records, FilesAreReplacedAsAWhole) {
    const testing::TempFolder folder;
    ASSERT_TRUE(write_record(folder.path(), "record", "one"));
    ASSERT_TRUE(write_record(folder.path(), "record", "two"));
    std::ifstream in{folder.path() + "/record"};
    EXPECT_EQ((std::string{std::istreambuf_iterator<char>{in}, {}}), "two");
    EXPECT_FALSE(std::ifstream{folder.path() + "/record.new"});
    EXPECT_FALSE(write_record(folder.path() + "/none", "record", "x"));
    ASSERT_TRUE(write_ending(folder.path(), {.exit_code = 7}));
    std::ifstream result{folder.path() + "/result"};
    const std::string text{std::istreambuf_iterator<char>{result}, {}};
    EXPECT_EQ(parse_ending(text), (Ending{.exit_code = 7}));
}

TEST(Records, ALockIsHeldByOne) {
    const testing::TempFolder folder;
    const auto path = folder.path() + "/alive";
    auto first = Lock::take(path, Lock::Wait::no);
    ASSERT_TRUE(first);
    EXPECT_FALSE(Lock::take(path, Lock::Wait::no));
    // Where a child has it too, it is let go when both have ended.
    const int copy = ::dup(first->fd());
    first.reset();
    EXPECT_FALSE(Lock::take(path, Lock::Wait::no));
    ::close(copy);
    EXPECT_TRUE(Lock::take(path, Lock::Wait::no));
    EXPECT_FALSE(Lock::take(folder.path() + "/none/alive", Lock::Wait::no));
}

TEST(Reports, CarryAnError) {
    const Error error{Code::not_found, "a: line\nanother", "gpu_unreachable", {}, {}};
    EXPECT_EQ(parse_report(report_text(error)), error);
    for (const auto* text : {"", "x", "1\n2", "77\n\nx"})
        EXPECT_EQ(parse_report(text).code, Code::internal) << text;
}

}  // namespace
}  // namespace hostler::program
