// One case: a cloud, its tenants, the storm over it, and the calm after.
#pragma once

#include "case.h"
#include "cloud.h"
#include "tenants.h"

namespace hostler::simulation {

struct StormReport {
    std::uint64_t digest = 0;
    Findings found;
    Verdict verdict;
    std::vector<std::string> story;
    int calls = 0, acknowledged = 0, opened = 0, running = 0, reads = 0;
    // Things taken from people, calls refused for it, watches, and those of them that ended for it.
    int taken = 0, refused = 0, watched = 0, cut = 0;
    int over_quota = 0;                                              // Calls refused for a quota.
    int clusters = 0, scaled = 0, saved = 0, deleted = 0, made = 0;  // The last: became ready.
    std::size_t pods = 0, named = 0;  // Pods with GPUs, and samples that were stored with the name of one.
    int jobs = 0, cancelled = 0, sent_again = 0, evictions = 0;
    std::size_t commands = 0;
    std::uint64_t epochs = 0, promoted = 0, lost = 0;
};

// `brewed` is told what is in the storm before it begins, for the case that nobody is left to tell at its
// end.
StormReport ride(const Case& which, Mistakes mistakes = {},
                 const std::function<void(const Verdict&)>& brewed = {});

}  // namespace hostler::simulation
