#include "domain/scheduler/ranking.h"

#include <algorithm>
#include <bit>

namespace hostler {

namespace {

std::int8_t highest(const std::int8_t* begin, std::size_t count) {
    std::int8_t found = Ranking::unfit;
    for (std::size_t i = 0; i < count; ++i) found = std::max(found, begin[i]);
    return found;
}

}  // namespace

void Ranking::resize(std::size_t places) {
    places_ = places;
    for (auto& level : levels_) {
        const auto blocks = (places + fan - 1) / fan;
        level.resize(std::max<std::size_t>(blocks, 1) * fan, unfit);
        places = blocks;
    }
}

void Ranking::set(std::size_t place, int points) {
    levels_[0][place] = static_cast<std::int8_t>(points);
    for (std::size_t level = 0; level + 1 < std::size(levels_); ++level) {
        place /= fan;
        const std::int8_t now = highest(&levels_[level][place * fan], fan);
        if (levels_[level + 1][place] == now) return;
        levels_[level + 1][place] = now;
    }
}

void Ranking::settle() {
    for (std::size_t level = 0; level + 1 < std::size(levels_); ++level)
        for (std::size_t block = 0; block * fan < levels_[level].size(); ++block)
            levels_[level + 1][block] = highest(&levels_[level][block * fan], fan);
}

int Ranking::best() const {
    return levels_[2].empty() ? unfit : highest(levels_[2].data(), levels_[2].size());
}

std::size_t Ranking::first() const {
    const auto wanted = static_cast<std::int8_t>(best());
    std::size_t place = 0;
    for (std::size_t level = std::size(levels_); level-- > 0; place *= level > 0 ? fan : 1) {
        const auto begin = levels_[level].begin() + static_cast<std::ptrdiff_t>(place);
        place += static_cast<std::size_t>(std::find(begin, levels_[level].end(), wanted) - begin);
    }
    return place;
}

Ranking::Found Ranking::best_of(std::span<const std::uint64_t> mask) const {
    static_assert(fan == 64);
    Found found;
    const std::size_t blocks = std::min(mask.size(), (places_ + fan - 1) / fan);
    for (std::size_t block = 0; block < blocks; ++block) {
        if (mask[block] == 0 || levels_[1][block] <= found.points) continue;
        for (std::uint64_t left = mask[block]; left != 0; left &= left - 1) {
            const std::size_t place = block * fan + static_cast<std::size_t>(std::countr_zero(left));
            if (levels_[0][place] > found.points) found = {levels_[0][place], place};
        }
    }
    return found;
}

std::size_t Ranking::next(std::size_t from, int least) const {
    while (from < places_) {
        if (from % (fan * fan) == 0 && levels_[2][from / (fan * fan)] < least) {
            from += fan * fan;
        } else if (from % fan == 0 && levels_[1][from / fan] < least) {
            from += fan;
        } else if (levels_[0][from] < least) {
            ++from;
        } else {
            return from;
        }
    }
    return places_;
}

}  // namespace hostler
