// Commands of steps: run by argument vector, with what they began contained.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/node_steps/settings.h"
#include "adapters/node_steps/stop.h"

namespace hostler::node_steps {

struct CommandEnd {
    int exit_code = 0;   // 128 + the signal's number for one that was killed.
    std::string last;    // The end of what it wrote on both outputs.
    std::string output;  // The beginning of its standard output.
};

inline constexpr std::size_t last_bytes_max = 16 << 10, output_bytes_max = 64 << 10;

// Where the program is that a command names. Errors: not_found (program_missing).
Result<std::string> find_program(const StepSettings& settings, const std::string& name);

struct Start {
    std::vector<std::string> arguments;  // The first is a path.
    std::vector<std::string> environment;
    std::vector<std::string> groups;             // Folders that it enters before it runs.
    std::vector<std::pair<int, int>> streams{};  // Descriptors of ours, each with its number there.
    bool ends_with_us = false;                   // Killed when the thread that started it ends.
};
// A process that leads a new session. Others of our descriptors are closed there as far as they are
// close-on-exec. Errors: not_found (program_missing), unavailable.
Result<pid_t> start_process(const Start& start);

// Until it ends, or has to: then, and once it has ended, all that it began is killed. Standard input is
// empty. `name` is of its groups; a run before of the same name, that an agent which died has left, is ended
// first. Blocks. Errors: not_found (program_missing), timeout (step_late), cancelled, unavailable.
// `sink` is given all of standard output.
Result<CommandEnd> run_command(const StepSettings& settings, const std::string& name,
                               const std::vector<std::string>& arguments, const Stop& stop,
                               const std::function<void(std::string_view)>& sink = {});

// Lines "NAME=VALUE" of the names that are asked for.
std::map<std::string, std::string> outputs_in(std::string_view output, const std::vector<std::string>& names);
// The last lines for people, without the values of `secrets`, and without lines that give one of `names`.
std::string last_lines(std::string_view text, const std::vector<std::string>& names,
                       const std::map<std::string, std::string>& secrets);

}  // namespace hostler::node_steps
