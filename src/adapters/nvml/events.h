// Faults as the driver tells them, by a thread that waits for them.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "adapters/nvml/library.h"
#include "core/lane.h"
#include "domain/inventory/sample.h"

namespace hostler::nvml {

// Whoever finds a fault puts it here, from any thread. Of too many the oldest are dropped.
class Faults {
public:
    void add(GpuFault fault);
    std::vector<GpuFault> take();

private:
    std::mutex mutex_;
    std::deque<GpuFault> faults_;
};

class Events {
public:
    Events(Loop& loop, std::shared_ptr<Faults> faults)
        : lane_(loop, "nvml-events"), faults_(std::move(faults)) {}
    ~Events() { stop(); }

    struct Watched {
        Device device;
        std::string uuid;
    };
    // From now on these, instead of those before. When the thread is stuck in the driver, nothing changes.
    void watch(std::shared_ptr<const Session> session, std::vector<Watched> gpus);
    void stop() { shared_->stop = true; }

private:
    struct Shared {
        std::atomic<bool> stop = false;
        std::mutex mutex;
        std::vector<Watched> gpus;
        std::atomic<unsigned> generation = 0;
    };
    static void work(const Session& session, Shared& shared, Faults& faults);

    Lane lane_;
    std::shared_ptr<Faults> faults_;
    std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace hostler::nvml
