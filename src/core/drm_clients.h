// What processes do with GPUs, where drivers of the kernel tell it beside each open descriptor
// (Documentation/gpu/drm-usage-stats.rst): amdgpu, i915, xe. NVIDIA's does not.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel_files.h"
#include "core/timers.h"

namespace hostler {

// A descriptor by which a program uses a GPU, as /proc/PID/fdinfo/FD shows it.
struct DrmClient {
    struct Engine {
        std::int64_t busy = 0;              // ns; cycles where `total` is known.
        std::optional<std::int64_t> total;  // Cycles that have passed.
        std::int64_t capacity = 1;          // Engines of this kind.
        bool operator==(const Engine&) const = default;
    };
    std::string pci_address;                   // "0000:03:00.0"
    std::string id;                            // Unique on this device; copies of a descriptor share it.
    std::optional<std::int64_t> memory_bytes;  // Of the GPU's own; absent where it has none.
    std::map<std::string, Engine, std::less<>> engines;
    bool operator==(const DrmClient&) const = default;
};

// nullopt: no descriptor of a GPU, or one whose driver tells nothing.
std::optional<DrmClient> parse_drm_client(std::string_view text);

// What one process costs one GPU.
struct DrmUse {
    std::string pci_address;
    std::int64_t pid = 0;
    std::optional<std::int64_t> memory_bytes;
    // Of the time since the look before, that of the engine that it keeps busiest; absent at its first.
    std::optional<std::int64_t> utilisation_percent;
    bool operator==(const DrmUse&) const = default;
};

// Blocks as long as a device likes: only to be called on a lane. A process that begins to use a GPU is seen
// after `search_every` at the latest: looking through all descriptors of a machine takes its time.
class DrmClients {
public:
    explicit DrmClients(std::string proc) : proc_(std::move(proc)) {}
    // By address and PID. Who holds no memory and keeps nothing busy is left out.
    std::vector<DrmUse> look(Instant now);

    static constexpr Duration search_every = std::chrono::seconds{10};
    static constexpr std::size_t processes_max = 65'536;
    static constexpr std::size_t descriptors_max = 16'384;  // Of a process looked through, and of all kept.

private:
    struct Descriptor {
        std::int64_t pid = 0;
        std::string file;  // Of its fdinfo.
    };
    using ClientKey = std::pair<std::string, std::string>;  // Address, id.
    struct Seen {
        DrmClient client;
        std::int64_t pid = 0;
    };
    void search();
    std::map<ClientKey, Seen> read();

    const std::string proc_;
    std::vector<Descriptor> descriptors_;
    std::optional<Instant> searched_;
    std::map<ClientKey, Seen> before_;
    Instant looked_{};
};

}  // namespace hostler
