// GPU models: what a device is called by people, by its driver, and on the PCI bus.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "domain/inventory/host.h"

namespace hostler {

// `sxm` and `oam`: on a board with others, joined by the vendor's own links. `soc`: on one chip with the
// CPUs, whose memory it shares.
enum class GpuForm { sxm, oam, pcie, soc };

// One row of the catalogue. Sources: product and PCI ids are the driver's own name table (NVIDIA
// open-gpu-kernel-modules 595.45.04) and pci.ids; the rest are vendors' data sheets. 0 or "": not stated
// there.
struct GpuModel {
    std::string_view name;     // "H100 SXM5 80GB"
    std::string_view family;   // "H100": what people mean when memory and form do not matter.
    std::string_view product;  // As its driver says it: "NVIDIA H100 80GB HBM3"
    GpuVendor vendor;
    std::string_view architecture;
    GpuForm form;
    int memory_gib;
    int cores;  // CUDA cores, stream processors.
    std::string_view capability;
    int power_w;               // Board power limit as shipped.
    int links;                 // NVLink or xGMI ports in use on the boards it ships on.
    std::string_view pci_ids;  // "10de:2330", several divided by a space.
};

std::span<const GpuModel> gpu_models();

// By any name people use: case, spaces, '-' and '_' do not count, "H100" finds the first of its family, a
// driver's product name finds its model. nullptr: unknown.
const GpuModel* find_gpu_model(std::string_view name);

// By what a device says of itself: the product name decides, then PCI id with memory within an eighth.
// nullptr: not in the catalogue.
const GpuModel* recognise_gpu(std::string_view product, std::string_view pci_id, std::int64_t memory_bytes);

// The model's name, also of a device that the catalogue does not know: "NVIDIA Foo 9" with 24 GiB is "Foo 9
// 24GB".
std::string gpu_model_name(std::string_view product, std::string_view pci_id, std::int64_t memory_bytes);

}  // namespace hostler
