// Which devices the processes of a control group of version 2 may open: a BPF program decides.
#pragma once

#include <linux/bpf.h>

#include <span>
#include <string>
#include <vector>

#include "adapters/program/control_groups.h"

namespace hostler::program {

// Allows reading, writing and making of the devices, and nothing of any other.
std::vector<bpf_insn> device_filter(std::span<const GroupDevice> devices);

// The filter is the group's as long as the group lives. Errors: unavailable (the kernel has none, or does not
// let us).
Result<> filter_devices(const std::string& folder, std::span<const GroupDevice> devices);

}  // namespace hostler::program
