#include "cli/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace hostler::cli {

namespace {

bool is_file(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

void RunCommand::add(CLI::App& parent) {
    app = parent.add_subcommand("run", "Run a program as a job, and print its output.");
    given = {{"--name", "name"},
             {"--spec", "specName"},
             {"--image", "image"},
             {"--env", "envs"},
             {"--volume", "volumes"},
             {"--tasks", "tasks"},
             {"--time-limit", "timeLimitSeconds"},
             {"--priority", "priority"},
             {"--project", "project"},
             {"--tenant-id", "tenantID"}};
    const auto field = [&](std::string_view flag, const char* names, const char* help, const char* type) {
        const auto at = std::ranges::find(given, flag, &Given::flag);
        app->add_option(names, at->values, help)
            ->type_name(type)
            ->expected(1)
            ->allow_extra_args(false)
            ->take_all();
    };
    field("--name", "--name", "Name of the job. Default: of its program, with four letters behind it.",
          "TEXT");
    app->add_option("--gpus", gpus, "GPUs of each task, exactly as many.")->type_name("NUMBER");
    app->add_option("--gpu-type", gpu_type, "Words of the model of the GPUs, as 'h100 80gb'.")
        ->type_name("TEXT");
    field("--spec", "--spec,--spec-name", "Shape of each task. Default: the smallest that has what is asked.",
          "TEXT");
    app->add_option("--cpu", cpu, "CPUs of each task, at least.")->type_name("QUANTITY");
    app->add_option("--memory", memory, "Memory of each task, at least. As 32Gi.")->type_name("QUANTITY");
    field("--image", "--image", "Container image to run; required without --program.", "TEXT");
    app->add_flag(
        "--program", program,
        "Run the command as a program of the host, without a container, where the operator allows it.");
    field("--env", "-e,--env", "Variable of each task; may be repeated.", "NAME=VALUE");
    field("--volume", "-v,--volume", "Volume that each task sees; may be repeated.", "[VOLUME:]/PATH[:ro]");
    field("--tasks", "--tasks", "Number of tasks.", "NUMBER");
    app->add_flag("--gang", gang,
                  "The tasks begin and end together, and find each other by RANK and MASTER_ADDR.");
    field("--time-limit", "--time-limit",
          "Running time after which it is ended. With it a job starts sooner.", "TIME");
    field("--priority", "--priority", "Order among your jobs; more is first.", "NUMBER");
    field("--project", "--project", "Project of the tenant.", "TEXT");
    field("--tenant-id", "--tenant-id,--tenant", "Owning tenant; required with an operator's key.", "TEXT");
    app->add_flag("-d,--detach", detach, "Print the name of the job and leave it.");
    app->footer(
        "The command stands behind --. Its exit code is this command's. Ctrl-C asks whether to cancel the "
        "job;\n"
        "without a terminal it cancels. Example:\n"
        "  hostler run --gpus 2 --image docker.io/pytorch/pytorch:2.9 -- python train.py --epochs 3\n"
        "  hostler run --image docker.io/library/debian:12 train.sh    # a script with #SBATCH lines");
    app->fallthrough()->allow_extras();
}

void RunCommand::take_words(std::vector<std::string>& args, std::size_t at) {
    if (at >= args.size() || args[at] != "run") return;
    const auto begin = args.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    if (const auto dashes = std::find(begin, args.end(), "--"); dashes != args.end()) {
        words.assign(dashes + 1, args.end());
        args.erase(dashes, args.end());
        return;
    }
    const auto takes_next = [&](const std::string& flag) {
        if (flag.contains('=')) return false;
        const CLI::Option* option = app->get_option_no_throw(flag);
        if (!option) option = app->get_parent()->get_option_no_throw(flag);
        return option && option->get_items_expected_min() > 0;
    };
    auto word = begin;
    while (word != args.end() && word->size() > 1 && word->starts_with('-'))
        if (takes_next(*word++) && word != args.end()) ++word;
    if (word == args.end() || !is_file(*word)) return;
    script = *word;
    words.assign(word + 1, args.end());
    args.erase(word, args.end());
}

Result<> RunCommand::refuse_words(const std::vector<std::string>& typed, const std::string& extra) const {
    const auto at = std::ranges::find(typed, extra);
    if (!chosen() || at == typed.end() || !words.empty() || extra.starts_with('-')) return {};
    return fail(Code::invalid,
                fmt::format("there is no file '{}' here; a command stands behind --, as: hostler run "
                            "--image IMAGE -- {}",
                            extra, fmt::join(at, typed.end(), " ")));
}

}  // namespace hostler::cli
