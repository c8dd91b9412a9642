// When a waiting job is expected to start, if all ends by its time limits.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/order/reservation.h"

namespace hostler {

// A job that comes before.
struct Ahead {
    Amount size;
    std::int64_t lasts = 0;  // Microseconds, its time limit; 0: it has none, and never frees its place.
};

// The jobs ahead start in their order, each where room is free first; then the job does. A job ahead that
// never finds room is left out. It is an estimate: jobs end before their limits, and later ones fill gaps.
// `free`: by place, as of `now`. nullopt: no time limit frees enough. O(ahead × (places + endings)).
std::optional<std::int64_t> expected_start(const std::vector<Ahead>& ahead, const Amount& size,
                                           const std::map<std::string, Amount>& free,
                                           const std::vector<Ending>& endings, std::int64_t now);

}  // namespace hostler
