// A task that only the GPU that a host claims to have can do in time, and whose answer is cheap to verify.
//
// The GPU fills as much memory as it claims with words that each take `rounds` steps to make. Only then it is
// told the seed of the paths, and many walkers go through the memory, each word saying where the next one
// lies. Who has the memory walks at the speed of memory; who has not makes every word anew on the way,
// `rounds` steps each, one after another. A verifier, without any memory, walks a few of the same ways.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hostler {

struct GpuChallenge {
    std::uint64_t words = 0;   // Of 32 bits: the memory that is to be filled. A multiple of 4.
    std::uint32_t seed = 0;    // Of the words.
    std::uint32_t rounds = 1;  // Steps that a word takes.
    std::uint32_t path_seed = 0;
    std::uint32_t steps = 1;  // Words that a walker reads.
    std::uint32_t walkers = 1;
    bool operator==(const GpuChallenge&) const = default;
};

// A bijection that spreads every bit of its argument.
constexpr std::uint32_t mixed(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x9e3779b1U;
    x ^= x >> 15;
    x *= 0x85ebca77U;
    return x ^ x >> 16;
}

// Word `index` of the memory. No two slabs of 2^32 words take the same steps, nor do two rounds: a word says
// nothing of another.
constexpr std::uint32_t challenge_word(std::uint64_t index, std::uint32_t seed, std::uint32_t rounds) {
    const std::uint32_t slab = mixed(static_cast<std::uint32_t>(index >> 32) + seed);
    std::uint32_t x = static_cast<std::uint32_t>(index) ^ slab;
    for (std::uint32_t round = rounds; round > 0; --round) x = mixed(x + slab + round);
    return x;
}

// Which of `words` a walker reads that has come to `here`: any of them, and which cannot be known before the
// seed of the paths, also where there are more than `here` has values.
constexpr std::uint64_t challenge_index(std::uint32_t here, std::uint32_t path_seed, std::uint64_t words) {
    const std::uint64_t wide =
        static_cast<std::uint64_t>(mixed(here)) << 32 | mixed(here ^ path_seed ^ 0x9e3779b1U);
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(static_cast<Wide>(wide) * words >> 64);
}

// Where a walker ends: its answer.
constexpr std::uint32_t challenge_answer(const GpuChallenge& challenge, std::uint32_t walker) {
    std::uint32_t here = mixed(challenge.path_seed + walker);
    for (std::uint32_t step = 0; step < challenge.steps; ++step)
        here += challenge_word(challenge_index(here, challenge.path_seed, challenge.words), challenge.seed,
                               challenge.rounds) +
                1;
    return here;
}

// For each of several GPUs seeds of its own: one cannot answer for another.
constexpr std::uint32_t path_seed_of(std::uint32_t path_seed, std::string_view uuid) {
    for (const char c : uuid) path_seed = mixed(path_seed ^ static_cast<unsigned char>(c));
    return path_seed;
}
constexpr GpuChallenge own_challenge(GpuChallenge challenge, std::string_view uuid) {
    challenge.path_seed = path_seed_of(challenge.path_seed, uuid);
    for (const char c : uuid) challenge.seed = mixed(challenge.seed + static_cast<unsigned char>(c));
    return challenge;
}

// Whether the walkers named in `asked` ended where they should. A walker that has no answer did not.
constexpr bool answers_challenge(const GpuChallenge& challenge, std::span<const std::uint32_t> answers,
                                 std::span<const std::uint32_t> asked) {
    if (answers.size() != challenge.walkers) return false;
    for (const std::uint32_t walker : asked)
        if (walker >= answers.size() || answers[walker] != challenge_answer(challenge, walker)) return false;
    return true;
}

// What a GPU answered.
struct GpuProof {
    std::string uuid;
    std::uint64_t words = 0;    // That it filled.
    std::int64_t fill_us = -1;  // As its host says; who challenges looks at a clock of their own.
    std::int64_t walk_us = -1;
    std::vector<std::uint32_t> answers;
    std::vector<std::string> problems;  // Sentences: why something is missing.
    bool operator==(const GpuProof&) const = default;
};

}  // namespace hostler
