// What both measuring and proving need of one GPU.
#pragma once

#include <functional>
#include <vector>

#include "adapters/cuda/gpu.h"
#include "adapters/cuda/kernels.h"

namespace hostler::cuda {

// Our kernels on one GPU, and what they do in steps of the trade.
class Kit {
public:
    static Result<Kit> make(Gpu& gpu);

    Result<> fill(Memory& memory, std::uint64_t words, std::uint32_t seed, std::uint32_t rounds);
    // How many words are not what fill() wrote.
    Result<std::uint64_t> wrong_words(Memory& memory, std::uint64_t words, std::uint32_t seed);
    // The largest piece of memory that can be had, up to `bytes`; a multiple of 1 MiB.
    Result<MemoryPtr> allocate_most(std::size_t bytes);

    Gpu& gpu;
    Function fill_kernel = nullptr, check = nullptr, copy = nullptr, walk = nullptr, fma32 = nullptr;
    MemoryPtr counter;  // One word.
    Grid wide;          // Enough threads to keep memory busy.

private:
    explicit Kit(Gpu& of) : gpu(of) {}
};

// Says what was learnt of a GPU.
using Tell = std::function<void(const std::string& key, const std::string& value)>;

std::vector<GpuPtr> open_all(const LibraryPtr& library,
                             const std::function<void(const std::string&)>& problem);

}  // namespace hostler::cuda
