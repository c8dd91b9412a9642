// What this machine has, as the kernel and drivers tell it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "adapters/amd/amd.h"
#include "adapters/intel/intel.h"
#include "adapters/nvml/nvml.h"
#include "adapters/sysfs/host.h"
#include "adapters/sysfs/kernel_log.h"
#include "adapters/sysfs/pci.h"
#include "bin/process.h"
#include "core/kernel_files.h"

namespace hostler::bin {

// Where it is looked for.
struct Hardware {
    KernelRoots roots;
    std::string nvml;
    std::string disk = "/";
};

void add_hardware_options(CLI::App& app, Hardware& hardware);

// Every way of seeing GPUs, the most telling first.
struct Eyes {
    Eyes(Process& process, const Hardware& hardware);
    std::vector<Telemetry*> gpus() { return {&nvml, &amd, &intel, &pci, &kernel}; }
    Nvml nvml;
    Amd amd;
    Intel intel;
    PciBus pci;
    KernelLog kernel;
    LinuxHost host;
};

}  // namespace hostler::bin
