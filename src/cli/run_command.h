// The words of `hostler run`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/result.h"

namespace hostler::cli {

struct RunCommand {
    // A flag that is a field of the request.
    struct Given {
        std::string flag;      // "--time-limit"
        std::string property;  // "timeLimitSeconds"
        std::vector<std::string> values{};
    };

    CLI::App* app = nullptr;
    std::vector<std::string> words;  // The command behind "--", or what stands behind a script.
    std::string script;              // A file; empty: the command is `words`.
    std::vector<Given> given;
    std::string gpus, gpu_type, cpu, memory;
    bool program = false;
    bool gang = false;
    bool detach = false;

    void add(CLI::App& parent);
    bool chosen() const { return app && app->parsed(); }
    // Cuts off the command, or the script with its arguments, when `args[at]` is this command's word.
    void take_words(std::vector<std::string>& args, std::size_t at);
    // Errors: invalid: the command, which begins with `extra`, stands without a "--".
    Result<> refuse_words(const std::vector<std::string>& typed, const std::string& extra) const;
};

}  // namespace hostler::cli
