// For tests: a client of the model server, with time that moves when it is told to.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "adapters/kubernetes/client.h"
#include "adapters/kubernetes/testing/model_server.h"
#include "adapters/kubernetes/testing/prompt_worker.h"
#include "core/testing/manual_timers.h"
#include "core/testing/run.h"

namespace hostler::kubernetes::testing {

struct Rig : ::testing::Test {
    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    ModelServer server{loop, timers};
    PromptWorker worker{loop};
    TaskGroup tasks{loop};
    Access access{.address = "api.test:6443", .server_name = "api.test", .token = "secret"};
    ConnectionSettings settings{};

    ~Rig() override {
        tasks.cancel();
        server.stop();
        timers.settle();
    }

    Client client() { return {server, timers, worker, access, settings}; }

    // The task's answer within `time`.
    template <class T>
    Result<T> run(Task<T> task, Duration time = std::chrono::minutes{5}) {
        auto answer = std::make_shared<std::optional<Result<T>>>();
        tasks.start("test", [](std::shared_ptr<std::optional<Result<T>>> into, Task<T> inner) -> Task<> {
            into->emplace(co_await std::move(inner));
            co_return Result<>{};
        }(answer, std::move(task)));
        timers.settle();
        const Instant end = timers.now() + time;
        while (!*answer && timers.now() < end) timers.advance(std::chrono::milliseconds{100});
        if (!*answer) return fail(Code::internal, "the task still waits");
        return std::move(**answer);
    }
};

}  // namespace hostler::kubernetes::testing
