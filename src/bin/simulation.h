// Hosts that do not exist: what their agents see of them, as files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler::bin {

// --simulate hosts=2,gpus=8,model="H100 SXM5 80GB"[,cpus=64,memory=1Ti]
struct SimulatedEstate {
    int hosts = 2;  // 1..16
    int gpus = 8;   // 0..16, on each.
    std::string model = "H100 SXM5 80GB";
    int cpus = 0;                   // 0: 16 for each GPU, 16 without.
    std::int64_t memory_bytes = 0;  // 0: 128 GiB for each GPU, 64 GiB without.
};

// Errors: invalid, naming every wrong part.
Result<SimulatedEstate> parse_simulated_estate(std::string_view text);

// What an agent is given to see one such host. Made in `folder`; the same name again is the same host.
struct SimulatedFiles {
    std::vector<std::string> arguments;  // Of hostler-agent.
    std::string state;                   // The simulated NVML's state file.
    bool open_to_all = false;            // /dev/null stands for its GPUs: there is no other device.
};
Result<SimulatedFiles> make_simulated_host(const SimulatedEstate& estate, const std::string& name,
                                           const std::filesystem::path& folder,
                                           const std::filesystem::path& nvml_library);

}  // namespace hostler::bin
