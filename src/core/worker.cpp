#include "core/worker.h"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>

namespace hostler {

namespace {

class ThreadWorker final : public Worker {
public:
    ThreadWorker(Loop& loop, std::string name, std::size_t size_max)
        : loop_(loop), size_max_(size_max), thread_([this, name = std::move(name)] {
              pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
              work();
          }) {}

    ~ThreadWorker() override {
        {
            const std::scoped_lock lock{mutex_};
            stopping_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }

    void post(std::move_only_function<void()> job, std::move_only_function<void()> done) override {
        {
            const std::scoped_lock lock{mutex_};
            HOSTLER_ASSERT(jobs_.size() < size_max_);
            jobs_.push_back({std::move(job), std::move(done), asio::make_work_guard(loop_)});
        }
        changed_.notify_one();
    }

    std::size_t backlog() const override {
        const std::scoped_lock lock{mutex_};
        return jobs_.size();
    }

private:
    struct Job {
        std::move_only_function<void()> run;
        std::move_only_function<void()> done;
        asio::executor_work_guard<Loop::executor_type> keep;  // The loop lives on while an answer is due.
    };

    void work() {
        while (true) {
            std::unique_lock lock{mutex_};
            changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
            if (stopping_) return;
            Job job = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            job.run();
            job.run = nullptr;  // What it held is let go before anyone hears that it is done.
            asio::post(loop_, [done = std::move(job.done)]() mutable { done(); });
        }
    }

    Loop& loop_;
    const std::size_t size_max_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> jobs_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace

std::unique_ptr<Worker> make_worker(Loop& loop, std::string name, std::size_t size_max) {
    return std::make_unique<ThreadWorker>(loop, std::move(name), size_max);
}

}  // namespace hostler
