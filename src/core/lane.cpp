#include "core/lane.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace hostler {

struct Lane::State {
    explicit State(std::string named) : name(std::move(named)) {}

    const std::string name;
    mutable std::mutex mutex;
    std::condition_variable changed;
    Loop* loop = nullptr;  // nullptr: the lane has gone.
    std::move_only_function<void()> job;
    std::move_only_function<void()> done;
    bool busy = false;
    bool ended = false;
    std::thread thread;

    void work() {
        pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
        std::unique_lock lock{mutex};
        while (true) {
            changed.wait(lock, [this] { return !loop || job; });
            if (!loop) break;
            auto run = std::exchange(job, nullptr);
            lock.unlock();
            run();
            run = nullptr;  // What it owned goes before anyone hears that it has ended.
            lock.lock();
            busy = false;
            if (loop) asio::post(*loop, [then = std::move(done)]() mutable { then(); });
        }
        ended = true;
        changed.notify_all();
    }
};

Lane::Lane(Loop& loop, std::string name) : state_(std::make_shared<State>(std::move(name))) {
    state_->loop = &loop;
}

Lane::~Lane() {
    std::unique_lock lock{state_->mutex};
    state_->loop = nullptr;
    state_->changed.notify_all();
    if (!state_->thread.joinable()) return;
    const bool ended = state_->changed.wait_for(lock, farewell, [this] { return state_->ended; });
    lock.unlock();
    if (ended) {
        state_->thread.join();
    } else {
        state_->thread.detach();
    }
}

bool Lane::start(std::move_only_function<void()> job, std::move_only_function<void()> done) {
    const std::scoped_lock lock{state_->mutex};
    if (state_->busy) return false;
    state_->busy = true;
    state_->job = std::move(job);
    state_->done = std::move(done);
    if (!state_->thread.joinable()) state_->thread = std::thread{[state = state_] { state->work(); }};
    state_->changed.notify_one();
    return true;
}

bool Lane::busy() const {
    const std::scoped_lock lock{state_->mutex};
    return state_->busy;
}

}  // namespace hostler
