#include "adapters/cuda/gpu.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler::cuda {

Result<GpuPtr> Gpu::open(LibraryPtr library, int index) {
    const auto& call = library->call;
    Device device = 0;
    TRY(library->ok(call.device(&device, index), "the GPU is missing"));
    GpuPtr gpu{new Gpu{library, device}};
    TRY(gpu->look());
    if (call.context_flags) (void)call.context_flags(device, context_blocking);
    TRY(library->ok(call.context_retain(&gpu->context, device), "the GPU cannot be used"));
    TRY(gpu->use());
    TRY(library->ok(call.event_create(&gpu->begin_, 0), "no event"));
    TRY(library->ok(call.event_create(&gpu->end_, 0), "no event"));
    return gpu;
}

Gpu::~Gpu() {
    if (!context || !use()) return;
    const auto& call = library->call;
    for (Module module : modules_)
        if (module) (void)call.unload(module);
    if (begin_) (void)call.event_destroy(begin_);
    if (end_) (void)call.event_destroy(end_);
    (void)call.context_release(device);
}

Result<> Gpu::look() {
    const auto& call = library->call;
    char name[256] = {};
    TRY(library->ok(call.device_name(name, sizeof name - 1, device), "it has no name"));
    product = name;
    Uuid id{};
    TRY(library->ok(call.device_uuid(&id, device), "it has no UUID"));
    uuid = "GPU-";
    for (int i = 0; i < 16; ++i)
        uuid += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id.bytes[i]);
    int major = 0;
    int minor = 0;
    TRY(library->ok(call.device_attribute(&multiprocessors, attribute_multiprocessors, device), "its size"));
    TRY(library->ok(call.device_attribute(&major, attribute_capability_major, device), "its capability"));
    TRY(library->ok(call.device_attribute(&minor, attribute_capability_minor, device), "its capability"));
    capability = 10 * major + minor;
    return {};
}

Result<> Gpu::use() { return library->ok(library->call.context_use(context), "the GPU cannot be used"); }

Result<std::size_t> Gpu::free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    TRY(library->ok(library->call.memory_free(&free, &total), "it does not tell its free memory"));
    return free;
}

Result<MemoryPtr> Gpu::allocate(std::size_t bytes) {
    Address at = 0;
    TRY(library->ok(library->call.allocate(&at, bytes), fmt::format("no {} MiB of its memory", bytes >> 20)));
    return std::make_unique<Memory>(library, at, bytes);
}

Result<PinnedPtr> Gpu::allocate_pinned(std::size_t bytes) {
    void* at = nullptr;
    TRY(library->ok(library->call.allocate_pinned(&at, bytes, 0),
                    fmt::format("no {} MiB of pinned memory", bytes >> 20)));
    return std::make_unique<Pinned>(library, at, bytes);
}

Result<Module> Gpu::load(const std::string& ptx) {
    const auto place = std::ranges::find(modules_, nullptr);
    HOSTLER_ASSERT(place != std::end(modules_));
    TRY(library->ok(library->call.load(&*place, ptx.c_str()), "the driver does not compile our kernels"));
    return *place;
}

Result<Function> Gpu::find(Module module, const char* kernel) {
    Function function = nullptr;
    TRY(library->ok(library->call.find(&function, module, kernel), fmt::format("no kernel {}", kernel)));
    return function;
}

Result<> Gpu::wait() { return library->ok(library->call.synchronize(), "a kernel failed"); }

Result<> Gpu::mark_begin() { return library->ok(library->call.event_record(begin_, nullptr), "no time"); }

Result<double> Gpu::seconds_since_begin() {
    TRY(library->ok(library->call.event_record(end_, nullptr), "no time"));
    TRY(wait());
    float milliseconds = 0;
    TRY(library->ok(library->call.event_elapsed(&milliseconds, begin_, end_), "no time"));
    return static_cast<double>(milliseconds) / 1e3;
}

}  // namespace hostler::cuda
