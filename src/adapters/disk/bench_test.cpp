#include "adapters/disk/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/task_group.h"
#include "core/testing/temp_folder.h"

namespace hostler::disk {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

DiskFigures figures_in(const std::string& folder, BenchLimits limits) {
    Loop loop;
    const auto worker = make_worker(loop, "bench");
    const auto bench = make_bench(*worker, folder, limits);
    DiskFigures found;
    TaskGroup group{loop};
    group.start("test", [](DiskBench& on, DiskFigures& into) -> Task<> {
        into = CO_TRY(co_await on.measure());
        co_return Result<>{};
    }(*bench, found));
    loop.run();
    return found;
}

TEST(DiskBench, WritesAndReadsAndLeavesNothing) {
    const hostler::testing::TempFolder folder;
    const DiskFigures found =
        figures_in(folder.path(), {.bytes_max = std::size_t{8} << 20, .free_bytes_min = 0});
    EXPECT_THAT(found.write_mb_s, Optional(::testing::Gt(0)));
    // Where there is no way past the cache it says so.
    EXPECT_EQ(found.read_mb_s.has_value(), found.skipped.empty()) << found.skipped;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(DiskBench, FillsNoDiskThatIsFull) {
    const hostler::testing::TempFolder folder;
    const DiskFigures found = figures_in(folder.path(), {.free_bytes_min = std::size_t{1} << 60});
    EXPECT_FALSE(found.write_mb_s);
    EXPECT_THAT(found.skipped, HasSubstr("too little room"));
}

TEST(DiskBench, SaysWhyThereIsNoFigure) {
    const DiskFigures found = figures_in("/nowhere/at/all", {.free_bytes_min = 0});
    EXPECT_FALSE(found.write_mb_s);
    EXPECT_THAT(found.skipped, HasSubstr("No such file"));
}

}  // namespace
}  // namespace hostler::disk
