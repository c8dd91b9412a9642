// What NVML says of one GPU. Everything here blocks for as long as the driver likes: only to be called on a
// lane.
#pragma once

#include <optional>

#include "adapters/nvml/library.h"
#include "domain/inventory/host.h"
#include "domain/inventory/sample.h"

namespace hostler::nvml {

// Remembers whether the GPU was lost on the way; asks no more from then on, since such calls may hang.
class Reader {
public:
    Reader(const Session& session, Device device) : call(session.call), device_(device) {}

    // true: the function is there and succeeded.
    template <class... P, class... A>
    bool ask(Status (*function)(Device, P...), A... arguments) {
        if (!function || last_ == gpu_is_lost) return false;
        last_ = function(device_, arguments...);
        return last_ == success;
    }
    // A value that comes as one unsigned number.
    template <class... P, class... A>
    Metric number(Status (*function)(Device, P...), A... arguments) {
        unsigned value = 0;
        if (!ask(function, arguments..., &value)) return std::nullopt;
        return value;
    }
    bool lost() const { return last_ == gpu_is_lost; }
    Status last() const { return last_; }

    const Functions& call;

private:
    Device device_;
    Status last_ = success;
};

// What does not change between two looks, or seldom.
struct Found {
    Device device = nullptr;
    GpuFacts facts;
    GpuSample constants;         // Metrics that are read once: thresholds.
    std::vector<Device> slices;  // Handles of facts.slices. They hold until it is cut in another way.
};

// Errors: not_found (no GPU at this index); unavailable (it is there and does not answer properly).
Result<Found> read_facts(const Session& session, unsigned index);

// One GPU that others are measured against.
struct Peer {
    Device device = nullptr;
    std::string uuid;
    int switch_links = 0;  // NVLinks that are up and end at a switch.
    std::string pci_address;
};
std::vector<GpuLink> read_links(const Session& session, const Peer& from, const GpuFacts& facts,
                                const std::vector<Peer>& to);

// Into the facts, and their handles. Of a GPU that is not cut: nothing.
void read_slices(Reader& reader, const Session& session, Found& found);

// Metrics that are quick to read; and those that are slow to, most of which hardly ever change.
void read_fast(Reader& reader, GpuSample& sample);
void read_slow(Reader& reader, GpuSample& sample);
void read_memory(Reader& slice, SliceSample& sample);

}  // namespace hostler::nvml
