#include "core/signal.h"

#include "core/suspend.h"

namespace hostler {

Signal::~Signal() {
    for (auto& waiter : waiters_) waiter->wake(fail(Code::cancelled, "the awaited object is gone"));
}

Task<> Signal::wait() {
    return suspend<void>([this](WakerPtr<void> waker) { add(std::move(waker)); });
}

Task<> Signal::wait_even_if_cancelled() {
    return suspend<void>([this](WakerPtr<void> waker) { add(std::move(waker)); }, Cancellable::no);
}

// Those who were cancelled leave when somebody comes, so that a signal that nobody gives does not collect
// them.
void Signal::add(WakerPtr<void> waiter) {
    while (!waiters_.empty() && !waiters_.front()->asleep()) waiters_.pop_front();
    waiters_.push_back(std::move(waiter));
}

void Signal::notify_one() {
    while (!waiters_.empty()) {
        auto waiter = std::move(waiters_.front());
        waiters_.pop_front();
        if (!waiter->asleep()) continue;  // Cancelled meanwhile: the next one has the turn.
        waiter->wake({});
        return;
    }
}

void Signal::notify_all() {
    auto waiters = std::exchange(waiters_, {});
    for (auto& waiter : waiters) waiter->wake({});
}

}  // namespace hostler
