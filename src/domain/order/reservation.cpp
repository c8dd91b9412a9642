#include "domain/order/reservation.h"

#include <algorithm>
#include <tuple>

namespace hostler {

std::optional<Reservation> reserve(const std::string& job, const Amount& size,
                                   const std::map<std::string, Amount>& free, std::vector<Ending> endings,
                                   std::int64_t now) {
    const auto in = [&](const Amount& left) {
        return size.gpu_milli <= left.gpu_milli && size.cpu_milli <= left.cpu_milli &&
               size.memory_bytes <= left.memory_bytes;
    };
    for (const auto& [where, left] : free)
        if (in(left)) return Reservation{job, where, now, left - size};
    std::erase_if(endings, [](const Ending& ending) { return !ending.size.valid(); });
    for (Ending& ending : endings) ending.at = std::max(ending.at, now);
    std::ranges::sort(endings, {}, [](const Ending& ending) { return std::tie(ending.at, ending.where); });
    std::map<std::string, Amount> later = free;
    std::optional<Reservation> best;
    for (const Ending& ending : endings) {
        if (best && best->at < ending.at) break;
        Amount& left = later[ending.where];
        left += ending.size;
        // All that ends there at that time is spare.
        if (best && best->where == ending.where) best->spare += ending.size;
        if (!best && in(left)) best = Reservation{job, ending.where, ending.at, left - size};
    }
    return best;
}

bool may_backfill(const Reservation& reservation, const std::string& where, const Amount& size,
                  std::optional<std::int64_t> ends_at) {
    return where != reservation.where || (ends_at && *ends_at <= reservation.at) ||
           (size.gpu_milli <= reservation.spare.gpu_milli && size.cpu_milli <= reservation.spare.cpu_milli &&
            size.memory_bytes <= reservation.spare.memory_bytes);
}

void backfill(Reservation& reservation, const std::string& where, const Amount& size,
              std::optional<std::int64_t> ends_at) {
    if (where == reservation.where && !(ends_at && *ends_at <= reservation.at)) reservation.spare -= size;
}

}  // namespace hostler
