// What the files of xe and i915 say. Blocks as long as the device likes: only to be called on a lane.
#pragma once

#include <string>
#include <vector>

#include "core/drm_clients.h"
#include "core/kernel_files.h"
#include "domain/inventory/host.h"
#include "domain/inventory/sample.h"

namespace hostler::intel {

struct Card {
    std::string folder;  // ".../class/drm/card0"
    GpuFacts facts;
};

std::vector<Card> find_cards(const KernelRoots& roots);  // By PCI address.
GpuSample read_sample(const std::string& folder);
// Adds what the descriptors of processes on this GPU tell.
void add_processes(GpuSample& sample, const std::vector<DrmUse>& uses, const std::string& pci_address);

}  // namespace hostler::intel
