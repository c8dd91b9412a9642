#include "domain/inventory/challenge.h"

#include <gtest/gtest.h>

#include <set>

namespace hostler {
namespace {

constexpr GpuChallenge challenge{
    .words = 1000, .seed = 3, .rounds = 5, .path_seed = 4, .steps = 50, .walkers = 40};

// As one with memory answers.
std::vector<std::uint32_t> answers(const GpuChallenge& what) {
    std::vector<std::uint32_t> memory;
    for (std::uint64_t i = 0; i < what.words; ++i)
        memory.push_back(challenge_word(i, what.seed, what.rounds));
    std::vector<std::uint32_t> all;
    for (std::uint32_t walker = 0; walker < what.walkers; ++walker) {
        std::uint32_t here = mixed(what.path_seed + walker);
        for (std::uint32_t step = 0; step < what.steps; ++step)
            here += memory[challenge_index(here, what.path_seed, what.words)] + 1;
        all.push_back(here);
    }
    return all;
}

TEST(Challenge, WhoWalksThroughMemoryAndWhoMakesTheWordsAgree) {
    const auto right = answers(challenge);
    const std::uint32_t asked[] = {0, 7, 39};
    EXPECT_TRUE(answers_challenge(challenge, right, asked));
    EXPECT_EQ(std::set<std::uint32_t>(right.begin(), right.end()).size(), 40u) << "each goes its own way";
}

TEST(Challenge, WrongAnswersAreFound) {
    auto wrong = answers(challenge);
    wrong[7] ^= 1;
    const std::uint32_t asked[] = {0, 7};
    const std::uint32_t others[] = {0, 8};
    const std::uint32_t beyond[] = {40};
    EXPECT_FALSE(answers_challenge(challenge, wrong, asked));
    EXPECT_TRUE(answers_challenge(challenge, wrong, others)) << "only what is asked is known";
    EXPECT_FALSE(answers_challenge(challenge, wrong, beyond));
    wrong.pop_back();
    EXPECT_FALSE(answers_challenge(challenge, wrong, others)) << "one is missing";
    for (const auto change : {&GpuChallenge::seed, &GpuChallenge::path_seed, &GpuChallenge::rounds}) {
        GpuChallenge other = challenge;
        ++(other.*change);
        EXPECT_FALSE(answers_challenge(other, answers(challenge), others));
    }
    EXPECT_FALSE(answers_challenge(own_challenge(challenge, "GPU-1"),
                                   answers(own_challenge(challenge, "GPU-2")), others));
}

TEST(Challenge, WordsAreSpreadOverAllMemoryAlsoBeyond16GiB) {
    constexpr std::uint64_t words = std::uint64_t{1} << 34;
    std::set<std::uint64_t> quarters;
    std::set<std::uint64_t> seen;
    for (std::uint32_t here = 0; here < 1000; ++here) {
        const auto index = challenge_index(here, 9, words);
        ASSERT_LT(index, words);
        quarters.insert(index >> 32);
        seen.insert(index);
    }
    EXPECT_EQ(quarters.size(), 4u);
    EXPECT_EQ(seen.size(), 1000u);
}

TEST(Challenge, NoPartOfMemoryBeyond16GiBIsKnownBeforeThePathsAre) {
    constexpr std::uint64_t words = std::uint64_t{1} << 34;
    std::set<std::uint64_t> seen;
    for (std::uint32_t path_seed = 0; path_seed < 100; ++path_seed)
        seen.insert(challenge_index(7, path_seed, words));
    EXPECT_EQ(seen.size(), 4u) << "all that share its upper 32 bits";
}

TEST(Challenge, WordsBeyond16GiBAreNotThoseBeforeInAnotherOrder) {
    constexpr std::uint32_t seed = 1;
    constexpr std::uint64_t slab_words = std::uint64_t{1} << 32;
    std::size_t same = 0;
    for (std::uint32_t low = 0; low < 1000; ++low)
        same += challenge_word(low, seed, 2) ==
                challenge_word(slab_words + (low ^ mixed(seed) ^ mixed(seed + 1)), seed, 2);
    EXPECT_LE(same, 1u);
}

TEST(Challenge, NoWordIsOneStepFromAnother) {
    constexpr std::uint32_t seed = 1;
    for (std::uint32_t low = 0; low < 1000; ++low) {
        const std::uint32_t next = challenge_word(low, seed, 1) ^ mixed(seed);
        ASSERT_NE(challenge_word(low, seed, 3), challenge_word(next, seed, 2));
    }
}

}  // namespace
}  // namespace hostler
