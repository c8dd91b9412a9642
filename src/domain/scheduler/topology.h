// How the GPUs of one host reach each other, and which of the free ones a task takes.
#pragma once

#include <array>
#include <cstdint>

#include "domain/inventory/host.h"
#include "domain/scheduler/shape.h"

namespace hostler {

using GpuSet = std::uint16_t;  // Bit i: GPU i of the host.

// By GPU: those with the same number reach each other like this.
struct Topology {
    using Groups = std::array<std::int8_t, gpus_max>;
    Groups nvlink, pcie, numa;
    bool operator==(const Topology&) const = default;
};

// As the host's agent saw it; a GPU's number is its place in facts.gpus.
Topology topology_of(const HostFacts& facts);

// `count` of the free GPUs that reach each other as asked, those whose leaving disturbs others least: of
// the groups that suffice the one with the fewest to spare, by NVLink, then PCIe, then NUMA node. 0: there
// are no such.
GpuSet pick(const Topology& topology, Link link, GpuSet free, int count);
// The most that pick() would find.
int most(const Topology& topology, Link link, GpuSet free);

}  // namespace hostler
