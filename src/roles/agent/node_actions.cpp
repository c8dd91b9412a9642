// Steps of clusters: what a driver of this agent says, with the values of the command, and nothing else.
#include <fmt/format.h>

#include <algorithm>

#include "core/log.h"
#include "core/utf8.h"
#include "domain/cluster/save.h"
#include "proto/uplink.pb.h"
#include "roles/agent/job.h"

namespace hostler::agent {

namespace {

// Errors: invalid (value_missing), naming no value.
Result<std::string> fill(const std::string& text, const StepValues& values, const DriverStep& step) {
    auto made = filled(text, values);
    if (made) return made;
    return fail(Code::invalid, fmt::format("step {}: {}", step.name, made.error().message), "value_missing");
}

Result<> fill_all(const std::vector<std::string>& from, const StepValues& values, const DriverStep& step,
                  std::vector<std::string>& into) {
    for (const std::string& word : from) into.push_back(TRY(fill(word, values, step)));
    return {};
}

Result<NodeStep> step_of(const DriverStep& step, const StepValues& values) {
    NodeStep made{.name = step.name, .outputs = step.outputs, .deadline = seconds{step.deadline_s}};
    for (const StepFile& file : step.files)
        made.files.push_back(
            {TRY(fill(file.path, values, step)), TRY(fill(file.text, values, step)), file.mode});
    TRY(fill_all(step.run, values, step, made.run));
    TRY(fill_all(step.start, values, step, made.start));
    TRY(fill_all(step.done, values, step, made.done));
    TRY(fill_all(step.undo, values, step, made.undo));
    // Values may be anything: they make no path that a driver did not mean.
    for (const StepFile& file : made.files)
        if (!file.path.starts_with('/') || file.path.contains("/../") || file.path.ends_with("/.."))
            return fail(Code::invalid, fmt::format("step {} would write outside of its folders", step.name),
                        "value_invalid");
    return made;
}

// A save has an id from the master, and its path from this host's operator. Errors: conflict
// (no_saves_folder), invalid (value_invalid).
Result<> place_save(StepValues& values, const std::string& folder) {
    values.erase("save.file"), values.erase("saves.folder");
    const auto id = values.find("save.id");
    if (id == values.end()) return {};
    if (!is_save_id(id->second))
        return fail(Code::invalid, "the id of a save has letters, digits and '-'", "value_invalid");
    if (folder.empty())
        return fail(Code::conflict,
                    "this host has no folder of saves; its operator names it with `hostler-agent run "
                    "--cluster-saves DIR`",
                    "no_saves_folder");
    values["save.file"] = fmt::format("{}/{}.save", folder, id->second);
    values["saves.folder"] = folder;
    return {};
}

// What keeps running would make again what is being cleaned.
std::vector<std::string> ended_before(const Driver& driver, const DriverStep& step) {
    std::vector<std::string> names;
    if (step.phase != StepPhase::clean) return names;
    for (const DriverStep& other : driver.steps)
        if (!other.start.empty() && other.phase != StepPhase::clean) names.push_back(other.name);
    return names;
}

// Its subject is a node that this host is from now on. Steps of place `control` are about other hosts' nodes,
// too.
bool makes_node(const DriverStep& step) {
    if (step.place != StepPlace::node) return false;
    switch (step.phase) {
        case StepPhase::prepare:
        case StepPhase::create:
        case StepPhase::join:
        case StepPhase::refresh:
        case StepPhase::restore: return true;
        case StepPhase::settle:
        case StepPhase::drain:
        case StepPhase::leave:
        case StepPhase::clean:
        case StepPhase::save:
        case StepPhase::erase: return false;
    }
    return false;
}

// Programs print what they were given. What steps put out is secret, in a message too.
Error without_outputs(Error error, const Driver& driver, const StepValues& values) {
    constexpr std::size_t secret_bytes_min = 4;  // Anything shorter is in too many words.
    for (const DriverStep& step : driver.steps)
        for (const std::string& name : step.outputs) {
            const auto value = values.find(name);
            if (value == values.end() || value->second.size() < secret_bytes_min) continue;
            constexpr std::string_view instead = "(a secret)";
            for (auto at = error.message.find(value->second); at != error.message.npos;
                 at = error.message.find(value->second, at + instead.size()))
                error.message.replace(at, value->second.size(), instead);
        }
    return error;
}

}  // namespace

// Errors: forbidden (clusters_not_allowed), not_found (driver_unknown), conflict (driver_differs).
Result<const KnownDriver*> Executor::driver_of(const std::string& name, const std::string& digest) const {
    if (!settings_.clusters || !ports_.node_steps)
        return fail(
            Code::forbidden,
            "this host is not for clusters; its operator allows it with `hostler-agent run --clusters`",
            "clusters_not_allowed");
    const auto known = settings_.drivers.find(name);
    if (known == settings_.drivers.end())
        return fail(Code::not_found,
                    fmt::format("this agent has no driver {}; give it with --drivers, or upgrade it", name),
                    "driver_unknown");
    if (known->second.digest != digest)
        return fail(
            Code::conflict,
            fmt::format("the driver {} of this agent is not that of the master; give both the same", name),
            "driver_differs");
    return &known->second;
}

Task<> Executor::node_step(JobPtr job) {
    const auto& wanted = job->command.node_step();
    const Driver& driver = CO_TRY(driver_of(wanted.driver(), wanted.driver_digest()))->driver;
    const DriverStep* step = step_named(driver, wanted.name());
    if (!step)
        co_return fail(Code::not_found,
                       fmt::format("the driver {} has no step {}", driver.name, wanted.name()),
                       "step_unknown");
    StepValues values(wanted.values().begin(), wanted.values().end());
    values["agent.folder"] = settings_.cluster_files;
    CO_TRY(place_save(values, settings_.cluster_saves));
    NodeStep filled_step = CO_TRY(step_of(*step, values));
    filled_step.stop = ended_before(driver, *step);
    filled_step.node = job->command.subject();
    filled_step.again = wanted.again() || job->resumed;
    log_info("step {} for node {} of cluster {}", step->name, filled_step.node, wanted.cluster());
    if (step->phase == StepPhase::clean) CO_TRY(co_await hooks_.node_ends());
    auto done = co_await ports_.node_steps->perform(std::move(filled_step));
    if (!done) co_return std::unexpected(without_outputs(std::move(done).error(), driver, values));
    if (makes_node(*step)) CO_TRY(co_await hooks_.node_made(job->command.subject()));
    // Only what the driver names, whatever a program printed.
    for (auto& [name, value] : done->outputs) {
        if (std::ranges::count(step->outputs, name) == 0) continue;
        if (!is_utf8(value))
            co_return fail(Code::conflict,
                           fmt::format("step {} printed a value of {} that is no text", step->name, name),
                           "step_failed");
        job->outputs[name] = std::move(value);
    }
    co_return Result<>{};
}

// Clean steps have ended the programs that were begun for the node. What is kept of it here, as files that
// its clean steps may want again, goes when nothing else is left.
Task<> Executor::node_clean(JobPtr job) {
    const auto& wanted = job->command.node_clean();
    const Driver& driver = CO_TRY(driver_of(wanted.driver(), wanted.driver_digest()))->driver;
    const std::string node = job->command.subject();
    job->leftovers = CO_TRY(co_await ports_.node_steps->look(driver.leftovers));
    if (job->leftovers.empty()) co_return co_await ports_.node_steps->forget(node);
    log_warn("{} things of node {} are left on this host; the first is {} {}", job->leftovers.size(), node,
             job->leftovers[0].kind, job->leftovers[0].name);
    co_return Result<>{};
}

}  // namespace hostler::agent
