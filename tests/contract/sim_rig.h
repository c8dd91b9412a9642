// A store on the disk that fails and loses power.
#pragma once

#include "adapters/sim/vfs.h"
#include "adapters/sqlite/store.h"
#include "core/worker.h"
#include "store_contract.h"

namespace hostler::contract {

// Jobs at the loop's next turn: in one thread, and yet what is called meanwhile gathers in a batch.
class LoopWorker final : public Worker {
public:
    explicit LoopWorker(Loop& loop) : loop_(loop) {}
    void post(std::move_only_function<void()> job, std::move_only_function<void()> done) override {
        asio::post(loop_, [this, job = std::move(job), done = std::move(done)]() mutable {
            job();
            asio::post(loop_, [done = std::move(done)]() mutable { done(); });
        });
    }
    std::size_t backlog() const override { return 0; }

private:
    Loop& loop_;
};

class SimRig : public StoreRig {
public:
    explicit SimRig(std::uint64_t seed) : vfs(seed) {}
    Result<std::unique_ptr<Store>> open() override {
        return open_sqlite("store.db", worker,
                           {.vfs = vfs.name(), .log_bytes = 128 << 10, .reserve_bytes = 1 << 20});
    }
    sim::SimVfs vfs;
    LoopWorker worker{loop};
};

}  // namespace hostler::contract
