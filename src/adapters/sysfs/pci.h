// GPUs and accelerators of every brand, as the PCI bus shows them: also those that no driver serves.
#pragma once

#include "core/kernel_files.h"
#include "core/lane.h"
#include "ports/telemetry.h"

namespace hostler {

struct PciSettings {
    KernelRoots roots;
    Duration timeout = std::chrono::seconds{5};
    int gpus_max = 64;
};

// Display controllers and processing accelerators, without the small display chips of management controllers
// and hypervisors and without the virtual functions of cards that are there themselves. Samples tell the link
// only.
class PciBus : public Telemetry {
public:
    PciBus(Loop& loop, Timers& timers, PciSettings settings = {});
    std::string_view name() const override { return "pci"; }
    Task<GpuInventory> discover() override;
    Task<std::vector<GpuSample>> sample() override;

private:
    Timers& timers_;
    PciSettings settings_;
    Lane lane_;
    std::vector<GpuFacts> found_;
};

// How two devices reach one another: `a` and `b` are their places in the device tree
// ("/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0"), then their NUMA nodes.
GpuLinkKind pcie_link(std::string_view a, std::string_view b, int numa_a, int numa_b);

}  // namespace hostler
