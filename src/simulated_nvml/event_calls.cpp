// Events: lines "event = NUMBER KIND VALUE" of a GPU, each told once to every set that was there before it.
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "simulated_nvml/call.h"

using namespace hostler::simulated;

namespace {

struct Watch {
    unsigned long long types = 0;
    std::set<long long> told;
};

struct Events {
    std::mutex mutex;
    std::map<std::string, Watch> gpus;         // By UUID.
    std::shared_ptr<const State> told_all_of;  // All that this has to tell was told.
};

constexpr unsigned long long supported =
    event_sbe | event_dbe | event_xid | event_unavailable | event_recovery_action;

unsigned long long type_of(const std::string& kind) {
    if (kind == "xid") return event_xid;
    if (kind == "sbe") return event_sbe;
    if (kind == "dbe") return event_dbe;
    if (kind == "unavailable") return event_unavailable;
    return kind == "recovery_action" ? event_recovery_action : 0ULL;
}

struct Line {
    long long number;
    unsigned long long type, data;
};

std::vector<Line> lines(const Section& gpu) {
    std::vector<Line> out;
    for (const auto& row : gpu.rows("event")) {
        if (row.size() != 3) continue;
        out.push_back({std::atoll(row[0].c_str()), type_of(row[1]),
                       static_cast<unsigned long long>(std::atoll(row[2].c_str()))});
    }
    return out;
}

bool next(Events& set, const std::shared_ptr<const State>& state, EventData& event) {
    const std::scoped_lock lock{set.mutex};
    if (set.told_all_of == state) return false;
    for (auto& [uuid, watch] : set.gpus) {
        const Section* gpu = state->gpu(uuid);
        if (!gpu) continue;
        for (const Line& line : lines(*gpu)) {
            if (!watch.told.insert(line.number).second || (watch.types & line.type) == 0) continue;
            event = {handle_of(uuid), line.type, line.data, ~0U, ~0U};
            return true;
        }
    }
    set.told_all_of = state;
    return false;
}

}  // namespace

SIMULATED Status nvmlEventSetCreate(EventSet* set) {
    BEGIN("nvmlEventSetCreate");
    if (!set) return invalid_argument;
    *set = reinterpret_cast<EventSet>(new Events);
    return success;
}

SIMULATED Status nvmlEventSetFree(EventSet set) {
    BEGIN("nvmlEventSetFree");
    delete reinterpret_cast<Events*>(set);
    return success;
}

SIMULATED Status nvmlDeviceGetSupportedEventTypes(Device device, unsigned long long* types) {
    BEGIN("nvmlDeviceGetSupportedEventTypes", device);
    return put(types, supported);
}

SIMULATED Status nvmlDeviceRegisterEvents(Device device, unsigned long long types, EventSet set) {
    BEGIN("nvmlDeviceRegisterEvents", device);
    if (!set) return invalid_argument;
    if ((types & ~supported) != 0) return not_supported;
    auto& events = *reinterpret_cast<Events*>(set);
    const std::scoped_lock lock{events.mutex};
    Watch& watch = events.gpus[call.gpu->text("uuid")];
    watch.types |= types;
    for (const Line& line : lines(*call.gpu)) watch.told.insert(line.number);
    events.told_all_of = nullptr;
    return success;
}

// Really waits: a caller that loops on it must not spin.
SIMULATED Status nvmlEventSetWait_v2(EventSet set, EventData* event, unsigned timeout_ms) {
    using namespace std::chrono;
    const auto end = steady_clock::now() + milliseconds{timeout_ms};
    while (true) {
        BEGIN("nvmlEventSetWait_v2");
        if (!set || !event) return invalid_argument;
        if (next(*reinterpret_cast<Events*>(set), call.state, *event)) return success;
        const auto left = end - steady_clock::now();
        if (left <= milliseconds{0}) return timeout;
        // A real one sleeps until there is an event: looking for one must not be what an agent costs.
        std::this_thread::sleep_for(std::min<steady_clock::duration>(left, milliseconds{200}));
    }
}
SIMULATED Status nvmlEventSetWait(EventSet set, EventData* event, unsigned timeout_ms) {
    return nvmlEventSetWait_v2(set, event, timeout_ms);
}
