// For tests: a worker that does at once what it is given.
#pragma once

#include "core/worker.h"

namespace hostler::kubernetes::testing {

class PromptWorker final : public Worker {
public:
    explicit PromptWorker(Loop& loop) : loop_(loop) {}
    void post(std::move_only_function<void()> job, std::move_only_function<void()> done) override {
        ++jobs;
        job();
        if (hold) return held.push_back(std::move(done));
        asio::post(loop_, [then = std::move(done)]() mutable { then(); });
    }
    std::size_t backlog() const override { return held.size(); }

    int jobs = 0;
    bool hold = false;  // Their ends are told later.
    std::vector<std::move_only_function<void()>> held;

private:
    Loop& loop_;
};

}  // namespace hostler::kubernetes::testing
