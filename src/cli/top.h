// `hostler top`: what GPUs, hosts and instances do, as it changes.
#pragma once

#include <CLI/CLI.hpp>

#include "api/types_usage.h"
#include "cli/client.h"
#include "cli/render.h"

namespace hostler::cli {

struct TopCommand {
    CLI::App* app = nullptr;
    std::string zone;
    std::string host;
    std::string tenant;
    double interval_s = 1;

    void add(CLI::App& parent);
    bool chosen() const { return app && app->parsed(); }
};

struct Top {
    std::vector<api::GpuUsage> gpus;
    std::vector<api::HostUsage> hosts;  // Empty with a tenant's key.
    WallTime at;
    std::string trouble;  // Why this is older than it should be; empty: it is not.
};

// How it is drawn. `rows` 0: all of it; else GPUs from number `first` on, as many as there is room for.
struct TopView {
    int rows = 0;
    int columns = 0;  // 0: as wide as need be.
    bool colour = false;
    std::size_t first = 0;
};
// Lines of at most `columns` letters, without ends.
std::vector<std::string> top_lines(const Top& top, const TopView& view);

// In a terminal until q is pressed; else one look. Errors: as the API's.
Task<> run_top(CliWorld& world, ApiClient& client, const TopCommand& command, const Style& style);

}  // namespace hostler::cli
