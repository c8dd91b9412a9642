// A bounded queue between coroutines of one loop.
#pragma once

#include <deque>

#include "core/signal.h"

namespace hostler {

template <class T>
class Queue {
public:
    explicit Queue(std::size_t size_max) : size_max_(size_max) {}

    // Waits while the queue is full. Errors: cancelled; unavailable when the queue is closed.
    Task<> push(T value) {
        while (!closed_ && items_.size() >= size_max_) CO_TRY(co_await drained_.wait());
        if (closed_) co_return fail(Code::unavailable, "the queue is closed");
        items_.push_back(std::move(value));
        filled_.notify_one();
        co_return Result<>{};
    }

    // false: full or closed, and `value` is untouched.
    bool try_push(T& value) {
        if (closed_ || items_.size() >= size_max_) return false;
        items_.push_back(std::move(value));
        filled_.notify_one();
        return true;
    }

    // What was pushed before close() still comes out. Errors: cancelled; unavailable when closed and empty.
    Task<T> pop() {
        while (items_.empty()) {
            if (closed_) co_return fail(Code::unavailable, "the queue is closed");
            CO_TRY(co_await filled_.wait());
        }
        T value = std::move(items_.front());
        items_.pop_front();
        drained_.notify_one();
        co_return value;
    }

    void close() {
        closed_ = true;
        filled_.notify_all();
        drained_.notify_all();
    }

    std::size_t size() const { return items_.size(); }
    std::size_t size_max() const { return size_max_; }

private:
    std::size_t size_max_;
    std::deque<T> items_;
    Signal filled_;
    Signal drained_;
    bool closed_ = false;
};

}  // namespace hostler
