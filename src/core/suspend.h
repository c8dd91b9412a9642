// The one way in which our own primitives put a coroutine to sleep and wake it.
#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <functional>
#include <memory>

#include "core/task.h"

namespace hostler {

// Wakes one sleeping coroutine, once; later calls do nothing. The coroutine goes on at its loop's next turn.
template <class T>
class Waker {
public:
    explicit Waker(std::move_only_function<void(Result<T>)> resume) : resume_(std::move(resume)) {}
    void wake(Result<T> with) {
        if (auto resume = std::exchange(resume_, nullptr)) resume(std::move(with));
    }
    bool asleep() const { return static_cast<bool>(resume_); }

private:
    std::move_only_function<void(Result<T>)> resume_;
};

template <class T>
using WakerPtr = std::shared_ptr<Waker<T>>;

// `cancelled` once this coroutine was asked to end; costs no coroutine, as check_cancelled() does:
// CO_TRY(unless_cancelled(co_await asio::this_coro::cancellation_state)).
inline Result<> unless_cancelled(const asio::cancellation_state& state) {
    if (state.cancelled() != asio::cancellation_type::none) return fail(Code::cancelled, "cancelled");
    return {};
}

enum class Cancellable { yes, no };

// Sleeps until somebody calls wake() on the Waker that `begin` is given, or until the task is cancelled.
template <class T>
Task<T> suspend(std::move_only_function<void(WakerPtr<T>)> begin,
                Cancellable cancellable = Cancellable::yes) {
    if (cancellable == Cancellable::yes)
        CO_TRY(unless_cancelled(co_await asio::this_coro::cancellation_state));
    // Deferred: awaited without a coroutine of its own, as use_awaitable would be.
    co_return co_await asio::async_initiate<const asio::deferred_t&, void(Result<T>)>(
        [&begin, cancellable](auto handler) {
            auto slot = asio::get_associated_cancellation_slot(handler);
            auto executor = asio::get_associated_executor(handler);
            auto waker = std::make_shared<Waker<T>>(
                [slot, executor, handler = std::move(handler)](Result<T> with) mutable {
                    if (slot.is_connected()) slot.clear();
                    asio::post(executor, [handler = std::move(handler), with = std::move(with)]() mutable {
                        std::move(handler)(std::move(with));
                    });
                });
            if (cancellable == Cancellable::yes && slot.is_connected()) {
                slot.assign([weak = std::weak_ptr(waker)](asio::cancellation_type) {
                    if (auto waker = weak.lock()) waker->wake(fail(Code::cancelled, "cancelled"));
                });
            }
            begin(std::move(waker));
        },
        asio::deferred);
}

}  // namespace hostler
