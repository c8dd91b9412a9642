// What a Jupyter server says of its kernels and terminals.
#pragma once

#include <optional>
#include <string_view>

#include "roles/agent/activity.h"
#include "roles/agent/settings.h"

namespace hostler::agent {

// For how long nothing was run in it, after the bodies of its /api/kernels and /api/terminals; 0: a kernel is
// busy; Duration::max(): it has none. nullopt: that is no such answer. What lies in the future is now.
std::optional<Duration> unused_in_jupyter(std::string_view kernels, std::string_view terminals, WallTime now);

// Asks the notebook servers of this host, again and again.
class JupyterWatch {
public:
    JupyterWatch(const Settings& settings, const Ports& ports, const Workloads& workloads, Activity& activity)
        : settings_(settings), ports_(ports), workloads_(workloads), activity_(activity) {}
    Task<> run();  // For ever.
    // Asks one now. Errors: as an HTTP client's; invalid (no such answer).
    Task<Duration> ask(std::string address, std::string path);

private:
    const Settings& settings_;
    Ports ports_;
    const Workloads& workloads_;
    Activity& activity_;
};

}  // namespace hostler::agent
