#include "core/task_group.h"

#include <gtest/gtest.h>

#include "core/signal.h"
#include "core/testing/run.h"

namespace hostler {

namespace {

Task<> note(bool& ran) {
    ran = true;
    co_return Result<>{};
}

TEST(TaskGroup, ATaskThatIsCancelledBeforeItsFirstTurnNeverBegins) {
    Loop loop;
    bool ran = false;
    TaskGroup group{loop};
    group.start("test", note(ran));
    EXPECT_TRUE(testing::run(loop, group.close()));
    EXPECT_FALSE(ran);
    EXPECT_EQ(group.size(), 0u);
}

TEST(TaskGroup, CloseWaitsForThoseThatHaveBegun) {
    Loop loop;
    Signal never;
    TaskGroup group{loop};
    group.start("test", never.wait());
    while (loop.poll() > 0) {
    }
    EXPECT_EQ(group.size(), 1u);
    EXPECT_TRUE(testing::run(loop, group.close()));
    EXPECT_EQ(group.size(), 0u);
}

}  // namespace

}  // namespace hostler
