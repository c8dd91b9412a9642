// Slices of NVIDIA's GPUs (MIG): which a GPU may be cut into, and where on it each may begin.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hostler {

// A kind of slice on one family of GPUs. Source: NVIDIA MIG user guide, "Supported MIG Profiles", and
// what the driver lists (`nvidia-smi mig -lgip`, `-lgipp`).
struct MigProfile {
    std::string_view name;     // "1g.10gb"
    std::uint16_t starts = 0;  // Bit s: may begin at memory slice s.
    std::uint8_t size = 0;     // Memory slices.
    std::uint8_t most = 0;     // On one GPU.
    std::uint8_t decoders = 0;
    std::uint8_t flow = 0;  // The one optical-flow and JPEG unit, with "+me".
};

struct MigFamily {
    std::string_view pci_ids;  // "10de:20b2 20b5 20f3 20f5"
    std::uint8_t slices = 0;   // Of memory.
    std::uint8_t decoders = 0;
    std::span<const MigProfile> profiles;
};

std::span<const MigFamily> mig_families();
// By a model of the catalogue (inventory/model.h); nullptr: it is not cut.
const MigFamily* mig_family(std::string_view model);

// A profile's number by its name, the same for all families that have one of that name; 0: there is none.
std::int16_t mig_profile_number(std::string_view name);
std::string_view mig_profile_name(std::int16_t number);
// nullptr: the family has none of that name.
const MigProfile* find_profile(const MigFamily& family, std::int16_t number);

// What is taken on one GPU that is cut.
struct MigGpu {
    std::uint16_t slices = 0;
    std::uint8_t decoders = 0;
    std::uint8_t flow = 0;
    std::uint8_t count = 0;  // Slices of any size; 0: the GPU is not cut.
    bool operator==(const MigGpu&) const = default;
};

bool fits_at(const MigFamily& family, const MigProfile& profile, const MigGpu& gpu, int start);
// Where it leaves the most places for others; of equals the first. -1: nowhere.
int best_start(const MigFamily& family, const MigProfile& profile, const MigGpu& gpu);
void cut(MigGpu& gpu, const MigProfile& profile, int start);
void mend(MigGpu& gpu, const MigProfile& profile, int start);

}  // namespace hostler
