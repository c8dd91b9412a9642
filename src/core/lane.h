// Threads for calls that may never come back: a driver's library, the files of a device that hangs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/suspend.h"
#include "core/timers.h"

namespace hostler {

// One thread, one job at a time. Unlike a Worker it is never waited for: a job that hangs keeps its lane busy
// and nothing else, so there are never more stuck threads than lanes. Lanes live on the loop's thread.
class Lane {
public:
    Lane(Loop& loop, std::string name);
    ~Lane();  // Gives a running job `farewell` to end, then leaves its thread behind; `done` is not called
              // any more.
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    // Runs `job` on the thread, then `done` on the loop. false: still busy with an earlier job. The job must
    // own what it touches. An idle loop is not kept alive by a job: whoever waits has a deadline.
    bool start(std::move_only_function<void()> job, std::move_only_function<void()> done);
    bool busy() const;

    static constexpr Duration farewell = std::chrono::milliseconds{500};

private:
    struct State;
    std::shared_ptr<State> state_;
};

// What is asked of a lane.
template <class T>
struct Question {
    Lane* lane;
    std::move_only_function<Result<T>()> job;
};

// Asks all at once and answers when all have, or when `time` is over. Each answer is the job's own, or:
// timeout (it has not come back and keeps its lane), unavailable (its lane is still kept by an earlier one).
// Errors: cancelled.
template <class T>
Task<std::vector<Result<T>>> ask(Timers& timers, Duration time, std::vector<Question<T>> questions) {
    struct Round {
        std::vector<std::optional<Result<T>>> answers;
        std::size_t due = 0;
        WakerPtr<void> waker;
        void wake() {
            if (waker) waker->wake({});
        }
    };
    auto round = std::make_shared<Round>();
    round->answers.resize(questions.size());
    for (std::size_t i = 0; i < questions.size(); ++i) {
        auto answer = std::make_shared<std::optional<Result<T>>>();
        const bool started = questions[i].lane->start(
            [answer, job = std::move(questions[i].job)]() mutable { answer->emplace(job()); },
            [answer, round, i] {
                round->answers[i] = std::move(*answer);
                if (--round->due == 0) round->wake();
            });
        if (started) {
            ++round->due;
        } else {
            round->answers[i] = fail(Code::unavailable, "an earlier call has not come back yet");
        }
    }
    if (round->due > 0) {
        const Deadline deadline{timers, time, [round] { round->wake(); }};
        CO_TRY(co_await suspend<void>([round](WakerPtr<void> waker) { round->waker = std::move(waker); }));
    }
    std::vector<Result<T>> answers;
    for (auto& answer : round->answers) {
        if (!answer) answer = fail(Code::timeout, "a call has not come back in time");
        answers.push_back(std::move(*answer));
    }
    co_return answers;
}

template <class T>
Task<T> ask(Timers& timers, Duration time, Lane& lane, std::move_only_function<Result<T>()> job) {
    std::vector<Question<T>> questions;
    questions.push_back({&lane, std::move(job)});
    auto answers = CO_TRY(co_await ask<T>(timers, time, std::move(questions)));
    co_return std::move(answers.front());
}

}  // namespace hostler
