// The process that holds a program: it starts it, writes its log, ends it and keeps how it ended. It outlives
// the agent that made it.
#pragma once

#include <sys/types.h>

#include "adapters/program/plan.h"

namespace hostler::program {

// `hostler-agent hold-program`, for no one to run by hand.
inline constexpr const char* hold_command = "hold-program";

// Descriptors that a holder is started with.
inline constexpr int plan_end = 3;   // A file: to_text(Plan).
inline constexpr int reply_end = 4;  // Where it tells: "ok", or report_text(). It stays open until the end.
inline constexpr int alive_end = 5;  // The lock of the folder's `alive`.

// What follows in a new session, whose first process has ended at once. The exit code.
int hold_main();

// A request of `control`: SIGTERM now, SIGKILL after so many milliseconds.
std::string stop_request(std::int64_t grace_ms);

}  // namespace hostler::program
