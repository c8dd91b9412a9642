// Exec plugins: programs that print a credential, as of client.authentication.k8s.io.
#pragma once

#include <chrono>

#include "adapters/kubernetes/access.h"
#include "core/timers.h"

namespace hostler::kubernetes {

struct PluginCredential {
    std::string token{};
    std::string certificate{};          // PEM; with `key`.
    std::string key{};                  // PEM.
    std::optional<WallTime> expires{};  // Absent: it does not.
};

inline constexpr std::size_t plugin_output_bytes_max = 1 << 20;

// What a plugin finds in KUBERNETES_EXEC_INFO.
std::string plugin_info(const Access& access);
// What a plugin printed. Errors: invalid, with the wrong field.
Result<PluginCredential> read_credential(std::string_view output, const std::string& api_version);

// Runs the plugin of `access` and reads its answer. Blocks: for a Worker. Past the deadline it is killed with
// all that it started. Errors: not_found (no such program; with the plugin's install hint), unauthenticated
// (it failed; with the first line of its standard error), invalid (its answer), timeout, unavailable.
Result<PluginCredential> run_plugin(const Access& access, std::chrono::milliseconds deadline);

}  // namespace hostler::kubernetes
