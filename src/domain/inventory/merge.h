// One picture of a machine out of several partial ones, and what changed between two pictures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/inventory/host.h"

namespace hostler {

// "0000:07:00.0" for every way in which it is written: "00000000:07:00.0", "0000:07:00.0", "07:00.0", upper
// case. Empty: not a PCI address.
std::string normal_pci_address(std::string_view text);

// What a GPU is called that has no UUID of its own.
std::string uuid_of_pci(std::string_view pci_address);

// `host` with the GPUs that `seen` tells of, each once. The same GPU is known by its PCI address, else by
// UUID. Of two that know a thing, the earlier inventory is believed; so put the drivers' before the bus's.
// The order of GPUs (by PCI address, then UUID) and of links does not depend on the order in `seen`.
HostFacts merge_inventories(HostFacts host, const std::vector<GpuInventory>& seen);

enum class GpuChangeKind { gone, appeared, changed };
BOOST_DESCRIBE_ENUM(GpuChangeKind, gone, appeared, changed)

struct GpuChange {
    GpuChangeKind kind = GpuChangeKind::changed;
    std::string uuid;
    std::vector<std::string> fields;  // Names of GpuFacts members; only for `changed`.
    bool operator==(const GpuChange&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuChange, (), (kind, uuid, fields))

// By UUID, in that order. The link's present speed and who saw the GPU do not count: they come and go by
// themselves.
std::vector<GpuChange> compare_gpus(const std::vector<GpuFacts>& before, const std::vector<GpuFacts>& after);

}  // namespace hostler
