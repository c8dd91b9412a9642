// `hostler consolidate`: shows which moves would free whole hosts, and has them made when it is told to.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/client.h"
#include "cli/render.h"

namespace hostler::cli {

struct ConsolidateCommand {
    CLI::App* app = nullptr;
    std::string zone;
    int max_moves = 100;
    int at_once = 4;
    bool wait = false;
    std::string timeout = "1h";

    void add(CLI::App& parent);
    bool chosen() const { return app && app->parsed(); }
};

// Errors: as the API's; invalid (--yes is needed where nobody can be asked); timeout.
Task<> run_consolidate(CliWorld& world, ApiClient& client, const ConsolidateCommand& command,
                       const Style& style, bool yes);

}  // namespace hostler::cli
