#include "core/task_group.h"

#include <gtest/gtest.h>

#include "core/log.h"
#include "core/queue.h"
#include "core/signal.h"
#include "core/testing/manual_timers.h"
#include "core/testing/run.h"

namespace hostler {
namespace {

using namespace std::chrono_literals;

struct Counted {
    int& alive;
    explicit Counted(int& count) : alive(count) { ++alive; }
    ~Counted() { --alive; }
};

Task<> wait_for(Signal& signal, int& alive) {
    const Counted counted{alive};
    co_return co_await signal.wait();
}

void turn(Loop& loop) {
    loop.restart();
    loop.poll();
}

TEST(TaskGroup, RunsItsTasksAtTheNextTurn) {
    Loop loop;
    TaskGroup group{loop};
    bool ran = false;
    group.start("task", [](bool& to) -> Task<> {
        to = true;
        co_return Result<>{};
    }(ran));
    EXPECT_FALSE(ran);
    EXPECT_EQ(group.size(), 1u);
    turn(loop);
    EXPECT_TRUE(ran);
    EXPECT_EQ(group.size(), 0u);
}

TEST(TaskGroup, ATaskThatIsCancelledBeforeItsFirstTurnNeverBegins) {
    Loop loop;
    bool ran = false;
    TaskGroup group{loop};
    group.start("test", [](bool& to) -> Task<> {
        to = true;
        co_return Result<>{};
    }(ran));
    group.cancel();
    EXPECT_TRUE(testing::run(loop, group.close()));
    EXPECT_FALSE(ran);
    EXPECT_EQ(group.size(), 0u);
}

TEST(TaskGroup, CloseEndsTasksThatWaitAndThoseThatHaveNotBegun) {
    Loop loop;
    TaskGroup group{loop};
    Signal signal;
    int alive = 0;
    for (int i = 0; i < 3; ++i) group.start("waits", wait_for(signal, alive));
    turn(loop);
    EXPECT_EQ(alive, 3);
    group.start("has not begun", wait_for(signal, alive));
    ASSERT_TRUE(testing::run(loop, group.close()));
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(group.size(), 0u);
    group.start("too late", wait_for(signal, alive));
    turn(loop);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(group.size(), 0u);
    EXPECT_TRUE(testing::run(loop, group.close())) << "closing twice";
}

TEST(TaskGroup, CloseWaitsForTasksThatTakeTheirTime) {
    Loop loop;
    TaskGroup group{loop};
    Signal signal;
    bool ended = false;
    group.start("stubborn", [](Signal& by, bool& to) -> Task<> {
        (void)co_await by.wait_even_if_cancelled();
        to = true;
        co_return Result<>{};
    }(signal, ended));
    turn(loop);
    TaskGroup closer{loop};
    std::optional<bool> ended_at_close;
    closer.start("closes", [](TaskGroup& what, bool& is, std::optional<bool>& was) -> Task<> {
        CO_TRY(co_await what.close());
        was = is;
        co_return Result<>{};
    }(group, ended, ended_at_close));
    turn(loop);
    EXPECT_FALSE(ended_at_close);
    closer.cancel();  // Who closes cannot be talked out of it: what the tasks refer to is about to go.
    turn(loop);
    EXPECT_FALSE(ended_at_close);
    signal.notify_all();
    turn(loop);
    ASSERT_TRUE(ended_at_close);
    EXPECT_TRUE(*ended_at_close);
}

TEST(TaskGroup, ACancelledTaskCannotWaitAgain) {
    Loop loop;
    TaskGroup group{loop};
    Signal signal;
    Queue<int> queue{1};
    std::vector<Code> codes;
    group.start("task", [](Signal& by, Queue<int>& from, std::vector<Code>& to) -> Task<> {
        to.push_back((co_await by.wait()).error().code);
        to.push_back((co_await from.pop()).error().code);
        to.push_back((co_await check_cancelled()).error().code);
        co_return Result<>{};
    }(signal, queue, codes));
    turn(loop);
    group.cancel();
    turn(loop);
    EXPECT_EQ(codes, (std::vector<Code>(3, Code::cancelled)));
}

// A task may hold what owns its group: the group then goes while that task is being taken down.
TEST(TaskGroup, MayGoWithItsLastTask) {
    struct Owner {
        explicit Owner(Loop& loop) : group(loop) {}
        Signal signal;
        TaskGroup group;
    };
    Loop loop;
    auto owner = std::make_shared<Owner>(loop);
    const std::weak_ptr<Owner> watch = owner;
    owner->group.start("holds its owner", [](std::shared_ptr<Owner> self) -> Task<> {
        co_return co_await self->signal.wait();
    }(owner));
    turn(loop);
    owner->group.cancel();
    owner.reset();
    EXPECT_FALSE(watch.expired());
    turn(loop);
    EXPECT_TRUE(watch.expired());
}

// Asio's own way of cancelling from outside the loop came too late for a task that had just been woken.
TEST(TaskGroup, MayBeCancelledFromOutsideTheLoopWhenItsTasksAreAboutToEnd) {
    Loop loop;
    TaskGroup group{loop};
    Signal signal;
    int alive = 0;
    for (int i = 0; i < 100; ++i) group.start("task", wait_for(signal, alive));
    turn(loop);
    signal.notify_all();
    group.cancel();
    turn(loop);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(group.size(), 0u);
}

std::vector<std::string> logged;

TEST(TaskGroup, LogsWhyATaskFailedButNotThatItWasCancelled) {
    Loop loop;
    logged.clear();
    set_log_sink([](Level, std::string_view line) { logged.emplace_back(line); });
    TaskGroup group{loop};
    Signal signal;
    int alive = 0;
    group.start("reporter", []() -> Task<> { co_return fail(Code::unavailable, "no way"); }());
    group.start("waits", wait_for(signal, alive));
    turn(loop);
    group.cancel();
    turn(loop);
    set_log_sink(nullptr);
    EXPECT_EQ(logged, std::vector<std::string>{"reporter: no way"});
}

TEST(TaskGroup, ItsTasksGoWithALoopThatIsStoppedForGood) {
    int alive = 0;
    {
        Loop loop;
        Signal signal;
        testing::ManualTimers timers{loop};
        TaskGroup group{loop};
        group.start("waits", wait_for(signal, alive));
        group.start("sleeps", sleep(timers, 1h));
        turn(loop);
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace hostler
