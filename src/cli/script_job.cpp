#include "cli/script_job.h"

#include <fmt/format.h>

#include <pwd.h>
#include <unistd.h>

#include <algorithm>

#include "domain/job/batch_script.h"
#include "domain/job/rendezvous.h"

namespace hostler::cli {

namespace json = boost::json;

namespace {

constexpr std::size_t command_max = 32'768;
constexpr std::int64_t priority_max = 1'000;

std::string array_text(const JobArray& array) {
    std::string text;
    for (const ArrayRange& range : array.ranges) {
        if (!text.empty()) text += ',';
        text += std::to_string(range.first);
        if (range.last != range.first) text += fmt::format("-{}", range.last);
        if (range.step != 1) text += fmt::format(":{}", range.step);
    }
    if (array.at_most > 0) text += fmt::format("%{}", array.at_most);
    return text;
}

std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words(1);
    for (const char c : line) {
        const bool blank = c == ' ' || c == '\t';
        if (!blank) words.back() += c;
        if (blank && !words.back().empty()) words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

// The interpreter with a text as its program. Errors: invalid: it takes none.
Result<std::vector<std::string>> program(const BatchScript& script,
                                         const std::vector<std::string>& arguments) {
    std::vector<std::string> words = words_of(script.interpreter);
    const auto last_part = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    std::size_t at = 0;
    if (!words.empty() && last_part(words[0]) == "env")
        while (++at < words.size() && words[at].starts_with('-')) continue;
    const std::string name = at < words.size() ? last_part(words[at]) : "";
    constexpr auto shells = std::to_array<std::string_view>({"sh", "bash", "dash", "ash", "ksh", "zsh"});
    const bool shell = std::ranges::find(shells, name) != shells.end();
    const bool python = name.starts_with("python");
    if (!shell && !python && name != "perl" && name != "ruby")
        return fail(
            Code::invalid,
            fmt::format("'{}' takes no program as a text: put the script onto a volume, and name its path "
                        "behind --",
                        script.interpreter));
    words.emplace_back(shell || python ? "-c" : "-e");
    words.push_back(script.text);
    if (shell) words.push_back(script.name);  // Its $0.
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

// The script's shell gets it, so long before the time limit; Slurm, too, signals only what srun starts where
// the script does not say "B:".
bool is_signalled(const BatchScript& script) {
    return !script.signal.name.empty() && script.signal.shell_only && script.time_limit_s > 0;
}

// What is known only where it runs. mpirun, as Slurm's own, starts its processes in this container.
std::string prelude(const BatchScript& script) {
    std::string text =
        "host=\"${HOSTNAME:-$(cat /etc/hostname)}\"; export SLURM_JOBID=\"$SLURM_JOB_ID\" "
        "SLURM_NODELIST=\"$host\" SLURM_JOB_NODELIST=\"$host\" SLURMD_NODENAME=\"$host\"; unset host";
    if (!script.workdir.empty()) text += "; cd -- " + quoted({script.workdir}) + " || exit 1";
    if (is_signalled(script))  // $$ is the script's, as exec keeps it.
        text += fmt::format("; (sleep {}; kill -{} $$) </dev/null >/dev/null 2>&1 &",
                            std::max<std::int64_t>(script.time_limit_s - script.signal.seconds_before, 0),
                            script.signal.number);
    else
        text += ';';
    return text + " exec \"$@\"";
}

void take_variables(const BatchScript& script, const CliWorld& world, ScriptJob& into) {
    json::array envs;
    std::vector<std::string> names;
    const auto add = [&](const std::string& name, const std::string& value) {
        if (std::ranges::find(names, name) != names.end()) return;
        names.push_back(name);
        envs.push_back(json::object{{"name", name}, {"value", value}});
    };
    for (const BatchVariable& one : script.environment.set) add(one.name, one.value);
    for (const std::string& name : script.environment.names) {
        if (name == "PATH" || name == "HOME") continue;  // Of the image.
        if (const auto value = world.env(name)) add(name, *value);
    }
    // Those of the place come from the master.
    TaskPlace place{.part = TaskPart::script,
                    .job_name = script.name,
                    .tasks = script.tasks,
                    .cpus_per_task = script.cpus_per_task,
                    .gpus = script.gpus};
    for (const auto& [name, value] : slurm_variables(place)) add(name, value);
    into.job["envs"] = std::move(envs);
}

void take_dependencies(const BatchScript& script, std::vector<FieldError>& wrong, ScriptJob& into) {
    json::array after;
    for (const BatchDependency& one : script.dependencies) {
        std::string_view when;
        switch (one.after) {
            case After::ok: when = "succeeded"; break;
            case After::any: when = "ended"; break;
            case After::not_ok: when = "failed"; break;
            case After::start: break;
        }
        if (when.empty())
            wrong.push_back({"--dependency", "a job waits for the end of another one, not for its begin"});
        else if (one.job.contains('_'))
            wrong.push_back({"--dependency", fmt::format("'{}': a job waits for a whole job", one.job)});
        else
            after.push_back(json::object{{"job", one.job}, {"when", when}});
    }
    if (!after.empty()) into.job["after"] = std::move(after);
}

void take_notes(const BatchScript& script, const std::string& file, ScriptJob& into) {
    for (const BatchNote& note : script.notes)
        into.notes.push_back(fmt::format("{} line {}: {}{}{}: {}", file, note.line, note.option,
                                         note.value.empty() ? "" : "=", note.value, note.message));
    const auto note = [&](std::string_view text) { into.notes.push_back(fmt::format("{}: {}", file, text)); };
    if (!script.signal.name.empty() && !script.signal.shell_only)
        note(
            "--signal has no effect: as with sbatch it is for what srun starts; write --signal=B:… for the "
            "script itself");
    if (script.requeue == false) note("--no-requeue has no effect: a task whose host is lost is tried again");
    if (script.environment.names.empty()) return;
    for (const std::string& name : script.environment.names)
        if (name == "PATH" || name == "HOME") note(fmt::format("--export: {} is that of the image", name));
}

void take_order(const BatchScript& script, ScriptJob& into) {
    std::int64_t wanted = script.priority.value_or(0) - script.nice;
    const std::int64_t taken = std::clamp(wanted, -priority_max, priority_max);
    if (taken != 0) into.job["priority"] = taken;
    if (taken != wanted)
        into.notes.push_back(fmt::format("priority {} is taken as {}, which is the farthest", wanted, taken));
}

}  // namespace

std::string quoted(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) {
        if (!line.empty()) line += ' ';
        const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   std::string_view{"-_./:=,+@%^"}.contains(c);
        });
        if (plain) {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word) line += c == '\'' ? std::string{"'\\''"} : std::string{c};
        line += '\'';
    }
    return line;
}

Result<ScriptJob> job_of_script(std::string_view text, const std::string& file,
                                const std::vector<std::string>& arguments, const CliWorld& world) {
    auto read = read_batch_script(text);
    if (!read) {
        for (FieldError& one : read.error().fields) one.path = fmt::format("{} {}", file, one.path);
        return std::unexpected(std::move(read).error());
    }
    BatchScript script = std::move(*read);
    if (script.name.empty()) script.name = file.substr(file.rfind('/') + 1);
    ScriptJob made{.name = script.name,
                   .output = {.output = script.output,
                              .error = script.error,
                              .append = script.append,
                              .name = script.name,
                              .user = world.env("USER").value_or("")}};
    if (made.output.user.empty())
        if (const passwd* me = ::getpwuid(::getuid())) made.output.user = me->pw_name;
    std::vector<FieldError> wrong;
    take_notes(script, file, made);
    take_variables(script, world, made);
    take_dependencies(script, wrong, made);
    take_order(script, made);
    if (script.time_limit_s > 0) made.job["timeLimitSeconds"] = script.time_limit_s;
    if (!script.array.ranges.empty()) made.job["array"] = array_text(script.array);
    if (script.hold) made.job["hold"] = true;
    if (script.gpus > 0) made.shape.gpus = script.gpus;
    made.shape.gpu_type = script.gpu_type;
    made.shape.cpu = Quantity::of_units(script.tasks * script.cpus_per_task);
    if (script.memory_bytes > 0) made.shape.memory = Quantity::of_units(script.memory_bytes);
    const std::vector<std::string> inner = TRY(program(script, arguments));
    std::vector<std::string> words{"/bin/sh", "-c", prelude(script), "sh"};
    words.insert(words.end(), inner.begin(), inner.end());
    std::string command = quoted(words);
    if (command.size() > command_max) {
        auto error =
            fail(Code::invalid,
                 fmt::format("{} is too long: as a command it has {} characters, and {} are the most", file,
                             command.size(), command_max),
                 "script_too_long");
        error.error().help = fmt::format(
            "Put it onto a volume and run it from there: hostler run --volume NAME:/scripts --image IMAGE -- "
            "/scripts/{}",
            script.name);
        return error;
    }
    made.job["cmd"] = std::move(command);
    if (wrong.empty()) return made;
    Error error{.code = Code::invalid, .message = fmt::format("{} asks for what a job has not", file)};
    error.fields = std::move(wrong);
    return std::unexpected(std::move(error));
}

}  // namespace hostler::cli
