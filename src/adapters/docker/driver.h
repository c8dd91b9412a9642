// What containers need of a GPU's driver, where no CDI file of the operator's says it: looked for on this
// host and described as such a file would.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "adapters/docker/cdi.h"
#include "core/kernel_files.h"
#include "domain/inventory/host.h"

namespace hostler::docker {

struct DriverRoots {
    KernelRoots kernel{};
    std::string files{};  // Before "/usr/lib", where another system lies there; empty: this one.
};

// What lies on a host.
struct DriverFiles {
    std::set<std::string> nodes;  // Of "/dev/nvidia…" and "/dev/kfd".
    std::string version;         // Of NVIDIA's kernel module, which its libraries have to be of; empty: none.
    std::string library_folder;  // Where those are; empty: they were not found.
    std::map<std::string, std::set<std::string>>
        libraries;                   // "libcuda.so.580.1": links to it, "libcuda.so.1".
    std::set<std::string> programs;  // "/usr/bin/nvidia-smi"
};

// Blocks, shortly: it reads a few folders.
DriverFiles look_for_driver(const DriverRoots& roots);

// What a container would lack with this GPU, a sentence each; empty: nothing.
std::vector<std::string> missing(const GpuFacts& gpu, const DriverFiles& files, const DriverRoots& roots);

// The GPUs that lack nothing, as files that every file of an operator's wins over. Paths are the host's.
std::vector<CdiFile> describe(std::span<const GpuFacts> gpus, const DriverFiles& files,
                              const DriverRoots& roots);

// Why a container could not be given this GPU, a sentence each; empty: it could. By an operator's file in
// `folders`, else by what lies on this host. Blocks, shortly.
std::vector<std::string> unusable(const GpuFacts& gpu, std::span<const std::string> folders,
                                  const DriverRoots& roots);

}  // namespace hostler::docker
