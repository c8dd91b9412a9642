#include "adapters/series/column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "adapters/series/block.h"
#include "adapters/series/bytes.h"
#include "adapters/series/coder.h"
#include "adapters/series/head.h"

namespace hostler::series {

namespace {

std::size_t round_trip(const std::vector<Cell>& cells, Form form) {
    std::string bytes;
    add_column(bytes, cells, form);
    const auto again = read_column(bytes, cells.size());
    EXPECT_TRUE(again);
    EXPECT_EQ(*again, cells);
    return bytes.size();
}

}  // namespace

TEST(Column, WhatNeverChangesTakesAFewBytes) {
    EXPECT_EQ(round_trip(std::vector<Cell>(1000, absent), Form::integer), 1U);
    EXPECT_EQ(round_trip(std::vector<Cell>(1000, 0), Form::integer), 2U);
    EXPECT_EQ(round_trip(std::vector<Cell>(1000, 700'000), Form::integer), 4U);
    EXPECT_LE(round_trip(std::vector<Cell>(1000, real_cell(0.1)), Form::real), 11U);
}

TEST(Column, ACounterThatRisesEvenlyTakesHardlyMore) {
    std::vector<Cell> cells;
    for (Cell i = 0; i < 1000; ++i) cells.push_back(123'456'789 + 7'000'000 * i);
    EXPECT_LE(round_trip(cells, Form::integer), 32U);
}

// Gaussian noise of deviation 3 has 3.63 bits; a step of 15 (clocks) has no more than its multiple.
TEST(Column, NoiseTakesLittleMoreThanItsEntropy) {
    std::mt19937_64 dice{7};  // NOLINT: the same numbers every time
    std::normal_distribution<double> noise{0, 3};
    std::vector<Cell> near;
    std::vector<Cell> steps;
    for (int i = 0; i < 1000; ++i) {
        const auto value = std::llround(noise(dice));
        near.push_back(1000 + value);
        steps.push_back(1410 + 15 * value);
    }
    EXPECT_LE(round_trip(near, Form::integer), 1.15 * 1000 * 3.63 / 8);
    EXPECT_LE(round_trip(steps, Form::integer), 1.15 * 1000 * 3.63 / 8);
}

TEST(Column, DecimalsAreIntegersAndOtherDoublesAreExact) {
    std::vector<Cell> decimals;
    std::vector<Cell> others;
    for (int i = 0; i < 500; ++i) {
        decimals.push_back(real_cell((i * 37 % 100) / 100.0));
        others.push_back(real_cell(std::sqrt(i)));
    }
    EXPECT_LE(round_trip(decimals, Form::real), 500U);
    round_trip(others, Form::real);
    round_trip({real_cell(0.0), real_cell(-0.0), real_cell(1e300), real_cell(-5e-324), absent,
                real_cell(std::numeric_limits<double>::infinity()), real_cell(1.5)},
               Form::real);
}

TEST(Column, EveryNumberComesBack) {
    constexpr auto least = std::numeric_limits<Cell>::min() + 1;
    constexpr auto most = std::numeric_limits<Cell>::max();
    round_trip({least, most, least, 0, -1, most, most, least}, Form::integer);
    round_trip({most, absent, least, absent, absent, 5}, Form::integer);
    round_trip({}, Form::integer);
    round_trip({42}, Form::integer);
    round_trip({absent, 42}, Form::integer);
}

TEST(Column, WhateverTheNumbersAreTheyComeBack) {
    std::mt19937_64 dice{11};  // NOLINT: the same numbers every time
    for (int round = 0; round < 2000; ++round) {
        const auto bits = dice() % 64;
        const auto rows = dice() % 200;
        const bool gaps = dice() % 3 == 0;
        const bool drifts = dice() % 2 == 0;
        std::vector<Cell> cells;
        Cell value = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            const auto drawn = static_cast<Cell>(dice() >> bits >> 1) * (dice() % 2 == 0 ? 1 : -1);
            value =
                drifts
                    ? static_cast<Cell>(static_cast<std::uint64_t>(value) + static_cast<std::uint64_t>(drawn))
                    : drawn;
            cells.push_back(gaps && dice() % 4 == 0 ? absent : value);
        }
        round_trip(cells, Form::integer);
        round_trip(cells, Form::real);
    }
}

TEST(Column, ATornOneIsRefusedOrRead) {
    std::string bytes;
    std::vector<Cell> cells;
    for (Cell i = 0; i < 100; ++i) cells.push_back(i * i % 37);
    add_column(bytes, cells, Form::integer);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        if (const auto read = read_column(std::string_view(bytes).substr(0, size), 100))
            EXPECT_EQ(read->size(), 100U);
}

TEST(Block, EveryFlippedBitIsSeen) {
    const Rows rows{.times = {1000, 2000, 3000}, .columns = {{1, 2, 3}, {9, 9, absent}}};
    const Form forms[] = {Form::integer, Form::integer};
    const auto block = encode_block(rows, forms);
    const std::size_t both[] = {1, 0};
    const auto again = read_block(block, both);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->times, rows.times);
    EXPECT_EQ(again->columns, (std::vector<std::vector<Cell>>{{9, 9, absent}, {1, 2, 3}}));
    for (std::size_t bit = 0; bit < 8 * block.size(); ++bit) {
        auto wrong = block;
        wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ 1 << (bit % 8));
        EXPECT_FALSE(read_block(wrong, both)) << bit;
    }
    const std::size_t beyond[] = {2};
    EXPECT_FALSE(read_block(block, beyond));
}

TEST(Head, RowsComeBackInOrderEachOnce) {
    Head head;
    head.reset(3);
    const std::vector<std::pair<Millis, std::vector<Cell>>> given{{1000, {1, absent, 5}},
                                                                  {3000, {2, absent, 5}},
                                                                  {2000, {7, 8, 9}},
                                                                  {3000, {0, 0, 0}},
                                                                  {-5, {absent, 1, 2}}};
    for (const auto& [time, cells] : given) (void)head.add(time, cells);
    const auto rows = rows_of(head.rows(), 3);
    EXPECT_EQ(rows.times, (std::vector<Millis>{-5, 1000, 2000, 3000}));
    EXPECT_EQ(rows.columns[0], (std::vector<Cell>{absent, 1, 7, 2}));
    EXPECT_EQ(rows_of(head.rows(), 3, 1).columns, (std::vector<std::vector<Cell>>{{1, absent, 8, absent}}));
    EXPECT_EQ(head.newest(), 3000);
}

TEST(Head, AViewStaysAsItWasWhateverComesAfter) {
    Head head;
    head.reset(1);
    std::vector<RowBytes> views;
    for (Cell i = 0; i < 200; ++i) {
        const Cell cell = i * 1'000'003;
        (void)head.add(i * 10, {&cell, 1});
        views.push_back(head.rows());
        Head::Mark mark;
        head.mark(mark);
        (void)head.add(i * 10 + 1, {&cell, 1});
        head.restore(mark);
    }
    for (std::size_t i = 0; i < views.size(); ++i) {
        const auto rows = rows_of(views[i], 1);
        ASSERT_EQ(rows.times.size(), i + 1);
        EXPECT_EQ(rows.columns[0].back(), static_cast<Cell>(i) * 1'000'003);
    }
}

// Whatever came late and whatever could not be stored.
TEST(Head, ReadingFromAMomentMissesNothingSince) {
    std::mt19937_64 dice{13};  // NOLINT: the same numbers every time
    Head head;
    head.reset(2);
    std::size_t given = 0;
    const auto add = [&] {
        const auto now = static_cast<Millis>(given) * 1000;
        const std::array cells{static_cast<Cell>(dice()), static_cast<Cell>(given++)};
        (void)head.add(dice() % 8 == 0 ? now - static_cast<Millis>(dice() % 500'000) : now, cells);
    };
    for (int turn = 0; turn < 400; ++turn) {
        for (auto rows = dice() % 40; rows > 0; --rows) add();
        Head::Mark mark;
        head.mark(mark);
        for (auto rows = dice() % 300; rows > 0; --rows) add();
        head.restore(mark);
        const auto from = static_cast<Millis>(dice() % (given + 1)) * 1000;
        const auto asked = [from](const Rows& rows) {
            std::vector<std::array<Cell, 3>> found;
            for (std::size_t i = 0; i < rows.times.size(); ++i)
                if (rows.times[i] >= from)
                    found.push_back({rows.times[i], rows.columns[0][i], rows.columns[1][i]});
            return found;
        };
        ASSERT_EQ(asked(rows_of(head.rows(), 2, std::nullopt, from)), asked(rows_of(head.rows(), 2)));
    }
}

// However many rows there are, little memory tells where reading may begin, and the newest rows are found
// without the others.
TEST(Head, TheNewestRowsAreReadWithoutTheOthers) {
    Head head;
    head.reset(1);
    const Cell cell = 1;
    for (Millis time = 0; time < 100'000; ++time) (void)head.add(time, {&cell, 1});
    ASSERT_TRUE(head.rows().waypoints);
    EXPECT_LE(head.rows().waypoints->size(), Head::waypoints_max);
    EXPECT_LT(rows_of(head.rows(), 1, std::nullopt, 99'990).times.size(), 100'000U / 8);
}

// The check value of this CRC for "123456789", as every description of it gives it.
TEST(Bytes, TheChecksumIsTheKnownOne) {
    EXPECT_EQ(checksum("123456789"), 0xCBF43926U);
    EXPECT_EQ(checksum(""), 0U);
}

}  // namespace hostler::series
