// Options of `hostler-agent gpu …`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "bin/gpu_commands.h"
#include "bin/hardware.h"

namespace hostler::bin {

struct GpuOptions {
    explicit GpuOptions(CLI::App& app, Hardware& hardware);
    CLI::App* show;
    CLI::App* benchmark;
    CLI::App* measure;
    CLI::App* challenge;
    CLI::App* prove;
    bool json = false;
    BenchmarkWish wish;
    double seconds = 10;
    std::string only;
    ChallengeWish dare;
    std::uint32_t seed = 0;
};

}  // namespace hostler::bin
