#include "adapters/curl/outgoing.h"

#include <boost/asio/executor_work_guard.hpp>
#include <map>

#include "adapters/curl/runner.h"
#include "core/suspend.h"

namespace hostler::curl {

namespace {

// Who waits for the end of which transfer. On the loop's thread alone.
struct Waiters {
    struct Waiter {
        WakerPtr<HttpAnswer> waker;
        asio::executor_work_guard<Loop::executor_type> keep;  // The loop lives on while an answer is due.
    };
    std::map<Runner::Id, Waiter> all;

    void wake(Runner::Id id, Result<HttpAnswer> with) {
        if (const auto at = all.find(id); at != all.end()) at->second.waker->wake(std::move(with));
    }
};

class CurlOutgoing final : public Outgoing {
public:
    CurlOutgoing(Loop& loop, Timers& timers, ReachPolicy policy)
        : loop_(loop),
          timers_(timers),
          policy_(std::make_unique<const ReachPolicy>(std::move(policy))),
          http_(runner("outgoing")),
          mail_ours_(runner("mail")),
          mail_theirs_(runner("mail-tenants")) {}

    Task<HttpAnswer> send(HttpCall call) override {
        CO_TRY(check(call));
        const Duration deadline = call.deadline;
        co_return co_await perform(http_, std::make_unique<Transfer>(std::move(call), *policy_), deadline);
    }

    Task<> mail(Mail mail) override {
        CO_TRY(check(mail));
        const Duration deadline = mail.deadline;
        auto& runner = mail.reach == Reach::anywhere ? mail_ours_ : mail_theirs_;
        CO_TRY(co_await perform(runner, std::make_unique<Transfer>(std::move(mail), *policy_), deadline));
        co_return Result<>{};
    }

private:
    using RunnerPtr = std::shared_ptr<Runner>;

    RunnerPtr runner(std::string name) {
        return std::make_shared<Runner>(
            std::move(name), [&loop = loop_, waiters = std::weak_ptr{waiters_}](Runner::Id id, auto answer) {
                asio::post(loop, [waiters, id, answer = std::move(answer)]() mutable {
                    if (const auto all = waiters.lock()) all->wake(id, std::move(answer));
                });
            });
    }

    // Leaves nothing behind, however it ends.
    struct Stay {
        std::shared_ptr<Waiters> waiters;
        std::weak_ptr<Runner> runner;
        Runner::Id id;
        ~Stay() {
            waiters->all.erase(id);
            if (const auto still = runner.lock()) still->stop(id);
        }
    };

    Task<HttpAnswer> perform(RunnerPtr runner, std::unique_ptr<Transfer> transfer, Duration time) {
        if (waiters_->all.size() >= under_way_max + waiting_max)
            co_return fail(Code::exhausted, "too many calls to other servers wait already", "outgoing_full");
        const Runner::Id id = ++last_;
        const Stay stay{waiters_, runner, id};
        const Deadline deadline{timers_, time, [waiters = waiters_, id] {
                                    waiters->wake(id,
                                                  fail(Code::timeout, "the server has not answered in time"));
                                }};
        co_return co_await suspend<HttpAnswer>([&](WakerPtr<HttpAnswer> waker) {
            waiters_->all.emplace(id, Waiters::Waiter{std::move(waker), asio::make_work_guard(loop_)});
            runner->start(id, std::move(transfer));
            runner.reset();
        });
    }

    Loop& loop_;
    Timers& timers_;
    const std::unique_ptr<const ReachPolicy> policy_;
    const std::shared_ptr<Waiters> waiters_ = std::make_shared<Waiters>();
    Runner::Id last_ = 0;
    const RunnerPtr http_;
    const RunnerPtr mail_ours_;
    const RunnerPtr mail_theirs_;
};

}  // namespace

std::unique_ptr<Outgoing> make_outgoing(Loop& loop, Timers& timers, ReachPolicy policy) {
    return std::make_unique<CurlOutgoing>(loop, timers, std::move(policy));
}

}  // namespace hostler::curl
