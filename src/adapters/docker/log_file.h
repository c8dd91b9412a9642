// The file in which an engine keeps what a container writes, read from its end: asking the engine for the
// last lines costs podman the square of their number, and neither engine tells cut lines from whole ones.
#pragma once

#include <string>
#include <string_view>

#include "core/log_lines.h"

namespace hostler::docker {

enum class LogFormat {
    k8s,    // Podman: "2026-11-21T11:40:29.000123456+00:00 stdout F hello\n", P where the line goes on.
    local,  // Docker's driver of this name: messages of protobuf, each between its size and its size.
};

struct LogFile {
    LogFormat format = LogFormat::k8s;
    std::string path;      // What is written now; those before it lie beside it.
    WallTime container{};  // When it was started: a first file is older. Epoch: not known.
    bool operator==(const LogFile&) const = default;
};

// Blocks for as long as it takes to read what is asked for. Errors: not_found, unavailable (not of this
// form).
Result<LogPart> read_log(const LogFile& file, const LogsWanted& wanted);

// Of those that HeldLogs keeps.
std::string held_path(std::string_view path);
std::string before_path(std::string_view path);

}  // namespace hostler::docker
