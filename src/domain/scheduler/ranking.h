// For one shape: what a placement on each host of one model is worth, kept so that the best is found at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hostler {

// Points by place, with the best of every 64 places, and of every 64 of those. Setting and finding touch
// three blocks.
class Ranking {
public:
    static constexpr int unfit = -1;

    void resize(std::size_t places);
    std::size_t places() const { return places_; }
    int at(std::size_t place) const { return levels_[0][place]; }
    void set(std::size_t place, int points);
    // Many at once: put() each, then settle(); between the two best() is not to be asked.
    void put(std::size_t place, int points) { levels_[0][place] = static_cast<std::int8_t>(points); }
    void settle();
    int best() const;           // unfit when nobody fits.
    std::size_t first() const;  // The lowest place with best() points.
    struct Found {
        int points = unfit;
        std::size_t place = 0;
    };
    // The best, and of equals the lowest, of the places in `mask`: bit p % 64 of word p / 64.
    Found best_of(std::span<const std::uint64_t> mask) const;
    // The lowest place from `from` on with so many points or more; places(): there is none.
    std::size_t next(std::size_t from, int least) const;

private:
    static constexpr std::size_t fan = 64;
    std::size_t places_ = 0;
    std::vector<std::int8_t> levels_[3];  // Each filled up with `unfit` to a multiple of `fan`.
};

}  // namespace hostler
