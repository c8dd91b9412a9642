// One GPU in use: its context, memory, kernels and time. Blocks; for the process that measures.
#pragma once

#include <memory>
#include <string>

#include "adapters/cuda/library.h"

namespace hostler::cuda {

using LibraryPtr = std::shared_ptr<const Library>;

// Memory of the GPU whose context is current.
class Memory {
public:
    Memory(LibraryPtr library, Address at, std::size_t bytes)
        : at(at), bytes(bytes), library_(std::move(library)) {}
    ~Memory() { (void)library_->call.release(at); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    const Address at;
    const std::size_t bytes;

private:
    LibraryPtr library_;
};
using MemoryPtr = std::unique_ptr<Memory>;

// Memory of the host that stays where it is, so that a GPU reads it by itself.
class Pinned {
public:
    Pinned(LibraryPtr library, void* at, std::size_t bytes)
        : at(static_cast<std::uint32_t*>(at)), bytes(bytes), library_(std::move(library)) {}
    ~Pinned() { (void)library_->call.release_pinned(at); }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;

    std::uint32_t* const at;
    const std::size_t bytes;

private:
    LibraryPtr library_;
};
using PinnedPtr = std::unique_ptr<Pinned>;

// How many threads a kernel runs on.
struct Grid {
    unsigned blocks = 1;
    unsigned threads = 256;  // Of each block.
    std::size_t all() const { return static_cast<std::size_t>(blocks) * threads; }
};

class Gpu {
public:
    // Errors: as Library::ok.
    static Result<std::unique_ptr<Gpu>> open(LibraryPtr library, int index);
    ~Gpu();
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    Result<> use();  // Before anything else, where several GPUs are open.
    Result<std::size_t> free_bytes();
    Result<MemoryPtr> allocate(std::size_t bytes);
    Result<PinnedPtr> allocate_pinned(std::size_t bytes);
    Result<Module> load(const std::string& ptx);  // The driver compiles it. At most `modules_max`.
    Result<Function> find(Module module, const char* kernel);
    static constexpr int modules_max = 2;

    // Begins `function`; nothing is waited for. Arguments are of the kernel's own types.
    template <class... A>
    Result<> start(Function function, Grid grid, A... arguments) {
        void* pointers[] = {static_cast<void*>(&arguments)...};
        return library->ok(library->call.launch(function, grid.blocks, 1, 1, grid.threads, 1, 1, 0, nullptr,
                                                static_cast<void**>(pointers), nullptr),
                           "a kernel does not start");
    }
    Result<> wait();  // Until all that was begun is done. Its errors come out here.
    Result<> mark_begin();
    Result<double> seconds_since_begin();  // On the GPU's own clock, until all of it is done.

    const LibraryPtr library;
    const Device device;
    std::string uuid, product;
    int multiprocessors = 0;
    int capability = 0;  // 90: 9.0
    Context context = nullptr;

private:
    Gpu(LibraryPtr with, Device which) : library(std::move(with)), device(which) {}
    Result<> look();
    Module modules_[modules_max] = {};
    Event begin_ = nullptr, end_ = nullptr;
};
using GpuPtr = std::unique_ptr<Gpu>;

}  // namespace hostler::cuda
