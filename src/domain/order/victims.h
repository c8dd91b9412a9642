// Victims: running jobs that a waiting job may preempt.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/order/order.h"
#include "domain/order/slicing.h"

namespace hostler {

enum class Eviction {
    reclaim,   // Its queue borrows what the claimant's queue is guaranteed.
    priority,  // It is of the same leaf and of a lower priority.
    slice,     // It has had its time slice and more than its promised time; the claimant has had less.
};

struct Victim {
    std::string id;
    Eviction why = Eviction::reclaim;
    bool operator==(const Victim&) const = default;
};

// Room that other jobs end for: it counts as its claimant's.
struct Promise {
    QueuePath path;
    Amount size;
};

struct EvictionRules {
    std::int64_t min_run_s = 0;        // A job that runs for less is no victim.
    std::optional<Slicing> slicing{};  // nullopt: no time slices.
    std::vector<Promise> promised{};   // To other claimants.
    std::set<std::string> leaving{};   // Running jobs that end already: no victims, and no part of a share.
};

inline constexpr int victim_tries_max = 2'000;  // Calls of `enough` for one claimant.

// Whether the claimant fits where these have gone. More victims never make less room.
using Enough = std::function<bool(const std::vector<Victim>&)>;

// The running jobs that the waiting job may preempt, best victim first:
// 1. reclaim. At the level at which both paths part, the claimant's queue is within its guarantee with the
//    claimant, and that of the victim is above its own. First the jobs that no guarantee at a lower level
//    covers and whose queues keep what they are guaranteed, then those that are larger than what their queue
//    borrows, then those that a guarantee at a lower level covers; of these each the youngest.
// 2. priority. The lowest first, then the youngest.
// 3. slice. The job that has had most of the capacity, over all its runs, first.
// A job that a victim of kind 1 or 2 would evict in turn is never the claimant: the claimant is covered by
// its guarantee, or has the higher priority. After kind 3 it runs for a slice at least.
//
// Once its victims are told, the caller names the claimant among `promised` and the victims among `leaving`:
// then guarantees of later claimants and victims are judged with them, and no room is promised twice.
std::vector<Victim> candidates(const Order&, const std::string& claimant, const EvictionRules&,
                               std::int64_t now);

// Whether there may be any, at little cost: O(depth). false: candidates() has none.
bool may_have_victims(const Order&, const Waiting& claimant, const EvictionRules&);

// The smallest prefix of these for which there is enough and the limits of the claimant's queues are kept,
// without those of it that are not needed (the last go first). Empty: it fits as it is. nullopt: no set is
// enough, or the job does not wait. Once victim_tries_max are used up, some may not be needed.
std::optional<std::vector<Victim>> victims(const Order&, const std::string& claimant, const EvictionRules&,
                                           std::int64_t now, const Enough&);

}  // namespace hostler
