// Logs of ended instances: a file each in one folder.
#pragma once

#include <chrono>
#include <memory>

#include "core/worker.h"
#include "ports/logs.h"

namespace hostler::disk {

struct LogLimits {
    std::size_t files_max = 256;
    std::chrono::hours age_max{24 * 14};
};

// Makes the folder, private to its owner. What is over the limits goes whenever something is kept. The worker
// outlives the store. Errors: unavailable (the folder cannot be made).
Result<std::unique_ptr<LogStore>> open_logs(Worker& worker, std::string folder, LogLimits limits = {});

}  // namespace hostler::disk
