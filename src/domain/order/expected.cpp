#include "domain/order/expected.h"

#include <algorithm>

namespace hostler {

namespace {

bool in(const Amount& size, const Amount& left) {
    return size.gpu_milli <= left.gpu_milli && size.cpu_milli <= left.cpu_milli &&
           size.memory_bytes <= left.memory_bytes;
}

// One place over time. It only moves forward: a job starts there after those that came before it.
struct Place {
    std::int64_t at = 0;
    Amount free;
    std::multimap<std::int64_t, Amount> ends;

    // nullopt: never.
    std::optional<std::int64_t> first(const Amount& size) const {
        if (in(size, free)) return at;
        Amount left = free;
        for (const auto& [time, more] : ends) {
            left += more;
            if (in(size, left)) return time;
        }
        return std::nullopt;
    }
    void take(const Amount& size, std::int64_t from, std::int64_t lasts) {
        at = from;
        while (!ends.empty() && ends.begin()->first <= from) {
            free += ends.begin()->second;
            ends.erase(ends.begin());
        }
        free -= size;
        if (lasts > 0) ends.emplace(from + lasts, size);
    }
};

}  // namespace

std::optional<std::int64_t> expected_start(const std::vector<Ahead>& ahead, const Amount& size,
                                           const std::map<std::string, Amount>& free,
                                           const std::vector<Ending>& endings, std::int64_t now) {
    std::map<std::string, Place> places;
    for (const auto& [where, left] : free) places[where] = {.at = now, .free = left};
    for (const Ending& ending : endings) {
        if (!ending.size.valid()) continue;
        Place& place = places.try_emplace(ending.where, Place{.at = now}).first->second;
        place.ends.emplace(std::max(ending.at, now), ending.size);
    }
    const auto best = [&](const Amount& asked) {
        std::pair<Place*, std::int64_t> found{nullptr, 0};
        for (auto& [where, place] : places)
            if (const auto at = place.first(asked); at && (!found.first || *at < found.second))
                found = {&place, *at};
        return found;
    };
    for (const Ahead& one : ahead)
        if (const auto [place, at] = best(one.size); place) place->take(one.size, at, one.lasts);
    const auto [place, at] = best(size);
    return place ? std::optional{at} : std::nullopt;
}

}  // namespace hostler
