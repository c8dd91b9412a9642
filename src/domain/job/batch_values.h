// Values of `#SBATCH` options. Each error is a phrase that shows the value and the notation.
#pragma once

#include "domain/job/batch_script.h"

namespace hostler::batch {

// Digits only, min..max.
Result<std::int64_t> read_number(std::string_view value, std::int64_t min, std::int64_t max);
// Seconds, rounded up to a minute; 0: no limit. "30", "1:30", "2:00:00", "1-12", "1-12:30", "1-12:30:00".
Result<std::int64_t> read_time(std::string_view value);
// Bytes, from 1. "1000", "1000M", "4G", "4GB"; powers of 1,024, as in Slurm.
Result<std::int64_t> read_memory(std::string_view value);
// Checks that one host is enough.
Result<> read_nodes(std::string_view value);

struct GpuAsk {
    std::string type;  // Empty: any.
    std::int64_t count = 0;
    bool operator==(const GpuAsk&) const = default;
};
inline constexpr std::int64_t gpus_asked_max = 65'536;
// "2", "a100:2"
Result<GpuAsk> read_gpus(std::string_view value);
// "gpu", "gpu:2", "gpu:a100", "gpu:a100:2", "none"
Result<GpuAsk> read_gres(std::string_view value);

Result<std::vector<BatchDependency>> read_dependencies(std::string_view value);
Result<BatchEnvironment> read_environment(std::string_view value);
Result<BatchSignal> read_signal(std::string_view value);
Result<std::string> read_workdir(std::string_view value);

}  // namespace hostler::batch
