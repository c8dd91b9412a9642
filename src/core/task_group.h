// Nothing runs that nobody owns: a TaskGroup owns the tasks started in it.
#pragma once

#include <memory>
#include <string>

#include "core/task.h"

namespace hostler {

// Owner of tasks on one loop. Await close() before the group, and what its tasks refer to, goes away: it
// cancels them and returns when the last has ended. When a loop is stopped for good, its destructor may be
// all that runs.
class TaskGroup {
public:
    explicit TaskGroup(Loop& loop);
    ~TaskGroup();
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    // Runs `task` at the loop's next turn. An error other than `cancelled` is logged as `what`; after
    // cancel() new tasks are dropped unstarted.
    void start(std::string what, Task<> task);
    void cancel();   // Asks all to end.
    Task<> close();  // cancel(), then wait for all of them. Not itself cancellable.
    std::size_t size() const;

private:
    struct State;
    struct Ended;
    std::shared_ptr<State> state_;
};

// True when this coroutine was asked to end. Primitives check it before they wait.
Task<> check_cancelled();

}  // namespace hostler
