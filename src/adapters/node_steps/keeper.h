// The process that keeps a program running where no service manager does: it starts it again when it ends,
// later each time, and writes its outputs to a log of bounded size. It outlives the agent that made it.
#pragma once

#include <string>

namespace hostler::node_steps {

// Files in the folder of a program:
//   program   its arguments
//   alive     locked by its keeper, as long as that lives
//   keeper    number of that process
//   log, log.old
inline constexpr int ready_end = 3;                    // Where it tells that it has begun: "ok".
inline constexpr std::size_t log_bytes_max = 8 << 20;  // Then it becomes log.old.

// Runs what follows in a new session. The exit code.
int keep_main(const std::string& folder, const std::string& path);
// Whether a keeper lives there.
bool is_kept(const std::string& folder);

}  // namespace hostler::node_steps
