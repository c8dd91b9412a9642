#include "adapters/node_steps/steps.h"

#include "adapters/node_steps/perform.h"
#include "core/signal.h"
#include "core/task_group.h"

namespace hostler::node_steps {

namespace {

constexpr std::chrono::seconds look_time{60}, forget_time{120}, resume_time{60}, api_time{10};

// A blocking call on a thread that is its alone. When the caller is cancelled, so is the call, and it is
// waited for.
template <class T>
Task<T> beside(Loop& loop, Duration time, std::move_only_function<Result<T>(const Stop&)> work) {
    CO_TRY(co_await check_cancelled());
    struct Call {
        explicit Call(Clock::time_point until) : stop(until) {}
        Stop stop;
        std::optional<Result<T>> answer;
        bool ended = false;
        Signal end;
    };
    auto call = std::make_shared<Call>(Clock::now() + time);
    struct Thread {
        std::unique_ptr<Worker> worker;
        Stop& stop;
        ~Thread() { stop.cancel(); }  // Before its worker waits for the work.
    };
    const Thread thread{make_worker(loop, "step"), call->stop};
    thread.worker->post([call, inner = std::move(work)]() mutable { call->answer = inner(call->stop); },
                        [call] {
                            call->ended = true;
                            call->end.notify_all();
                        });
    auto waited = co_await call->end.wait();
    while (!call->ended) {
        call->stop.cancel();
        (void)co_await call->end.wait_even_if_cancelled();
    }
    CO_TRY(std::move(waited));
    co_return std::move(*call->answer);
}

}  // namespace

Task<NodeStepDone> HostSteps::perform(NodeStep step) {
    const Duration time = step.deadline;
    co_return co_await beside<NodeStepDone>(loop_, time,
                                            [settings = settings_, step = std::move(step)](const Stop& stop) {
                                                return node_steps::perform(settings, step, stop);
                                            });
}

Task<> HostSteps::forget(std::string node) {
    co_return co_await beside<void>(loop_, forget_time,
                                    [settings = settings_, node = std::move(node)](const Stop&) {
                                        return Programs{settings}.end_all(node);
                                    });
}

Task<std::vector<Leftover>> HostSteps::look(Leftovers what) {
    co_return co_await beside<std::vector<Leftover>>(
        loop_, look_time, [settings = settings_, what = std::move(what)](const Stop& stop) {
            return node_steps::look(settings, what, stop);
        });
}

Task<NodeApi> HostSteps::api(std::string cluster) {
    co_return co_await beside<NodeApi>(loop_, api_time,
                                       [settings = settings_, cluster = std::move(cluster)](const Stop&) {
                                           return node_steps::api(settings, cluster);
                                       });
}

Task<> HostSteps::resume() {
    co_return co_await beside<void>(loop_, resume_time, [settings = settings_](const Stop& stop) {
        return Programs{settings}.resume(stop);
    });
}

}  // namespace hostler::node_steps
