// The options that a `#SBATCH` line may have, and what each does to the script that is being read.
#pragma once

#include <span>

#include "domain/job/batch_values.h"

namespace hostler::batch {

template <class T>
struct Said {
    T value{};
    int line = 0;
};

// What was read so far. Wishes that depend on others are joined at the end (join).
struct Draft {
    BatchScript script;
    std::optional<Said<std::int64_t>> tasks, tasks_per_node, memory, memory_per_cpu;
    std::optional<Said<GpuAsk>> gpus, gpus_per_node, gpus_per_task;
    int signal_line = 0;
    std::vector<FieldError> wrong;

    void refuse(int line, std::string message);
};

enum class Takes { nothing, value, perhaps };  // perhaps: only as --name=value.
enum class Use { read, noted, refused };

struct Option {
    std::string_view name;  // "time"
    char letter = 0;        // 't'; 0: none.
    Takes takes = Takes::value;
    Use use = Use::read;
    std::string_view words;  // Why it has no effect, or is refused and what would help.
    Result<> (*read)(Draft&, std::string_view value, int line) = nullptr;
};

std::span<const Option> options();

// Puts together what several options say; each conflict is a wrong line.
void join(Draft& draft);

}  // namespace hostler::batch
