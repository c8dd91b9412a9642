// What runs on the GPU, as PTX: text that the driver compiles for the GPU it finds, so that no build machine
// needs CUDA. And the same functions in C++ (answers.cpp), to know the right answers.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "domain/inventory/challenge.h"

namespace hostler::cuda {

// For compute capability 6.0 and later. Each thread of `fma32` and `walk` writes one word of `out`.
//   fill(words, count, seed, rounds)           words[i] = challenge_word(i, seed, rounds); count: 4 times n
//   check(words, count, seed, rounds, wrong)   *wrong += how many of them are something else
//   copy(to, from, count)                      to[i] = from[i]; count: 4 times n
//   walk(words, count, path_seed, steps, out)  challenge_answer of a walker for each thread
//   fma32(out, rounds)                         fma_answer of the thread's lane
std::string general_kernels();
// For compute capability 8.0 and later.
//   tensor_bf16(out, rounds, seed)             tensor_answers of the thread's lane
std::string tensor_kernels();

inline constexpr std::uint32_t fma_chains = 16;    // Independent ones in a thread.
inline constexpr std::uint32_t fma_unrolled = 16;  // Steps of each chain in a round.
inline constexpr float fma_factor = 0.99609375F;
inline constexpr float fma_addend = 0.0078125F;

// Independent sums of 16x8 in a warp: two A times four B, multiplied again in every round.
inline constexpr std::uint32_t tensor_tiles = 8;
inline constexpr double tensor_flops = 2.0 * 16 * 8 * 16 * tensor_tiles;  // Of a warp in a round.
// Each register of A and B holds two bf16 of ±0.5 and ±1: sums of their products are exact in fp32 for 2^17
// rounds.
inline constexpr std::uint32_t bf16_halves = 0x3f003f00;
inline constexpr std::uint32_t bf16_chosen = 0x80808080;  // The sign, and the lowest bit of the exponent.

std::uint32_t fma_answer(std::uint32_t lane, std::uint32_t rounds);
std::array<std::uint32_t, 32> tensor_answers(std::uint32_t seed, std::uint32_t rounds);

}  // namespace hostler::cuda
