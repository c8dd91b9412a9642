#include "adapters/curl/runner.h"

#include <pthread.h>

#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace hostler::curl {

namespace {

struct MultiCleanup {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

CURLM* new_multi() {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    HOSTLER_ASSERT(ready == CURLE_OK);
    return curl_multi_init();
}

}  // namespace

struct Runner::State {
    explicit State(Done then) : done(std::move(then)), multi(new_multi()) {}

    const Done done;
    const std::unique_ptr<CURLM, MultiCleanup> multi;
    std::mutex mutex;  // Of what stands until `running`, which is the thread's.
    bool stopping = false;
    std::deque<std::pair<Id, std::unique_ptr<Transfer>>> waiting;
    std::vector<Id> unwanted;
    std::map<Id, std::unique_ptr<Transfer>> running;
    std::thread thread;

    // false: the end.
    bool take_orders() {
        const std::scoped_lock lock{mutex};
        for (const Id id : std::exchange(unwanted, {})) {
            std::erase_if(waiting, [id](const auto& each) { return each.first == id; });
            if (const auto at = running.find(id); at != running.end()) {
                curl_multi_remove_handle(multi.get(), at->second->handle());
                running.erase(at);
            }
        }
        while (!stopping && running.size() < Outgoing::under_way_max && !waiting.empty()) {
            auto [id, transfer] = std::move(waiting.front());
            waiting.pop_front();
            curl_multi_add_handle(multi.get(), transfer->handle());
            running.emplace(id, std::move(transfer));
        }
        return !stopping;
    }

    // True when something has ended: there is room for what waits.
    bool finish() {
        bool any = false;
        int left = 0;
        while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
            if (message->msg != CURLMSG_DONE) continue;
            const CURLcode code = message->data.result;
            const auto at = std::ranges::find_if(
                running, [&](const auto& each) { return each.second->handle() == message->easy_handle; });
            HOSTLER_ASSERT(at != running.end());
            curl_multi_remove_handle(multi.get(), at->second->handle());
            done(at->first, at->second->outcome(code));
            running.erase(at);
            any = true;
        }
        return any;
    }

    void work() {
        constexpr int poll_ms = 1000;
        while (take_orders()) {
            int still = 0;
            curl_multi_perform(multi.get(), &still);
            if (!finish()) curl_multi_poll(multi.get(), nullptr, 0, poll_ms, nullptr);
        }
        for (const auto& [id, transfer] : running) curl_multi_remove_handle(multi.get(), transfer->handle());
        running.clear();
    }
};

Runner::Runner(std::string name, Done done) : state_(std::make_unique<State>(std::move(done))) {
    state_->thread = std::thread{[state = state_.get(), name = std::move(name)] {
        pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
        state->work();
    }};
}

Runner::~Runner() {
    {
        const std::scoped_lock lock{state_->mutex};
        state_->stopping = true;
    }
    curl_multi_wakeup(state_->multi.get());
    state_->thread.join();
}

void Runner::start(Id id, std::unique_ptr<Transfer> transfer) {
    {
        const std::scoped_lock lock{state_->mutex};
        state_->waiting.emplace_back(id, std::move(transfer));
    }
    curl_multi_wakeup(state_->multi.get());
}

void Runner::stop(Id id) {
    {
        const std::scoped_lock lock{state_->mutex};
        state_->unwanted.push_back(id);
    }
    curl_multi_wakeup(state_->multi.get());
}

}  // namespace hostler::curl
