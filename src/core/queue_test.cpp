#include "core/queue.h"

#include <gtest/gtest.h>

#include "core/task_group.h"
#include "core/testing/run.h"

namespace hostler {
namespace {

void turn(Loop& loop) {
    loop.restart();
    loop.poll();
}

Task<> push_all(Queue<int>& to, int from, int end, int& pushed) {
    for (int i = from; i < end; ++i) {
        CO_TRY(co_await to.push(i));
        ++pushed;
    }
    co_return Result<>{};
}

Task<> pop_all(Queue<int>& from, std::vector<int>& got, Code& ended) {
    while (true) {
        const auto item = co_await from.pop();
        if (!item) {
            ended = item.error().code;
            co_return Result<>{};
        }
        got.push_back(*item);
    }
}

TEST(Queue, KeepsItsOrderAndItsBound) {
    Loop loop;
    TaskGroup group{loop};
    Queue<int> queue{3};
    int pushed = 0;
    group.start("push", push_all(queue, 0, 10, pushed));
    turn(loop);
    EXPECT_EQ(pushed, 3);
    EXPECT_EQ(queue.size(), 3u);
    int seven = 7;
    EXPECT_FALSE(queue.try_push(seven));
    EXPECT_EQ(testing::run(loop, queue.pop()).value(), 0);
    turn(loop);
    EXPECT_EQ(pushed, 4);
    std::vector<int> got;
    Code ended{};
    group.start("pop", pop_all(queue, got, ended));
    turn(loop);
    EXPECT_EQ(got, (std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_TRUE(queue.try_push(seven));
    turn(loop);
    EXPECT_EQ(got.back(), 7);
}

TEST(Queue, ManyPushersAndPoppersLoseAndDoubleNothing) {
    Loop loop;
    TaskGroup group{loop};
    Queue<int> queue{2};
    int pushed = 0;
    std::vector<int> got;
    Code ended{};
    for (int i = 0; i < 5; ++i) group.start("push", push_all(queue, i * 100, i * 100 + 100, pushed));
    for (int i = 0; i < 3; ++i) group.start("pop", pop_all(queue, got, ended));
    turn(loop);
    EXPECT_EQ(pushed, 500);
    std::ranges::sort(got);
    ASSERT_EQ(got.size(), 500u);
    for (int i = 0; i < 500; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
}

TEST(Queue, CloseLetsOutWhatIsInAndWakesEverybody) {
    Loop loop;
    TaskGroup group{loop};
    Queue<int> full{2}, empty{2};
    int pushed = 0;
    std::vector<int> got;
    Code ended{};
    group.start("push", push_all(full, 0, 10, pushed));
    group.start("pop", pop_all(empty, got, ended));
    turn(loop);
    full.close();
    empty.close();
    turn(loop);
    EXPECT_EQ(group.size(), 0u);
    EXPECT_EQ(ended, Code::unavailable);
    EXPECT_EQ(testing::run(loop, full.push(1)).error().code, Code::unavailable);
    EXPECT_EQ(testing::run(loop, full.pop()).value(), 0);
    EXPECT_EQ(testing::run(loop, full.pop()).value(), 1);
    EXPECT_EQ(testing::run(loop, full.pop()).error().code, Code::unavailable);
    EXPECT_EQ(pushed, 2);
}

TEST(Queue, ACancelledPopTakesNothingWithIt) {
    Loop loop;
    TaskGroup doomed{loop}, staying{loop};
    Queue<int> queue{2};
    std::vector<int> lost, got;
    Code ended{};
    doomed.start("pop", pop_all(queue, lost, ended));
    turn(loop);
    staying.start("pop", pop_all(queue, got, ended));
    turn(loop);
    doomed.cancel();
    int one = 1;
    EXPECT_TRUE(queue.try_push(one));
    turn(loop);
    EXPECT_TRUE(lost.empty());
    EXPECT_EQ(got, std::vector{1});
}

TEST(Queue, CarriesWhatCannotBeCopied) {
    Loop loop;
    Queue<std::unique_ptr<int>> queue{1};
    ASSERT_TRUE(testing::run(loop, queue.push(std::make_unique<int>(5))));
    auto refused = std::make_unique<int>(6);
    EXPECT_FALSE(queue.try_push(refused));
    EXPECT_EQ(*refused, 6) << "a refused value was taken";
    EXPECT_EQ(*testing::run(loop, queue.pop()).value(), 5);
}

}  // namespace
}  // namespace hostler
