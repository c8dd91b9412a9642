#include "adapters/cuda/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace hostler::cuda {

namespace {

constexpr const char* search_order[] = {
    "libcuda.so.1",
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/run/nvidia/driver/usr/lib64/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
};

void* open_any(const std::string& path) {
    if (!path.empty()) return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    for (const char* place : search_order)
        if (void* handle = dlopen(place, RTLD_NOW | RTLD_LOCAL)) return handle;
    return nullptr;
}

}  // namespace

Result<std::shared_ptr<const Library>> Library::open(const std::string& path) {
    void* handle = open_any(path);
    if (!handle && path.empty())
        return fail(Code::not_found, "there is no libcuda.so.1 on this machine", "no_cuda");
    if (!handle) {
        const char* why = dlerror();
        return fail(Code::unavailable, fmt::format("cannot load {}: {}", path, why ? why : "unknown"));
    }
    // CUDA has no way to end: the library stays open until the process ends.
    std::shared_ptr<Library> library{new Library};
    TRY(library->bind(handle, path.empty() ? "libcuda.so.1" : path));
    const Status started = library->call.init(0);
    if (started == no_device) return fail(Code::not_found, "CUDA finds no GPU");
    TRY(library->ok(started, "CUDA does not start"));
    return library;
}

Result<> Library::bind(void* handle, const std::string& path) {
    std::string missing;
    const auto find = [&]<class F>(F*& function, const char* name, bool needed = true) {
        function = reinterpret_cast<F*>(dlsym(handle, name));
        if (!function && needed) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
    };
    Functions& f = call;
    find(f.init, "cuInit");
    find(f.driver_version, "cuDriverGetVersion");
    find(f.error_text, "cuGetErrorString");
    find(f.device_count, "cuDeviceGetCount");
    find(f.device, "cuDeviceGet");
    find(f.device_name, "cuDeviceGetName");
    find(f.device_uuid, "cuDeviceGetUuid");
    find(f.device_attribute, "cuDeviceGetAttribute");
    find(f.context_flags, "cuDevicePrimaryCtxSetFlags_v2", false);
    find(f.context_retain, "cuDevicePrimaryCtxRetain");
    find(f.context_release, "cuDevicePrimaryCtxRelease_v2", false);
    if (!f.context_release) find(f.context_release, "cuDevicePrimaryCtxRelease");
    find(f.context_use, "cuCtxSetCurrent");
    find(f.memory_free, "cuMemGetInfo_v2");
    find(f.allocate, "cuMemAlloc_v2");
    find(f.release, "cuMemFree_v2");
    find(f.allocate_pinned, "cuMemHostAlloc");
    find(f.release_pinned, "cuMemFreeHost");
    find(f.fill_bytes, "cuMemsetD8_v2");
    find(f.to_gpu, "cuMemcpyHtoDAsync_v2");
    find(f.to_host, "cuMemcpyDtoHAsync_v2");
    find(f.load, "cuModuleLoadData");
    find(f.unload, "cuModuleUnload");
    find(f.find, "cuModuleGetFunction");
    find(f.launch, "cuLaunchKernel");
    find(f.synchronize, "cuCtxSynchronize");
    find(f.event_create, "cuEventCreate");
    find(f.event_destroy, "cuEventDestroy_v2");
    find(f.event_record, "cuEventRecord");
    find(f.event_elapsed, "cuEventElapsedTime");
    find(f.peer_possible, "cuDeviceCanAccessPeer", false);
    find(f.peer_enable, "cuCtxEnablePeerAccess", false);
    find(f.peer_copy, "cuMemcpyPeerAsync", false);
    if (!missing.empty())
        return fail(Code::unavailable,
                    fmt::format("{} lacks {}: install a driver of CUDA 9.2 or later", path, missing));
    return {};
}

std::string Library::words(Status status) const {
    const char* text = nullptr;
    if (call.error_text) call.error_text(status, &text);
    return fmt::format("{} ({})", text ? text : "CUDA error", static_cast<int>(status));
}

Result<> Library::ok(Status status, std::string_view what) const {
    if (status == success) return {};
    return fail(status == out_of_memory ? Code::exhausted : Code::unavailable,
                fmt::format("{}: {}", what, words(status)));
}

}  // namespace hostler::cuda
