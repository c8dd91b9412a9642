#include "core/signal.h"

#include <gtest/gtest.h>

#include "core/task_group.h"

namespace hostler {
namespace {

class SignalTest : public ::testing::Test {
protected:
    static Task<> note(std::vector<std::string>& to, std::string who, Task<> wait) {
        const auto result = co_await std::move(wait);
        to.push_back(result ? who : who + " " + std::string{name(result.error().code)});
        co_return Result<>{};
    }
    void start(TaskGroup& in, std::string who) {
        in.start(who, note(woken_, who, signal_->wait()));
        turn();
    }
    void turn() {
        loop_.restart();
        loop_.poll();
    }

    Loop loop_;
    std::optional<Signal> signal_{std::in_place};
    std::vector<std::string> woken_;
};

using Names = std::vector<std::string>;

TEST_F(SignalTest, WakesInOrderOfComing) {
    TaskGroup group{loop_};
    for (const std::string who : {"a", "b", "c"}) start(group, who);
    signal_->notify_one();
    turn();
    EXPECT_EQ(woken_, Names{"a"});
    signal_->notify_all();
    turn();
    EXPECT_EQ(woken_, (Names{"a", "b", "c"}));
}

TEST_F(SignalTest, DoesNotKeepANotifyForLater) {
    TaskGroup group{loop_};
    signal_->notify_one();
    signal_->notify_all();
    start(group, "late");
    EXPECT_TRUE(woken_.empty());
}

// Otherwise the notify would be lost with the one that has gone.
TEST_F(SignalTest, PassesOverWhoWasCancelled) {
    TaskGroup first{loop_}, second{loop_};
    start(first, "a");
    start(second, "b");
    first.cancel();
    signal_->notify_one();
    turn();
    EXPECT_EQ(woken_, (Names{"a cancelled", "b"}));
}

TEST_F(SignalTest, WakesThoseWhoWaitWhenItGoes) {
    TaskGroup group{loop_};
    start(group, "a");
    signal_.reset();
    turn();
    EXPECT_EQ(woken_, Names{"a cancelled"});
}

TEST_F(SignalTest, AWakeUpBeforeACancellationCounts) {
    TaskGroup group{loop_};
    start(group, "a");
    signal_->notify_one();
    group.cancel();
    turn();
    EXPECT_EQ(woken_, Names{"a"});
}

}  // namespace
}  // namespace hostler
