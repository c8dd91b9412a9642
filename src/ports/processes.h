// What a host's kernel knows of the programs in a container, and no engine tells.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/task.h"

namespace hostler {

// Processes of a container that the kernel killed for want of memory.
struct MemoryKills {
    std::uint64_t count = 0;  // Since the container was started.
    std::string process;      // The name of the last one, as it called itself; empty: not known.
    bool operator==(const MemoryKills&) const = default;
};

class Processes {
public:
    virtual ~Processes() = default;
    // The addresses on which programs in a running container take connections to this TCP port: "127.0.0.1",
    // "0.0.0.0", "::1", "::"; each once, none if nothing listens. Errors: not_found (it does not run),
    // unavailable, timeout.
    virtual Task<std::vector<std::string>> listening(std::string container, std::uint16_t port) = 0;
    // Of those that run, by container; one whose kernel does not tell is left out. Reads one small file each
    // while nothing is killed. Errors: unavailable, timeout.
    virtual Task<std::map<std::string, MemoryKills>> memory_kills(std::vector<std::string> containers) = 0;
};

}  // namespace hostler
