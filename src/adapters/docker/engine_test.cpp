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
            co_return co_await http::serve(std::move(stream), self.timers, limits,
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
        co_return co_await exchange.respond(
            {200, {{"Content-Type", "application/json"}}, R"({"Version":"20.10.24","NCPU":4,"Driver":"vfs"})"});
    }
    ManualTimers& timers;
    TaskGroup tasks;
    bool held = true;
    Signal let_go;
    std::map<std::string, int> asked;
};

struct NoWorker final : Worker {
    void post(std::move_only_function<void()>, std::move_only_function<void()>) override {}
    std::size_t backlog() const override { return 0; }
};

TEST(DockerEngineTest, OneQuestionServesAllWhoAskWhatItIs) {
    Loop loop;
    ManualTimers timers{loop};
    SlowEngine played{loop, timers};
    NoWorker worker;
    DockerEngine engine{played, timers, worker, {.socket = "unix:/engine.sock"}};
    TaskGroup group{loop}, impatient{loop};
    const auto ask = [&](TaskGroup& by) {
        by.start("question", [](DockerEngine& of) -> Task<> {
            (void)co_await of.describe();
            co_return Result<>{};
        }(engine));
    };
    ask(impatient);
    for (int i = 0; i < 20; ++i) ask(group);
    timers.settle();
    EXPECT_EQ(played.asked["version"], 1);
    impatient.cancel();  // Another one asks in its place.
    timers.settle();
    EXPECT_EQ(played.asked["version"], 2);
    played.held = false;
    played.let_go.notify_all();
    timers.settle();
    EXPECT_EQ(played.asked["version"], 2);
    EXPECT_EQ(played.asked["info"], 1);
    group.cancel();
    played.tasks.cancel();
    timers.settle();
}

}  // namespace
}  // namespace hostler::docker
