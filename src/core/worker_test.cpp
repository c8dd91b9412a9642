#include "core/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "core/task_group.h"
#include "core/testing/real_timers.h"

namespace hostler {
namespace {

TEST(Worker, RunsJobsInOrderOffTheLoopAndAnswersOnIt) {
    Loop loop;
    const auto worker = make_worker(loop, "test");
    const auto here = std::this_thread::get_id();
    std::vector<int> ran, done;
    for (int i = 0; i < 100; ++i) {
        worker->post(
            [&, i] {
                EXPECT_NE(std::this_thread::get_id(), here);
                ran.push_back(i);
            },
            [&, i] {
                EXPECT_EQ(std::this_thread::get_id(), here);
                done.push_back(i);
            });
    }
    loop.run();  // Ends when all answers are in: an answer that is due keeps the loop.
    ASSERT_EQ(done.size(), 100u);
    EXPECT_TRUE(std::ranges::is_sorted(done));
    EXPECT_EQ(ran, done);
}

TEST(Worker, GivesTheJobsAnswerOrItsError) {
    Loop loop;
    const auto worker = make_worker(loop, "test");
    EXPECT_EQ(testing::run_real(loop, run_on<int>(*worker, [] { return Result<int>{42}; })).value(), 42);
    const auto failed = testing::run_real(
        loop, run_on<int>(*worker, []() -> Result<int> { return fail(Code::not_found, "no"); }));
    EXPECT_EQ(failed.error().code, Code::not_found);
}

TEST(Worker, WhatAJobOwnsEndsWhereItRan) {
    Loop loop;
    const auto worker = make_worker(loop, "test");
    std::thread::id ended;
    std::shared_ptr<int> owned{new int{7}, [&](const int* it) {
                                   delete it;
                                   ended = std::this_thread::get_id();
                               }};
    ASSERT_TRUE(testing::run_real(
        loop, run_on<int>(*worker, [owned = std::move(owned)] { return Result<int>{*owned}; })));
    EXPECT_NE(ended, std::thread::id{});
    EXPECT_NE(ended, std::this_thread::get_id());
}

TEST(Worker, AJobOutlivesACancelledCaller) {
    Loop loop;
    const auto worker = make_worker(loop, "test");
    std::promise<void> gate;
    auto opened = gate.get_future();
    TaskGroup group{loop};
    std::optional<Code> ended;
    group.start("caller", [](Worker& on, std::future<void>& until, std::optional<Code>& to) -> Task<> {
        const auto result = co_await run_on<int>(on, [&until]() -> Result<int> {
            until.wait();
            return 1;
        });
        to = result ? Code::internal : result.error().code;
        co_return Result<>{};
    }(*worker, opened, ended));
    loop.restart();
    loop.poll();
    group.cancel();
    loop.poll();
    EXPECT_EQ(ended, Code::cancelled) << "it waited for the job";
    gate.set_value();
    loop.run();
}

TEST(Worker, DropsWhatHasNotBegunWhenItGoes) {
    Loop loop;
    std::promise<void> started, gate;
    auto opened = gate.get_future();
    std::atomic<int> ran = 0;
    int done = 0;
    auto worker = make_worker(loop, "test");
    worker->post([&] { started.set_value(), opened.wait(), ++ran; }, [&] { ++done; });
    for (int i = 0; i < 5; ++i) worker->post([&] { ++ran; }, [&] { ++done; });
    started.get_future().wait();
    EXPECT_EQ(worker->backlog(), 5u);
    gate.set_value();
    worker.reset();
    EXPECT_GE(ran, 1) << "the job that was running is waited for";
    loop.run();  // What was dropped does not keep the loop.
    EXPECT_EQ(done, ran);
}

}  // namespace
}  // namespace hostler
