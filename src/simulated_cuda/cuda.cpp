// libcuda.so.1 without a GPU, for tests: what our kernels do, done by the processor. The environment variable
// HOSTLER_SIMULATED_CUDA has words that choose faults:
//   none refuse       CUDA finds no GPU; does not start
//   full              every allocation beyond 64 KiB finds no room
//   no-room-for-two   the second of two large allocations finds none
//   wrong-memory wrong-copy wrong-fma wrong-tensor wrong-transfer     results that are not right
//   cheat             walk reads nothing
//   no-peer           a copy between GPUs fails, and after it everything
//   sticky            fma32 fails, and after it everything
//   crash hang        in fma32
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/cuda/kernels.h"
#include "adapters/cuda/library.h"

using namespace hostler::cuda;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t memory_bytes = std::size_t{5} << 20;
constexpr int gpus = 2;
constexpr Status unknown = static_cast<Status>(999), illegal_address = static_cast<Status>(700);

std::atomic<std::size_t> allocated = 0;
std::atomic<bool> dead = false;

bool fault(std::string_view word) {
    const char* all = std::getenv("HOSTLER_SIMULATED_CUDA");
    for (std::string_view rest = all ? all : ""; !rest.empty();) {
        const auto size = std::min(rest.find(' '), rest.size());
        if (rest.substr(0, size) == word) return true;
        rest.remove_prefix(std::min(size + 1, rest.size()));
    }
    return false;
}

Status alive() { return dead ? illegal_address : success; }

std::uint32_t* words(Address at) { return reinterpret_cast<std::uint32_t*>(at); }

template <class T>
T argument(void** from, int number) {
    return *static_cast<T*>(from[number]);
}

void fill(void** a) {
    auto* to = words(argument<Address>(a, 0));
    for (std::uint64_t i = 0; i < argument<std::uint64_t>(a, 1); ++i)
        to[i] = hostler::challenge_word(i, argument<std::uint32_t>(a, 2), argument<std::uint32_t>(a, 3));
    if (fault("wrong-memory")) to[5] ^= 1;
}

void check(void** a) {
    const auto* from = words(argument<Address>(a, 0));
    auto* wrong = words(argument<Address>(a, 4));
    for (std::uint64_t i = 0; i < argument<std::uint64_t>(a, 1); ++i)
        *wrong += from[i] !=
                  hostler::challenge_word(i, argument<std::uint32_t>(a, 2), argument<std::uint32_t>(a, 3));
}

void copy(void** a) {
    std::memcpy(words(argument<Address>(a, 0)), words(argument<Address>(a, 1)),
                argument<std::uint64_t>(a, 2) * 4);
    if (fault("wrong-copy")) words(argument<Address>(a, 0))[77] ^= 4;
}

Status fma32(void** a, std::size_t threads) {
    if (fault("crash")) std::abort();
    if (fault("hang"))
        for (;;) ::pause();
    dead = fault("sticky");
    static std::uint32_t answers[32];
    if (answers[0] == 0)
        for (std::uint32_t lane = 0; lane < 32; ++lane)
            answers[lane] = fma_answer(lane, argument<std::uint32_t>(a, 1));
    for (std::size_t i = 0; i < threads; ++i) words(argument<Address>(a, 0))[i] = answers[i % 32];
    if (fault("wrong-fma")) words(argument<Address>(a, 0))[threads - 1] ^= 1;
    return alive();
}

// `cheat`: as who has no memory, and makes up what it reads.
void walk(void** a, std::size_t threads) {
    const auto count = argument<std::uint64_t>(a, 1);
    const auto path_seed = argument<std::uint32_t>(a, 2);
    for (std::size_t i = 0; i < threads; ++i) {
        std::uint32_t here = hostler::mixed(path_seed + static_cast<std::uint32_t>(i));
        for (std::uint32_t step = 0; step < argument<std::uint32_t>(a, 3); ++step)
            here += (fault("cheat")
                         ? 7
                         : words(argument<Address>(a, 0))[hostler::challenge_index(here, path_seed, count)]) +
                    1;
        words(argument<Address>(a, 4))[i] = here;
    }
}

void tensor(void** a, std::size_t threads) {
    static const auto answers = tensor_answers(argument<std::uint32_t>(a, 2), argument<std::uint32_t>(a, 1));
    for (std::size_t i = 0; i < threads; ++i) words(argument<Address>(a, 0))[i] = answers[i % 32];
    if (fault("wrong-tensor")) words(argument<Address>(a, 0))[0] ^= 1;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming)
namespace hostler::cuda {
struct FunctionHandle {
    std::string name;
};
struct ModuleHandle {
    std::string text;
    std::vector<std::unique_ptr<FunctionHandle>> functions;
};
struct EventHandle {
    Clock::time_point at;
};
}  // namespace hostler::cuda

extern "C" {

Status cuInit(unsigned) { return fault("none") ? no_device : fault("refuse") ? system_not_ready : success; }
Status cuDriverGetVersion(int* version) { return *version = 12080, success; }
Status cuGetErrorString(Status status, const char** text) {
    *text = status == out_of_memory      ? "out of memory"
            : status == system_not_ready ? "system not yet initialized"
            : status == illegal_address  ? "an illegal memory access was encountered"
                                         : "unknown error";
    return success;
}
Status cuDeviceGetCount(int* count) { return *count = gpus, success; }
Status cuDeviceGet(Device* device, int index) { return *device = index, success; }
Status cuDeviceGetName(char* name, int size, Device) {
    return std::strncpy(name, "Simulated GPU", static_cast<std::size_t>(size)), success;
}
Status cuDeviceGetUuid(Uuid* uuid, Device device) {
    for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<unsigned char>(16 * device + i);
    return success;
}
Status cuDeviceGetAttribute(int* value, Attribute attribute, Device device) {
    switch (attribute) {
        case attribute_multiprocessors: *value = 1; break;
        case attribute_capability_major: *value = device == 0 ? 8 : 7; break;
        case attribute_capability_minor: *value = device == 0 ? 0 : 5; break;
    }
    return success;
}
Status cuDevicePrimaryCtxRetain(Context* context, Device device) {
    return *context = reinterpret_cast<Context>(static_cast<std::uintptr_t>(device) + 1), success;
}
Status cuDevicePrimaryCtxRelease_v2(Device) { return success; }
Status cuCtxSetCurrent(Context) { return success; }
Status cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    *total = memory_bytes;
    *free = memory_bytes - std::min(allocated.load(), memory_bytes);
    return alive();
}
Status cuMemAlloc_v2(Address* at, std::size_t bytes) {
    constexpr std::size_t small = 64 << 10;
    if (bytes > small && (fault("full") || (fault("no-room-for-two") && allocated > small)))
        return out_of_memory;
    if (allocated + bytes > memory_bytes) return out_of_memory;
    auto* memory = static_cast<std::size_t*>(std::malloc(bytes + 16));
    *memory = bytes;
    allocated += bytes;
    *at = reinterpret_cast<Address>(memory + 2);
    return alive();
}
Status cuMemFree_v2(Address at) {
    auto* memory = reinterpret_cast<std::size_t*>(at) - 2;
    allocated -= *memory;
    std::free(memory);
    return success;
}
Status cuMemHostAlloc(void** at, std::size_t bytes, unsigned) { return *at = std::malloc(bytes), success; }
Status cuMemFreeHost(void* at) { return std::free(at), success; }
Status cuMemsetD8_v2(Address at, unsigned char value, std::size_t bytes) {
    return std::memset(words(at), value, bytes), alive();
}
Status cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, Stream) {
    std::memcpy(words(to), from, bytes);
    if (fault("wrong-transfer")) words(to)[1] ^= 1;
    return alive();
}
Status cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, Stream) {
    return std::memcpy(to, words(from), bytes), alive();
}
Status cuModuleLoadData(Module* module, const void* ptx) {
    *module = new ModuleHandle{static_cast<const char*>(ptx), {}};
    return (*module)->text.starts_with(".version ") ? success : unknown;
}
Status cuModuleUnload(Module module) { return delete module, success; }
Status cuModuleGetFunction(Function* function, Module module, const char* name) {
    if (!module->text.contains(std::string{".visible .entry "} + name + "(")) return unknown;
    module->functions.push_back(std::make_unique<FunctionHandle>(name));
    return *function = module->functions.back().get(), success;
}
Status cuLaunchKernel(Function function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                      unsigned, unsigned, Stream, void** arguments, void**) {
    const std::size_t all = static_cast<std::size_t>(blocks) * threads;
    if (dead) return illegal_address;
    if (function->name == "fill") fill(arguments);
    if (function->name == "check") check(arguments);
    if (function->name == "copy") copy(arguments);
    if (function->name == "walk") walk(arguments, all);
    if (function->name == "tensor_bf16") tensor(arguments, all);
    return function->name == "fma32" ? fma32(arguments, all) : success;
}
Status cuCtxSynchronize() { return alive(); }
Status cuEventCreate(Event* event, unsigned) { return *event = new EventHandle, success; }
Status cuEventDestroy_v2(Event event) { return delete event, success; }
Status cuEventRecord(Event event, Stream) { return event->at = Clock::now(), alive(); }
Status cuEventElapsedTime(float* milliseconds, Event from, Event to) {
    *milliseconds = std::chrono::duration<float, std::milli>(to->at - from->at).count();
    return success;
}
Status cuDeviceCanAccessPeer(int* possible, Device a, Device) { return *possible = a == 0, success; }
Status cuCtxEnablePeerAccess(Context, unsigned) { return success; }
Status cuMemcpyPeerAsync(Address to, Context, Address from, Context, std::size_t bytes, Stream) {
    if (fault("no-peer")) dead = true;
    return std::memcpy(words(to), words(from), bytes), alive();
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
