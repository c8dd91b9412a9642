// Processes of instances that the kernel killed for want of memory, while their programs went on.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "roles/agent/settings.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {

class MemoryWatch {
public:
    MemoryWatch(const Settings& settings, const Ports& ports, const Workloads& workloads)
        : settings_(settings), ports_(ports), workloads_(workloads) {}

    Task<> run();  // Looks now and then.
    // As last seen, also of a run that has ended meanwhile; nullopt: the kernel does not tell.
    std::optional<MemoryKills> of(const std::string& instance, std::uint64_t generation) const;

private:
    struct Seen {
        std::uint64_t generation = 0;
        MemoryKills kills;
    };
    Task<> look();

    const Settings& settings_;
    Ports ports_;
    const Workloads& workloads_;
    std::map<std::string, Seen> seen_;
    bool failing_ = false;
};

}  // namespace hostler::agent
