// The best of hosts that somebody else judges by more than numbers.
#include <algorithm>
#include <tuple>

#include "domain/scheduler/fleet.h"

namespace hostler {

std::optional<HostNumber> Fleet::best(const Shape& shape, const Says& admits, const Says& prefers) {
    return best_in(shape, shape.models, nullptr, admits, prefers);
}

std::optional<HostNumber> Fleet::best(const Need& need, const Says& admits, const Says& prefers) {
    const std::uint64_t models = resolved(need).models;
    const auto linked_by = [&](Link link) -> std::optional<HostNumber> {
        Shape shape = need.shape;
        shape.link = link;
        const auto mask = within(need);
        const bool even = need.spread != Area::none || need.pack != Area::none;
        if (need.kind == 0 || !even || !kinds_.contains(need.kind))
            return best_in(shape, models, mask ? &*mask : nullptr, admits, prefers);
        for (const Mask& turn : in_turn(need, mask ? *mask : everywhere()))
            if (const auto found = best_in(shape, models, &turn, admits, prefers)) return found;
        return std::nullopt;
    };
    if (need.link_wanted != Link::any && need.shape.link == Link::any && need.shape.gpus > 1)
        if (const auto found = linked_by(need.link_wanted)) return found;
    return linked_by(need.shape.link);
}

// `models`: of those who come, for the charge. Null: every host will do.
std::optional<HostNumber> Fleet::best_in(const Shape& shape, std::uint64_t models, const Mask* mask,
                                         const Says& admits, const Says& prefers) {
    Ranked& by_shape = up_to_date(shape);
    const auto too_few = pressed();
    Shape coming = shape;
    coming.models = models;
    const auto charged = [&](std::size_t model) { return charge(too_few, coming, static_cast<int>(model)); };
    const auto inside = [&](std::size_t model, std::size_t place) {
        return !mask || mask->test(model, place);
    };
    std::optional<HostNumber> best;
    int most = 0;
    for (std::size_t model = 0; model < banks_.size(); ++model) {
        const Ranking& ranking = by_shape.by_model[model];
        const auto& hosts = banks_[model].hosts;
        const int cost = charged(model);
        int least = best ? std::max(most + cost, 0) : 0;
        for (auto i = ranking.next(0, least); i < ranking.places(); i = ranking.next(i + 1, least)) {
            const int worth = ranking.at(i) - cost;
            if (!inside(model, i)) continue;
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
             i = ranking.next(i + 1, wanted)) {
            if (!inside(model, i)) continue;
            ++looks;
            const HostNumber host = banks_[model].hosts[i];
            if (ranking.at(i) != wanted || hosts_[host].machine.free_milli() > std::get<0>(first)) continue;
            if (const auto now = rank(host); now < first && admits(host)) first = now;
        }
    }
    return std::get<2>(first);
}

}  // namespace hostler
