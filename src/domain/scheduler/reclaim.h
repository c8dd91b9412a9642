// What is held and not used gives way: the fewest on a host without which a demand fits there.
#pragma once

#include <functional>
#include <map>

#include "domain/scheduler/place.h"

namespace hostler {

// What holds something that nobody uses: a slot of the stock.
struct Spare {
    std::string id;
    std::string kind;  // Its spec.
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    std::vector<FreeGpu> gpus;
};

inline constexpr int reclaim_tries_max = 10'000;  // Sets looked at for one demand, on all hosts together.

// The fewest of `spares` that have to go for the demand to fit on the host, and for it to be as `also` (null:
// no matter) wants it; of as few those with the fewest GPUs, then the first. Of a kind at most so many go, of
// one that is not named none. nullopt: it does not fit, whatever goes. By their ids. `tries` counts down from
// reclaim_tries_max. When they are used up, all that go are needed, and there may be fewer.
std::optional<std::vector<std::string>> fewest(const Candidate& host, const std::vector<Spare>& spares,
                                               const std::map<std::string, int>& at_most,
                                               const Demand& demand,
                                               const std::function<bool(const Candidate&)>& also, int& tries);

}  // namespace hostler
