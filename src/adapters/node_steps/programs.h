// Programs that a step begins and that keep running when the agent has ended.
#pragma once

#include <string>
#include <vector>

#include "adapters/node_steps/settings.h"
#include "adapters/node_steps/stop.h"

namespace hostler::node_steps {

// Each has a folder, SETTINGS.folder/programs/NODE/STEP: `program` has its arguments, as they were begun;
// what a keeper adds is in keeper.h. All calls block.
class Programs {
public:
    explicit Programs(const StepSettings& settings) : settings_(settings) {}

    // It runs when this returns, unless it has ended by itself meanwhile. One that runs with other arguments
    // is ended first, and so is any if `fresh`. Errors: not_found (program_missing), unavailable, timeout
    // (step_late).
    Result<> begin(const std::string& node, const std::string& step, std::vector<std::string> arguments,
                   bool fresh, const Stop& stop);
    // Ends it; nothing of it is begun again. Errors: unavailable.
    Result<> end(const std::string& node, const std::string& step);
    // The same of all of a node, and removes its folder; with the last node, the files of steps, too.
    Result<> end_all(const std::string& node);
    bool runs(const std::string& node, const std::string& step) const;
    // Begins what was begun and does not run, as after a start of the machine. The first error.
    Result<> resume(const Stop& stop);

private:
    std::string folder_of(const std::string& node, const std::string& step) const;
    Result<> begin_unit(const std::string& unit, const std::vector<std::string>& arguments, const Stop& stop);
    Result<> begin_kept(const std::string& node, const std::string& step, const Stop& stop);

    const StepSettings& settings_;
};

std::string program_text(const std::vector<std::string>& arguments);
std::vector<std::string> parse_program(std::string_view text);

}  // namespace hostler::node_steps
