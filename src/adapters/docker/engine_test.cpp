#include "adapters/docker/engine.h"

#include <gtest/gtest.h>

#include "core/signal.h"
#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "http/server.h"

namespace hostler::docker {
namespace {

using hostler::testing::ManualTimers;

// An engine that says what it is when the test lets it.
struct SlowEngine final : Net {
    SlowEngine(Loop& loop, ManualTimers& at) : timers(at), tasks(loop) {}
    Task<StreamPtr> dial(std::string, Duration) override {
        auto [client, server] = hostler::testing::memory_pair();
        tasks.start("engine", [](SlowEngine& self, StreamPtr stream) -> Task<> {
            const http::ServerLimits limits;
            co_return co_await http::serve(
                std::move(stream), self.timers, limits,
                [&self](http::Exchange& exchange) { return self.answer(exchange); });
        }(*this, StreamPtr{std::move(server)}));
        co_return std::move(client);
    }
    Task<ListenerPtr> listen(std::string) override { co_return fail(Code::internal, "not here"); }
    Task<StreamPtr> secure(StreamPtr stream, Secure, Side, Duration) override { co_return std::move(stream); }
    Task<> answer(http::Exchange& exchange) {
        const std::string target{exchange.request.target};
        ++asked[target.ends_with("/info") ? "info" : "version"];
        while (held) CO_TRY(co_await let_go.wait());
        co_return co_await exchange.respond({200, {{"Content-Type", "application/json"}}, body});
    }
    ManualTimers& timers;
    TaskGroup tasks;
    bool held = true;
    Signal let_go;
    std::string body = R"({"Version":"20.10.24","NCPU":4,"Driver":"vfs"})";
    std::map<std::string, int> asked;
};

struct NoWorker final : Worker {
    void post(std::move_only_function<void()>, std::move_only_function<void()>) override {}
    std::size_t backlog() const override { return 0; }
};

struct DockerEngineTest : ::testing::Test {
    ~DockerEngineTest() override {
        group.cancel();
        played.tasks.cancel();
        timers.settle();
    }
    void ask(TaskGroup& by) {
        by.start("question", [](DockerEngineTest& test) -> Task<> {
            const auto facts = co_await test.engine.describe();
            CO_TRY(co_await check_cancelled());
            ++test.answers[facts ? facts->name : facts.error().message];
            co_return Result<>{};
        }(*this));
    }
    void answer() {
        played.held = false;
        played.let_go.notify_all();
        timers.settle();
    }
    Loop loop;
    ManualTimers timers{loop};
    SlowEngine played{loop, timers};
    NoWorker worker;
    DockerEngine engine{played, timers, worker, {.socket = "unix:/engine.sock"}};
    std::map<std::string, int> answers;
    TaskGroup group{loop};
};

TEST_F(DockerEngineTest, OneQuestionServesAllWhoAskWhatItIs) {
    TaskGroup impatient{loop};
    ask(impatient);
    for (int i = 0; i < 20; ++i) ask(group);
    timers.settle();
    EXPECT_EQ(played.asked["version"], 1);
    impatient.cancel();  // Another one asks in its place.
    timers.settle();
    EXPECT_EQ(played.asked["version"], 2);
    answer();
    EXPECT_EQ(played.asked["version"], 2);
    EXPECT_EQ(played.asked["info"], 1);
    EXPECT_EQ(answers, (std::map<std::string, int>{{"docker 20.10.24", 20}}));
    ask(group);
    timers.settle();
    EXPECT_EQ(played.asked["info"], 2) << "it may be another one by now";
}

TEST_F(DockerEngineTest, AFailureIsForAllWhoWaitedForTheAnswer) {
    played.body = "{}";
    for (int i = 0; i < 20; ++i) ask(group);
    timers.settle();
    answer();
    EXPECT_EQ(played.asked["version"], 1);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers.begin()->second, 20);
    EXPECT_NE(answers.begin()->first, "docker 20.10.24");
}

}  // namespace
}  // namespace hostler::docker
