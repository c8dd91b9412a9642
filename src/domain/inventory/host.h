// What a machine is made of, as it was last looked at. Plain values: what is unknown is empty, 0, or as said.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace hostler {

enum class GpuVendor { nvidia, amd, intel, other };
BOOST_DESCRIBE_ENUM(GpuVendor, nvidia, amd, intel, other)

enum class MigMode { unsupported, disabled, enabled };
BOOST_DESCRIBE_ENUM(MigMode, unsupported, disabled, enabled)

// One NVLink (or xGMI) port of a GPU.
struct NvLink {
    int link = 0;
    bool active = false;
    std::string remote_pci;   // The other end's PCI address; a switch has one too.
    std::string remote_uuid;  // The GPU at the other end; empty: a switch, or unknown.
    bool remote_switch = false;
    bool operator==(const NvLink&) const = default;
};
BOOST_DESCRIBE_STRUCT(NvLink, (), (link, active, remote_pci, remote_uuid, remote_switch))

// A part of a GPU that is cut (MIG): a compute instance within a GPU instance, which programs see as a GPU.
struct GpuSlice {
    std::string uuid;     // "MIG-…"
    std::string profile;  // As the driver's lists spell it: "1g.10gb", "1g.10gb+me", "1c.3g.40gb".
    int gpu_instance = 0;
    int compute_instance = 0;
    int start = -1;  // The first of its GPU instance's memory slices; -1: not told.
    int size = 0;    // How many they are.
    int multiprocessors = 0;
    std::int64_t memory_bytes = 0;
    bool operator==(const GpuSlice&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuSlice, (),
                      (uuid, profile, gpu_instance, compute_instance, start, size, multiprocessors,
                       memory_bytes))

// What a GPU is. It changes only by a reset, a new driver, or somebody's hands.
struct GpuFacts {
    std::string uuid;  // Never empty and unique on the host. Without one of its own: "pci-0000:07:00.0".
    GpuVendor vendor = GpuVendor::other;
    std::string model;        // As people know it: "H100 SXM5 80GB" (model.h), else what the driver calls it.
    std::string product;      // What the driver calls it: "NVIDIA H100 80GB HBM3".
    int index = -1;           // The driver's number; it may change at a boot. -1: no driver counts it.
    int minor = -1;           // Of /dev/nvidiaN, /dev/dri/cardN. -1: none.
    std::string pci_address;  // "0000:07:00.0", lower case. Empty: not on PCI.
    std::string pci_id;       // "10de:2330", vendor and device.
    std::int64_t memory_bytes = 0;
    int core_count = 0;
    std::string serial;
    std::string vbios;
    std::string architecture;        // "hopper", "gfx942", "xe"
    std::string compute_capability;  // "9.0"; NVIDIA only.
    int numa_node = -1;              // -1: the machine has one, or does not say.
    int pcie_generation = 0;         // As the link is now; it drops when the GPU idles.
    int pcie_generation_max = 0;
    int pcie_width = 0;
    int pcie_width_max = 0;
    int clock_graphics_max_mhz = 0;
    int clock_memory_max_mhz = 0;
    std::int64_t power_limit_mw = 0;  // In force.
    std::int64_t power_limit_min_mw = 0;
    std::int64_t power_limit_max_mw = 0;
    MigMode mig = MigMode::unsupported;
    std::vector<GpuSlice> slices;  // As the driver counts them.
    std::vector<NvLink> nvlinks;
    std::string driver;  // Kernel driver bound to it: "nvidia", "amdgpu", "xe", "vfio-pci". Empty: none.
    std::string
        cdi_name;  // Its qualified CDI name: "nvidia.com/gpu=GPU-…". Empty: it cannot be lent to containers.
    std::vector<std::string> device_nodes;  // "/dev/nvidia0": its own ones, not those shared by all.
    std::vector<std::string> sources;  // Who saw it: "nvml", "amd", "intel", "pci"; the most telling first.
    bool operator==(const GpuFacts&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuFacts, (),
                      (uuid, vendor, model, product, index, minor, pci_address, pci_id, memory_bytes,
                       core_count, serial, vbios, architecture, compute_capability, numa_node,
                       pcie_generation, pcie_generation_max, pcie_width, pcie_width_max,
                       clock_graphics_max_mhz, clock_memory_max_mhz, power_limit_mw, power_limit_min_mw,
                       power_limit_max_mw, mig, slices, nvlinks, driver, cdi_name, device_nodes, sources))

// How two GPUs reach one another, best first. The PCIe kinds are those of `nvidia-smi topo`.
enum class GpuLinkKind {
    nvlink,  // NVLink or xGMI, directly or through switches.
    pix,     // One PCIe switch at most between them.
    pxb,     // Several PCIe switches, no host bridge.
    phb,     // One host bridge.
    node,    // Several host bridges of one NUMA node.
    sys,     // Across NUMA nodes.
};
BOOST_DESCRIBE_ENUM(GpuLinkKind, nvlink, pix, pxb, phb, node, sys)

struct GpuLink {
    std::string a;  // UUIDs; a < b, and each pair of GPUs at most once.
    std::string b;
    GpuLinkKind kind = GpuLinkKind::sys;
    int width = 0;  // NVLinks between the two; 0 for PCIe.
    bool operator==(const GpuLink&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuLink, (), (a, b, kind, width))

// What one way of seeing GPUs found.
struct GpuInventory {
    std::string source;          // "nvml", "amd", "intel", "pci"
    bool simulated = false;      // No such GPUs exist: the source makes them up.
    std::string driver_version;  // "570.86.15"
    std::string cuda_version;    // "12.8": the newest that the driver can serve.
    std::vector<GpuFacts> gpus;
    std::vector<GpuLink> topology;
    std::vector<std::string> problems;  // Sentences for people: what could not be seen, and why.
    bool operator==(const GpuInventory&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuInventory, (),
                      (source, simulated, driver_version, cuda_version, gpus, topology, problems))

struct HostFacts {
    std::string hostname;
    std::string os;            // "Debian GNU/Linux 12 (bookworm)"
    std::string kernel;        // "6.1.0-18-amd64"
    std::string architecture;  // "x86_64", "aarch64"
    std::string cpu_model;
    int cpus = 0;  // Logical ones, online.
    std::int64_t memory_bytes = 0;
    std::int64_t disk_bytes = 0;       // Of the file system that holds the workloads' data.
    std::int64_t disk_free_bytes = 0;  // Free for a process without privilege.
    std::int64_t volume_bytes = 0;     // That volumes may have there, those that are there included.
    std::string volumes_refused;       // Why it keeps none, in words; empty: it does.
    bool limits_disk = false;          // Of what containers write beside their volumes.
    std::string disk_unlimited;        // Why it does not, in words; empty: its agent does not say.
    bool keeps_layers = false;         // Of what containers write, when they are told to.
    bool user_namespaces = false;      // Root of a container is nobody on the host.
    bool programs = false;             // It runs programs without containers.
    bool clusters = false;             // It may become a node of a cluster.
    bool cluster_saves = false;        // It has the folder of their saves.
    bool virtual_machine = false;      // A hypervisor announces itself.
    bool measures = false;             // Its agent measures what it is told to.
    std::string unmeasurable;          // Why its GPUs cannot be measured, a sentence; empty: they can.
    std::string files_damaged;         // What its agent found damaged when it began; empty: nothing.
    std::string driver_version;        // Of the GPU driver.
    std::string cuda_version;
    bool simulated = false;  // At least one GPU is simulated; people are told wherever the host appears.
    std::string boot_id;     // Changes at every boot.
    std::string serial;  // Of the machine, by its firmware; empty: it says none, as in most virtual machines.
    std::string system_uuid;  // The same.
    std::vector<std::string>
        addresses;  // By which others reach it: IPv4, then IPv6, not those of containers' bridges.
    std::vector<GpuFacts> gpus;     // By PCI address.
    std::vector<GpuLink> topology;  // By (a, b).
    std::vector<std::string> problems;
    bool operator==(const HostFacts&) const = default;
};
BOOST_DESCRIBE_STRUCT(HostFacts, (),
                      (hostname, os, kernel, architecture, cpu_model, cpus, memory_bytes, disk_bytes,
                       disk_free_bytes, volume_bytes, volumes_refused, limits_disk, disk_unlimited,
                       keeps_layers, user_namespaces, virtual_machine, measures, unmeasurable, files_damaged,
                       driver_version, cuda_version, simulated, boot_id, serial, system_uuid, addresses, gpus,
                       topology, problems, programs, clusters, cluster_saves))

}  // namespace hostler
