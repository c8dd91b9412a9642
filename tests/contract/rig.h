// What all suites stand on: an adapter in a world of its own, whose time is real or simulated.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/task_group.h"
#include "core/testing/real_timers.h"

namespace hostler::contract {

class Rig {
public:
    virtual ~Rig() = default;
    virtual Loop& loop() = 0;
    virtual Timers& timers() = 0;
    // Lets the loop run until `done`. Simulated time passes by itself.
    virtual void drive(std::function<bool()> done) = 0;

    template <class T>
    Result<T> run(Task<T> task) {
        std::optional<Result<T>> answer;
        TaskGroup group{loop()};
        group.start("test", [](std::optional<Result<T>>& into, Task<T> inner) -> Task<> {
            into.emplace(co_await std::move(inner));
            co_return Result<>{};
        }(answer, std::move(task)));
        drive([&group] { return group.size() == 0; });
        return std::move(*answer);
    }
};

// `Port` is a port's rig, and this the part of it that real time plays.
template <class Port>
class RealRig : public Port {
public:
    Loop& loop() override { return loop_; }
    Timers& timers() override { return timers_; }
    void drive(std::function<bool()> done) override {
        loop_.restart();
        while (!done() && loop_.run_one() > 0) {
        }
        HOSTLER_ASSERT(done() && "the adapter never answers");
    }

protected:
    Loop loop_;
    testing::RealTimers timers_{loop_};
};

template <class Port>
struct Kind {
    std::string name;
    std::function<std::unique_ptr<Port>()> make;
};

template <class Port>
void PrintTo(const Kind<Port>& kind, std::ostream* to) {
    *to << kind.name;
}

template <class Port>
class Contract : public ::testing::TestWithParam<Kind<Port>> {
protected:
    void SetUp() override { rig_ = this->GetParam().make(); }
    template <class T>
    Result<T> run(Task<T> task) {
        return rig_->run(std::move(task));
    }
    std::unique_ptr<Port> rig_;
};

inline constexpr auto kind_name = [](const auto& kind) { return kind.param.name; };

}  // namespace hostler::contract
