// A batch script of Slurm as a job: the script is the command of one task, which runs it once.
#pragma once

#include <boost/json.hpp>

#include "cli/choose_spec.h"
#include "cli/output_files.h"
#include "cli/world.h"

namespace hostler::cli {

struct ScriptJob {
    boost::json::object job;  // Fields of submitJob, without name, image and spec.
    std::string name;         // As Slurm would call it.
    Shape shape;              // Without a GPU: of any spec.
    OutputWanted output;
    std::vector<std::string> notes;  // What has no effect, a line each.
};

// `file`: its path, for messages. Errors: invalid, with every wrong line; "script_too_long" (as a command it
// has more than 32,768 characters).
Result<ScriptJob> job_of_script(std::string_view text, const std::string& file,
                                const std::vector<std::string>& arguments, const CliWorld& world);

// One line that a shell splits into these words.
std::string quoted(const std::vector<std::string>& words);

}  // namespace hostler::cli
