// What a benchmark measured of a machine's GPUs.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "domain/inventory/sample.h"

namespace hostler {

// Copying from one GPU's memory to another's.
struct GpuPeerFigure {
    std::string uuid;  // The other GPU.
    Metric copy_mb_s;
    bool direct = false;  // Without a detour through the memory of the host.
    bool operator==(const GpuPeerFigure&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuPeerFigure, (), (uuid, copy_mb_s, direct))

// A speed is the median of many runs, and is there only if the results of all of them were right. MB are 10^6
// bytes, GFLOP 10^9 operations.
struct GpuFigures {
    std::string uuid;
    std::string product;          // As the driver calls it.
    Metric memory_checked_bytes;  // Written with words from a seed and read back right.
    Metric memory_copy_mb_s;      // Bytes read and bytes written together.
    Metric fp32_gflops;           // Fused multiply-adds in registers, two operations each.
    Metric tensor_gflops;         // Matrix units, bf16 with fp32 sums, by mma.sync out of registers.
    Metric host_to_gpu_mb_s;      // From and to pinned memory.
    Metric gpu_to_host_mb_s;
    std::vector<GpuPeerFigure> peers;
    std::vector<std::string> skipped;  // Sentences: what was not measured, and why.
    std::vector<std::string> faults;   // Sentences: what it computed or kept wrongly.
    bool operator==(const GpuFigures&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuFigures, (),
                      (uuid, product, memory_checked_bytes, memory_copy_mb_s, fp32_gflops, tensor_gflops,
                       host_to_gpu_mb_s, gpu_to_host_mb_s, peers, skipped, faults))

}  // namespace hostler
