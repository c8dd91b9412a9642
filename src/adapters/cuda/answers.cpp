// The same computations as the kernels', to know the right answers.
#include <bit>
#include <cmath>

#include "adapters/cuda/kernels.h"

namespace hostler::cuda {

namespace {

std::uint32_t tensor_operand(std::uint32_t seed, std::uint32_t lane, std::uint32_t number) {
    return bf16_halves | (mixed(seed + lane + 32 * number) & bf16_chosen);
}

float bf16(std::uint32_t operand, std::uint32_t half) {
    return std::bit_cast<float>(half == 0 ? operand << 16 : operand & 0xffff0000U);
}

}  // namespace

std::uint32_t fma_answer(std::uint32_t lane, std::uint32_t rounds) {
    std::uint32_t sum = 0;
    for (std::uint32_t chain = 0; chain < fma_chains; ++chain) {
        auto x = static_cast<float>(lane + 32 * chain);
        for (std::uint32_t step = 0; step < rounds * fma_unrolled; ++step)
            x = std::fma(x, fma_factor, fma_addend);
        sum ^= std::bit_cast<std::uint32_t>(x);
    }
    return sum;
}

// Where the PTX manual says that each element of A (16x16), B (16x8) and the result (16x8) lies.
std::array<std::uint32_t, 32> tensor_answers(std::uint32_t seed, std::uint32_t rounds) {
    std::array<std::uint32_t, 32> answers{};
    for (std::uint32_t tile = 0; tile < tensor_tiles; ++tile) {
        float a[16][16];
        float b[16][8];
        for (std::uint32_t lane = 0; lane < 32; ++lane)
            for (std::uint32_t half = 0; half < 2; ++half) {
                const std::uint32_t group = lane / 4;
                const std::uint32_t place = lane % 4 * 2 + half;
                for (std::uint32_t r = 0; r < 4; ++r)
                    a[group + r % 2 * 8][place + r / 2 * 8] =
                        bf16(tensor_operand(seed, lane, 4 * (tile % 2) + r), half);
                for (std::uint32_t r = 0; r < 2; ++r)
                    b[place + r * 8][group] = bf16(tensor_operand(seed, lane, 8 + 2 * (tile / 2) + r), half);
            }
        for (std::uint32_t lane = 0; lane < 32; ++lane)
            for (std::uint32_t r = 0; r < 4; ++r) {
                float sum = 0;
                for (int k = 0; k < 16; ++k) sum += a[lane / 4 + r / 2 * 8][k] * b[k][lane % 4 * 2 + r % 2];
                answers[lane] ^= std::bit_cast<std::uint32_t>(sum * static_cast<float>(rounds));
            }
    }
    return answers;
}

}  // namespace hostler::cuda
