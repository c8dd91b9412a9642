// Reports that the master has not yet acknowledged.
#pragma once

#include <deque>
#include <memory>

#include "core/signal.h"
#include "ports/journal.h"
#include "roles/agent/messages_fwd.h"

namespace hostler::agent {

// At most `size_max` reports. When more come, the oldest that hold nothing but samples go first; what changed
// about workloads, facts and faults is merged into fewer reports and never lost. Each report says how many
// numbers before it will not come, so that the master can tell what it misses from what it was told of.
class ReportQueue {
public:
    ReportQueue(Journal& journal, std::size_t size_max);
    ~ReportQueue();

    // Numbers rise over restarts too: a block of them is reserved in the journal, "sequence".
    Task<> push(uplink::Report report);
    // Does the part of push() that may fail. Errors: as the journal's.
    Task<> reserve();
    void acknowledge(std::uint64_t sequence);  // And all before it.
    // A new connection's hello tells the present, so what waits is history: it is never "all there is" any
    // more. It was made after report `told`: facts up to there are older than those that it tells.
    void grow_old(std::uint64_t told);
    // The first that is numbered higher; nullptr: none.
    const uplink::Report* after(std::uint64_t sequence) const;
    std::size_t size() const { return reports_.size(); }
    std::uint64_t last() const { return last_; }  // Number of the newest.
    // Numbers up to here will not come (again).
    std::uint64_t settled() const;
    std::uint64_t dropped() const { return dropped_; }  // Reports whose samples had to go.
    std::uint64_t answers() const { return answers_; }  // Calls of acknowledge().

    static constexpr std::size_t faults_max = 1024;  // Of merged reports; the oldest go.

private:
    void make_room();
    static bool only_telemetry(const uplink::Report& report);
    static void merge(uplink::Report& older, uplink::Report& newer);  // Into the newer.

    Journal& journal_;
    std::size_t size_max_;
    std::uint64_t last_ = 0;
    std::uint64_t reserved_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t answers_ = 0;
    std::deque<std::unique_ptr<uplink::Report>> reports_;
};

}  // namespace hostler::agent
