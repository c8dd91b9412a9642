// `hostler-agent supervise`: the process beside the containers that ends what has no lease any more.
#pragma once

#include <filesystem>

#include "adapters/disk/leases.h"
#include "bin/process.h"

namespace hostler::bin {

inline constexpr const char* supervise_command = "supervise";

// Starts this program again as one, in a session and, where the kernel lets it, a control group of its own:
// who ends the agent, also with all of its group, does not end it.
disk::StartSupervisor supervisor_starter(std::filesystem::path leases, std::string engine,
                                         std::filesystem::path programs);

struct SuperviseOptions {
    std::string leases, engine, programs, boot;
};
// Until there is nothing to watch over. Ends at once where another one runs.
Task<> supervise(Process& process, SuperviseOptions options);

}  // namespace hostler::bin
