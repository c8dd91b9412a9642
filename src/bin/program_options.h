// What the owner of a host allows of programs without containers.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "adapters/docker/engine_settings.h"
#include "adapters/program/settings.h"

namespace hostler::bin {

inline constexpr const char* program_state = "programs";  // In the agent's --data.

struct ProgramOptions {
    bool allowed = false;
    std::string users = "1800000000:4096";  // FIRST:COUNT
    std::string network = "none";           // none | host
    std::vector<std::string> hidden{};      // Absolute, beside those that are always hidden.

    void add_to(CLI::App& app);
};

// Errors: invalid.
Result<> check(const ProgramOptions& options);

// `data`: of the agent, absolute. `devices`: as containers get them. The options are right.
program::ProgramSettings program_settings(const ProgramOptions& options, const std::filesystem::path& data,
                                          docker::EngineSettings devices);

}  // namespace hostler::bin
