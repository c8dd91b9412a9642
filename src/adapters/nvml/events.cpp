#include "adapters/nvml/events.h"

#include <algorithm>
#include <thread>

#include "ports/telemetry.h"

namespace hostler::nvml {

namespace {

// Shorter than Lane::farewell, so that stopping meets the thread outside NVML.
constexpr unsigned wait_ms = 250;

constexpr unsigned long long wanted =
    event_sbe | event_dbe | event_xid | event_unavailable | event_recovery_action;

const char* kind_of(unsigned long long type) {
    switch (type) {
        case event_xid: return "xid";
        case event_sbe: return "ecc_corrected";
        case event_dbe: return "ecc_uncorrected";
        case event_unavailable: return "unavailable";
        case event_recovery_action: return "recovery_action";
    }
    return nullptr;
}

// An event set with these GPUs in it, as long as it lives.
class Set {
public:
    Set(const Session& session, const std::vector<Events::Watched>& gpus) : call_(session.call) {
        if (call_.event_set_create(&set_) != success) set_ = nullptr;
        if (!set_) return;
        for (const auto& gpu : gpus) {
            unsigned long long supported = 0;
            // Registering fails as a whole when one type is not supported.
            if (call_.supported_events(gpu.device, &supported) == success && (supported & wanted) != 0) {
                call_.register_events(gpu.device, supported & wanted, set_);
            }
        }
    }
    ~Set() {
        if (set_) call_.event_set_free(set_);
    }
    Set(const Set&) = delete;
    Set& operator=(const Set&) = delete;
    Status wait(EventData& event) const {
        return set_ ? call_.event_set_wait(set_, &event, wait_ms) : unknown_error;
    }

private:
    const Functions& call_;
    EventSet set_ = nullptr;
};

}  // namespace

void Faults::add(GpuFault fault) {
    const std::scoped_lock lock{mutex_};
    if (faults_.size() >= Telemetry::faults_max) faults_.pop_front();
    faults_.push_back(std::move(fault));
}

std::vector<GpuFault> Faults::take() {
    const std::scoped_lock lock{mutex_};
    std::vector<GpuFault> taken{std::make_move_iterator(faults_.begin()),
                                std::make_move_iterator(faults_.end())};
    faults_.clear();
    return taken;
}

void Events::watch(std::shared_ptr<const Session> session, std::vector<Watched> gpus) {
    const auto& call = session->call;
    if (!call.event_set_create || !call.event_set_free || !call.event_set_wait || !call.register_events ||
        !call.supported_events) {
        return;
    }
    {
        const std::scoped_lock lock{shared_->mutex};
        const bool same = std::ranges::equal(shared_->gpus, gpus, [](const Watched& a, const Watched& b) {
            return a.device == b.device && a.uuid == b.uuid;
        });
        if (same) return;
        shared_->gpus = std::move(gpus);
        ++shared_->generation;
    }
    lane_.start([session, shared = shared_, faults = faults_] { work(*session, *shared, *faults); }, [] {});
}

void Events::work(const Session& session, Shared& shared, Faults& faults) {
    std::unique_ptr<Set> set;
    std::vector<Watched> gpus;
    unsigned seen = 0;
    while (!shared.stop) {
        if (const unsigned now = shared.generation; now != seen) {
            seen = now;
            {
                const std::scoped_lock lock{shared.mutex};
                gpus = shared.gpus;
            }
            auto next = std::make_unique<Set>(session, gpus);  // Before the old one goes: nothing is missed.
            set = std::move(next);
        }
        EventData event{};
        const Status status = set->wait(event);
        if (status == success) {
            const auto gpu = std::ranges::find(gpus, event.device, &Watched::device);
            const char* kind = kind_of(event.type);
            if (kind && gpu != gpus.end()) {
                faults.add({.uuid = gpu->uuid, .kind = kind, .code = static_cast<std::int64_t>(event.data)});
            }
        } else if (status != timeout) {
            std::this_thread::sleep_for(std::chrono::milliseconds{wait_ms});  // It does not wait: so we do.
        }
    }
}

}  // namespace hostler::nvml
