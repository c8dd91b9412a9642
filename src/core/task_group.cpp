#include "core/task_group.h"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <list>

#include "core/log.h"
#include "core/signal.h"
#include "core/suspend.h"

namespace hostler {

struct TaskGroup::State {
    explicit State(Loop& on) : loop(on) {}
    struct Running {
        asio::cancellation_signal signal{};
        bool begun = false;
    };
    using Mine = std::list<Running>::iterator;
    Loop& loop;
    std::list<Running> running;
    Signal ended;
    bool cancelled = false;

    // A task that is cancelled before its first turn is never begun: Asio 1.81 would throw out of the loop.
    static asio::awaitable<void, Loop::executor_type> run(std::shared_ptr<State> state, Mine mine,
                                                          std::string what, Task<> task) {
        co_await asio::this_coro::throw_if_cancelled(false);
        if (state->cancelled) co_return;
        mine->begun = true;
        const auto result = co_await std::move(task);
        if (!result && result.error().code != Code::cancelled)
            log_warn("{}: {}", what, result.error().message);
    }
};

// What co_spawn calls when the task has ended. Not bind_cancellation_slot: Asio 1.81 hands a cancellation for
// that to the loop with a pointer to the signal, which is gone when the task ends first.
struct TaskGroup::Ended {
    using cancellation_slot_type = asio::cancellation_slot;
    std::shared_ptr<State> state;
    State::Mine mine;

    cancellation_slot_type get_cancellation_slot() const noexcept { return mine->signal.slot(); }
    void operator()(std::exception_ptr thrown) const {
        if (thrown) std::rethrow_exception(thrown);
        state->running.erase(mine);
        if (state->running.empty()) state->ended.notify_all();
    }
};

TaskGroup::TaskGroup(Loop& loop) : state_(std::make_shared<State>(loop)) {}

TaskGroup::~TaskGroup() { cancel(); }

void TaskGroup::start(std::string what, Task<> task) {
    if (state_->cancelled) return;
    const auto mine = state_->running.emplace(state_->running.end());
    asio::co_spawn(state_->loop.get_executor(), State::run(state_, mine, std::move(what), std::move(task)),
                   Ended{state_, mine});
}

// Once is enough, since a cancelled task stays cancelled; and the destructor may run while the last task,
// which held the group's owner, is being taken down.
void TaskGroup::cancel() {
    if (std::exchange(state_->cancelled, true)) return;
    // A task that ends takes its signal out of the list only at the loop's next turn, so the list holds
    // still.
    for (auto& one : state_->running)
        if (one.begun) one.signal.emit(asio::cancellation_type::terminal);
}

Task<> TaskGroup::close() {
    const auto state = state_;
    cancel();
    while (!state->running.empty()) co_await state->ended.wait_even_if_cancelled();
    co_return Result<>{};
}

std::size_t TaskGroup::size() const { return state_->running.size(); }

Task<> check_cancelled() { co_return unless_cancelled(co_await asio::this_coro::cancellation_state); }

}  // namespace hostler
