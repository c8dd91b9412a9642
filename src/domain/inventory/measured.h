// What was measured of a host: its GPUs, and the disk under its workloads.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "domain/inventory/figures.h"

namespace hostler {

// One file, written and read from its beginning to its end. MB are 10^6 bytes.
struct DiskFigures {
    Metric write_mb_s;
    Metric read_mb_s;
    std::string skipped;  // A sentence: why one of them is missing.
    bool operator==(const DiskFigures&) const = default;
};
BOOST_DESCRIBE_STRUCT(DiskFigures, (), (write_mb_s, read_mb_s, skipped))

struct HostFigures {
    std::vector<GpuFigures> gpus;
    std::vector<std::string> problems;  // Sentences: of no one GPU.
    DiskFigures disk;
    bool operator==(const HostFigures&) const = default;
};

}  // namespace hostler
