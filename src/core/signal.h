// Coroutines of one loop that wait for one another.
#pragma once

#include <list>
#include <memory>

#include "core/task.h"

namespace hostler {

template <class T>
class Waker;

// A condition: whoever waits is woken by the next notify. Not for use between threads.
class Signal {
public:
    Signal() = default;
    ~Signal();  // Wakes those who wait, with `cancelled`.
    Signal(const Signal&) = delete;
    Signal& operator=(const Signal&) = delete;

    // Returns at the next notify, never for an earlier one. Errors: cancelled.
    Task<> wait();
    Task<> wait_even_if_cancelled();
    void notify_one();
    void notify_all();

private:
    void add(std::shared_ptr<Waker<void>> waiter);
    std::list<std::shared_ptr<Waker<void>>> waiters_;  // Unlike a deque, nothing while nobody waits.
};

}  // namespace hostler
