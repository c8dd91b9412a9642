// Runs a short program and waits for it. Blocks: for a Worker.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/result.h"

namespace hostler::disk {

struct ToolEnd {
    int exit_code = 0;   // 128 + the signal's number for one that was killed.
    std::string output;  // Both streams, the first 16 KiB.
};

// `arguments[0]` is looked up in PATH and in the folders of administrators' programs. `keep` stays open in
// it, under another number, and whatever is locked through it stays locked as long as it runs; -1: none. Past
// the deadline it is killed. Errors: not_found (no such program), timeout, unavailable (no process can be
// made).
Result<ToolEnd> run_tool(std::vector<std::string> arguments, std::chrono::milliseconds deadline,
                         int keep = -1);

// Where it is; empty: nowhere.
std::string find_tool(const std::string& name);

}  // namespace hostler::disk
