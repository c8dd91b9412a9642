// The best of hosts that somebody else judges by more than numbers.
#include <algorithm>
#include <tuple>

#include "domain/scheduler/fleet.h"

namespace hostler {

std::optional<HostNumber> Fleet::best(const Shape& shape, const Says& admits, const Says& prefers) {
    Ranked& by_shape = up_to_date(shape);
    const auto too_few = pressed();
    const auto charged = [&](std::size_t model) { return charge(too_few, shape, static_cast<int>(model)); };
    std::optional<HostNumber> best;
    int most = 0;
    for (std::size_t model = 0; model < banks_.size(); ++model) {
        const Ranking& ranking = by_shape.by_model[model];
        const auto& hosts = banks_[model].hosts;
        const int cost = charged(model);
        int least = best ? std::max(most + cost, 0) : 0;
        for (auto i = ranking.next(0, least); i < ranking.places(); i = ranking.next(i + 1, least)) {
            const int worth = ranking.at(i) - cost;
            const bool later = best && worth == most && hosts[i] > *best;  // As are all that follow.
            if (!later && !admits(hosts[i])) continue;
            if (!later) best = hosts[i], most = worth;
            least = most + cost + 1;
        }
    }
    if (!best) return best;
    // Of equals: the fullest leave whole hosts to others.
    const auto rank = [&](HostNumber host) {
        return std::tuple(hosts_[host].machine.free_milli(), !(prefers && prefers(host)), host);
    };
    auto first = rank(*best);
    for (std::size_t model = 0; model < banks_.size(); ++model) {
        const Ranking& ranking = by_shape.by_model[model];
        const int wanted = most + charged(model);
        if (wanted < 0) continue;
        int looks = 0;
        for (auto i = ranking.next(0, wanted); i < ranking.places() && looks < looks_max;
             i = ranking.next(i + 1, wanted), ++looks) {
            const HostNumber host = banks_[model].hosts[i];
            if (ranking.at(i) != wanted || hosts_[host].machine.free_milli() > std::get<0>(first)) continue;
            if (const auto now = rank(host); now < first && admits(host)) first = now;
        }
    }
    return std::get<2>(first);
}

}  // namespace hostler
