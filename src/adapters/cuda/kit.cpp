#include "adapters/cuda/kit.h"

#include <fmt/format.h>

namespace hostler::cuda {

Result<Kit> Kit::make(Gpu& gpu) {
    Kit kit{gpu};
    TRY(gpu.use());
    const Module module = TRY(gpu.load(general_kernels()));
    kit.fill_kernel = TRY(gpu.find(module, "fill"));
    kit.check = TRY(gpu.find(module, "check"));
    kit.copy = TRY(gpu.find(module, "copy"));
    kit.walk = TRY(gpu.find(module, "walk"));
    kit.fma32 = TRY(gpu.find(module, "fma32"));
    kit.counter = TRY(gpu.allocate(sizeof(std::uint32_t)));
    kit.wide = {.blocks = static_cast<unsigned>(gpu.multiprocessors) * 8};
    return kit;
}

Result<> Kit::fill(Memory& memory, std::uint64_t words, std::uint32_t seed, std::uint32_t rounds) {
    return gpu.start(fill_kernel, wide, memory.at, words, seed, rounds);
}

Result<std::uint64_t> Kit::wrong_words(Memory& memory, std::uint64_t words, std::uint32_t seed) {
    const auto& library = *gpu.library;
    std::uint32_t wrong = 0;
    TRY(library.ok(library.call.fill_bytes(counter->at, 0, counter->bytes), "its memory is not written"));
    TRY(gpu.start(check, wide, memory.at, words, seed, std::uint32_t{1}, counter->at));
    TRY(gpu.wait());
    TRY(library.ok(library.call.to_host(&wrong, counter->at, sizeof wrong, nullptr),
                   "its memory is not read"));
    TRY(gpu.wait());
    return wrong;
}

Result<MemoryPtr> Kit::allocate_most(std::size_t bytes) {
    constexpr std::size_t step = std::size_t{1} << 20;
    for (std::size_t size = bytes / step * step; size >= step; size = size / 4 * 3 / step * step) {
        auto memory = gpu.allocate(size);
        if (memory || memory.error().code != Code::exhausted) return memory;
    }
    return fail(Code::exhausted, "less than 1 MiB of its memory is free");
}

std::vector<GpuPtr> open_all(const LibraryPtr& library,
                             const std::function<void(const std::string&)>& problem) {
    std::vector<GpuPtr> gpus;
    int count = 0;
    if (const auto told = library->ok(library->call.device_count(&count), "CUDA does not count the GPUs");
        !told) {
        problem(told.error().message);
        return gpus;
    }
    for (int index = 0; index < count; ++index) {
        auto gpu = Gpu::open(library, index);
        if (gpu)
            gpus.push_back(std::move(*gpu));
        else
            problem(fmt::format("GPU {}: {}", index, gpu.error().message));
    }
    return gpus;
}

}  // namespace hostler::cuda
