// libcuda.so.1, CUDA's driver interface, opened at run time, in declarations of our own: names, numbers and
// layouts are facts of the interface (CUDA 9 and later, LP64).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"

namespace hostler::cuda {

enum Status : int {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    no_device = 100,
    ecc_uncorrectable = 214,
    peer_access_already_enabled = 704,
    launch_timeout = 702,
    system_not_ready = 802,
};

using Device = int;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using Address = unsigned long long;  // In the GPU's memory.

struct Uuid {
    unsigned char bytes[16];
};

enum Attribute : int {
    attribute_multiprocessors = 16,
    attribute_capability_major = 75,
    attribute_capability_minor = 76,
};

inline constexpr unsigned context_blocking = 4;  // Who waits for the GPU sleeps.

// Those that a pointer comment calls optional may be null; without any other the library is not used.
struct Functions {
    Status (*init)(unsigned);
    Status (*driver_version)(int*);
    Status (*error_text)(Status, const char**);
    Status (*device_count)(int*);
    Status (*device)(Device*, int);
    Status (*device_name)(char*, int, Device);
    Status (*device_uuid)(Uuid*, Device);
    Status (*device_attribute)(int*, Attribute, Device);
    Status (*context_flags)(Device, unsigned);  // Optional.
    Status (*context_retain)(Context*, Device);
    Status (*context_release)(Device);
    Status (*context_use)(Context);
    Status (*memory_free)(std::size_t* free, std::size_t* total);
    Status (*allocate)(Address*, std::size_t);
    Status (*release)(Address);
    Status (*allocate_pinned)(void**, std::size_t, unsigned);
    Status (*release_pinned)(void*);
    Status (*fill_bytes)(Address, unsigned char, std::size_t);
    Status (*to_gpu)(Address, const void*, std::size_t, Stream);
    Status (*to_host)(void*, Address, std::size_t, Stream);
    Status (*load)(Module*, const void* ptx);
    Status (*unload)(Module);
    Status (*find)(Function*, Module, const char*);
    Status (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
                     void**, void**);
    Status (*synchronize)();
    Status (*event_create)(Event*, unsigned);
    Status (*event_destroy)(Event);
    Status (*event_record)(Event, Stream);
    Status (*event_elapsed)(float* milliseconds, Event, Event);
    Status (*peer_possible)(int*, Device, Device);                                 // Optional.
    Status (*peer_enable)(Context, unsigned);                                      // Optional.
    Status (*peer_copy)(Address, Context, Address, Context, std::size_t, Stream);  // Optional.
};

class Library {
public:
    // `path` empty: where drivers put it. Starts CUDA too. May block, or end the process when the driver is
    // broken: only for a process of its own. Errors: not_found (there is no such library, or no GPU);
    // unavailable (there, and it does not work: with its reason).
    static Result<std::shared_ptr<const Library>> open(const std::string& path);
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    Functions call{};
    std::string words(Status) const;  // "out of memory (2)"
    // Errors: exhausted (out of memory); unavailable (all else), "what: words".
    Result<> ok(Status, std::string_view what) const;

private:
    Library() = default;
    Result<> bind(void* handle, const std::string& path);
};

}  // namespace hostler::cuda
