#include "domain/scheduler/ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hostler {
namespace {

void expect_same(const Ranking& ranking, const std::vector<int>& plain) {
    const auto most =
        plain.empty() ? plain.end() : std::ranges::max_element(plain);  // The first of the highest.
    ASSERT_EQ(ranking.best(), plain.empty() ? Ranking::unfit : *most);
    if (ranking.best() != Ranking::unfit)
        ASSERT_EQ(ranking.first(), static_cast<std::size_t>(most - plain.begin()));
    for (std::size_t from = 0; from <= plain.size(); from += 1 + from / 2)
        for (const int least : {0, 40, ranking.best(), 101}) {
            const auto next = std::find_if(plain.begin() + static_cast<std::ptrdiff_t>(from), plain.end(),
                                           [&](int points) { return points >= least; });
            ASSERT_EQ(ranking.next(from, least), static_cast<std::size_t>(next - plain.begin()));
        }
}

// Sizes at which a level is full, and one more.
TEST(Ranking, FindsTheFirstOfTheBestAtEverySize) {
    std::mt19937 dice{3};
    for (const std::size_t places : {1, 2, 63, 64, 65, 4095, 4096, 4097, 9000}) {
        Ranking ranking;
        ranking.resize(places);
        std::vector<int> plain(places, Ranking::unfit);
        expect_same(ranking, plain);
        for (int i = 0; i < 300; ++i) {
            const std::size_t place = dice() % places;
            plain[place] = static_cast<int>(dice() % 102) - 1;
            ranking.set(place, plain[place]);
            expect_same(ranking, plain);
            if (i % 10 == 0) {  // The best goes.
                const auto best = std::ranges::max_element(plain);
                *best = Ranking::unfit;
                ranking.set(static_cast<std::size_t>(best - plain.begin()), Ranking::unfit);
                expect_same(ranking, plain);
            }
        }
    }
}

TEST(Ranking, GrowsAndIsSummedUpAtOnce) {
    std::mt19937 dice{4};
    Ranking ranking;
    EXPECT_EQ(ranking.best(), Ranking::unfit);
    std::vector<int> plain;
    for (const std::size_t places : {3, 64, 70, 4200}) {
        ranking.resize(places);
        plain.resize(places, Ranking::unfit);
        expect_same(ranking, plain);
        for (std::size_t place = 0; place < places; ++place) {
            plain[place] = static_cast<int>(dice() % 90) - 1;
            ranking.put(place, plain[place]);
        }
        ranking.settle();
        expect_same(ranking, plain);
        EXPECT_EQ(ranking.at(places - 1), plain.back());
    }
}

TEST(Ranking, FindsTheBestOfSome) {
    std::mt19937 dice{5};
    for (const std::size_t places : {1, 64, 65, 5000}) {
        Ranking ranking;
        ranking.resize(places);
        for (std::size_t place = 0; place < places; ++place)
            ranking.set(place, static_cast<int>(dice() % 90) - 1);
        for (const unsigned one_in : {1U, 3U, 500U}) {
            std::vector<std::uint64_t> mask((places + 63) / 64);
            Ranking::Found expected;
            for (std::size_t place = 0; place < places; ++place) {
                if (dice() % one_in != 0) continue;
                mask[place / 64] |= std::uint64_t{1} << place % 64;
                if (ranking.at(place) > expected.points) expected = {ranking.at(place), place};
            }
            const auto found = ranking.best_of(mask);
            EXPECT_EQ(found.points, expected.points);
            EXPECT_EQ(found.place, expected.place);
        }
        EXPECT_EQ(ranking.best_of({}).points, Ranking::unfit);
    }
}

}  // namespace
}  // namespace hostler
