// What amdgpu's and amdkfd's files say. Blocks as long as the device likes: only to be called on a lane.
#pragma once

#include <string>
#include <vector>

#include "core/drm_clients.h"
#include "core/kernel_files.h"
#include "domain/inventory/host.h"
#include "domain/inventory/sample.h"

namespace hostler::amd {

struct Card {
    std::string folder;  // ".../class/drm/card0/device"
    int kfd_id = 0;
    GpuFacts facts;
};

struct Cards {
    std::vector<Card> cards;  // By PCI address.
    std::vector<GpuLink> links;
};

Cards find_cards(const KernelRoots& roots);
GpuSample read_sample(const KernelRoots& roots, const std::string& folder, int kfd_id);
// Adds what the descriptors of processes on this GPU tell. What the compute driver runs they do not count as
// busy.
void add_processes(GpuSample& sample, const std::vector<DrmUse>& uses, const std::string& pci_address);

// A node of amdkfd's topology: what the compute driver knows of a GPU.
struct KfdNode {
    int node = 0;
    int gpu_id = 0;
    std::string pci_address;
    std::string architecture;  // "gfx942"
    int cores = 0;
    std::vector<int> xgmi_to;  // Nodes at the other end of xGMI links.
};
std::vector<KfdNode> read_kfd(const KernelRoots& roots);
// nullopt: the compute driver is not there.
std::optional<std::vector<GpuProcess>> read_kfd_processes(const KernelRoots& roots, int gpu_id);

}  // namespace hostler::amd
