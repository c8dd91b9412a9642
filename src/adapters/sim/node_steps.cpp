#include "adapters/sim/node_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "core/task_group.h"
#include "ports/leftover_list.h"

namespace hostler::sim {

namespace {

constexpr Duration forever = std::chrono::hours{24 * 365};

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The same text, with something for each '*'.
std::string example_of(std::string pattern) {
    std::ranges::replace(pattern, '*', '1');
    return pattern;
}

struct Kind {
    const char* name;
    const std::vector<std::string> Leftovers::* patterns;
};
constexpr Kind kinds[] = {{"process", &Leftovers::processes},    {"mount", &Leftovers::mounts},
                          {"interface", &Leftovers::interfaces}, {"table", &Leftovers::tables},
                          {"file", &Leftovers::files},           {"cgroup", &Leftovers::cgroups},
                          {"image", &Leftovers::images}};

bool is_of(const Leftovers& what, const Leftover& one) {
    for (const auto& [kind, patterns] : kinds)
        if (one.kind == kind) return fits_any(what.*patterns, one.name);
    return one.kind == "gpu";
}

// What a step does to the machine beside its commands: it makes it dirty, or cleans it.
void leave_traces(NodeHost& host, const std::string& name) {
    for (const Driver& driver : host.drivers) {
        const DriverStep* step = step_named(driver, name);
        if (!step || step->phase == StepPhase::clean || step->phase == StepPhase::save ||
            step->phase == StepPhase::erase || step->place == StepPlace::control)
            continue;
        host.cleaned.clear();
        for (const auto& [kind, patterns] : kinds)
            for (const std::string& pattern : driver.leftovers.*patterns)
                host.left.insert({kind, example_of(pattern)});
    }
}

void clean(NodeHost& host, const NodeStep& done) {
    for (const Driver& driver : host.drivers) {
        const DriverStep* step = step_named(driver, done.name);
        if (!step || step->phase != StepPhase::clean) continue;
        host.cleaned.insert({driver.name, done.name});
        const bool all = std::ranges::all_of(driver.steps, [&](const DriverStep& one) {
            return one.phase != StepPhase::clean || !one.roles.empty() ||
                   host.cleaned.contains({driver.name, one.name});
        });
        if (!all) continue;
        std::erase_if(host.left, [&](const Leftover& one) { return is_of(driver.leftovers, one); });
        std::erase_if(host.files,
                      [&](const auto& file) { return fits_any(driver.leftovers.files, file.first); });
    }
}

std::map<std::string, std::string> outputs_in(std::string_view text, const std::vector<std::string>& names) {
    std::map<std::string, std::string> found;
    for (const auto part : std::views::split(text, '\n')) {
        const std::string line{std::string_view{part}};
        const auto equals = line.find('=');
        if (equals != line.npos && std::ranges::count(names, line.substr(0, equals)) > 0)
            found[line.substr(0, equals)] = line.substr(equals + 1);
    }
    return found;
}

std::string without_outputs(std::string_view text, const std::vector<std::string>& names) {
    std::string kept;
    for (const auto part : std::views::split(text, '\n')) {
        const std::string line{std::string_view{part}};
        if (line.empty() || std::ranges::count(names, line.substr(0, line.find('='))) > 0) continue;
        kept += "\n" + line;
    }
    return kept;
}

}  // namespace

NodeHost::~NodeHost() {
    while (!running.empty()) end(running.begin()->first);
}

void NodeHost::end_orphans(const std::string& node) {
    for (auto at = running.begin(); at != running.end();) {
        const auto& [id, one] = *at++;
        if (one.orphan && one.of.first == node) end(id);
    }
}

void NodeHost::power_cut() {
    while (!running.empty()) end(running.begin()->first);
}

// In the middle of its time.
void NodeHost::take_effect(Running& one) {
    if (!one.asks) leave_traces(*this, one.of.second);
    if (one.works && plays && !commands.contains(one.words[0])) {
        const Duration time = one.plays.time;
        one.plays = plays(one.words);
        one.plays.time = time;
    }
    if (!one.works || one.asks || one.plays.exit_code != 0) return;
    done.insert(one.of);
    if (one.plays.marks) marked.insert(one.words[0]);
}

// Nobody waits for its end.
void NodeHost::go_on_alone(std::uint64_t id, Duration until_middle, Duration rest) {
    Running& one = running.at(id);
    one.orphan = true;
    if (!beside) return;
    const auto at_end = [this, id, rest] {
        running.at(id).wake = beside->schedule(beside->now() + rest, [this, id] {
            running.at(id).wake = 0;
            end(id);
        });
    };
    if (until_middle == Duration{}) return at_end();
    one.wake = beside->schedule(beside->now() + until_middle, [this, id, at_end] {
        take_effect(running.at(id));
        at_end();
    });
}

void NodeHost::end(std::uint64_t id) {
    const auto at = running.find(id);
    if (at->second.wake != 0) beside->cancel(at->second.wake);
    alive.erase(alive.find(at->second.words[0]));
    running.erase(at);
}

struct SimNodeSteps::Performance {
    NodeStep step;
    Instant until;
    NodeHost::Step key;
    std::map<std::string, std::string> outputs{};
    std::string last{};
};

Task<NodeStepDone> SimNodeSteps::perform(NodeStep step) {
    CO_TRY(co_await check_cancelled());
    const NodeHost::Step key{step.node, step.name};
    host_.end_orphans(step.node);
    const bool starts = !step.start.empty();
    auto of = std::make_shared<Performance>(std::move(step), Instant{}, key);
    of->until = timers_.now() + of->step.deadline;
    auto done = co_await perform_all(of);
    const bool killed = !done && (done.error().code == Code::timeout || done.error().code == Code::cancelled);
    if (killed && starts && !life_.expired()) host_.programs.erase(key);
    co_return done;
}

Task<NodeStepDone> SimNodeSteps::perform_all(std::shared_ptr<Performance> of) {
    const auto has_all = [&] {
        return std::ranges::all_of(of->step.outputs,
                                   [&](const std::string& name) { return of->outputs.contains(name); });
    };
    if (CO_TRY(co_await is_done(of)) && has_all()) co_return NodeStepDone{std::move(of->outputs), true};
    leave_traces(host_, of->step.name);
    if (of->step.again && !of->step.undo.empty()) CO_TRY(co_await must(of, of->step.undo));
    for (const std::string& other : of->step.stop) host_.programs.erase({of->step.node, other});
    for (const StepFile& file : of->step.files) {
        CO_TRY(co_await pass(of, std::chrono::milliseconds{1}));
        host_.files[file.path] = file;
    }
    if (!of->step.run.empty()) CO_TRY(co_await must(of, of->step.run));
    if (!of->step.start.empty()) {
        if (host_.missing.contains(of->step.start[0]))
            co_return fail(Code::not_found,
                           fmt::format("the program '{}' is not on this host", of->step.start[0]),
                           "program_missing");
        ++host_.runs[of->step.start[0]];
        host_.programs[of->key] = of->step.start;
        host_.done.insert(of->key);
    }
    CO_TRY(co_await await_done(of));
    for (const std::string& name : of->step.outputs)
        if (!of->outputs.contains(name))
            co_return fail(Code::conflict, fmt::format("step {} did not print {}", of->step.name, name),
                           "step_failed");
    clean(host_, of->step);
    co_return NodeStepDone{std::move(of->outputs), false};
}

// So much of the step's time. Errors: timeout (step_late), cancelled.
Task<> SimNodeSteps::pass(std::shared_ptr<Performance> of, Duration time) {
    const Duration left = std::max<Duration>(of->until - timers_.now(), {});
    CO_TRY(co_await sleep(timers_, std::min(time, left)));
    if (time >= left)
        co_return fail(Code::timeout, fmt::format("step {} is not done in time", of->step.name), "step_late");
    co_return Result<>{};
}

SimCommand SimNodeSteps::played(const Performance& of, const std::string& program, bool asks) {
    const auto found = host_.commands.find(program);
    SimCommand plays = found == host_.commands.end() ? SimCommand{} : found->second;
    if (found == host_.commands.end()) {
        plays.time = Duration{static_cast<std::int64_t>(
            host_.dice.below(static_cast<std::uint64_t>(host_.faults.time_max.count()) + 1))};
        if (asks) plays.exit_code = host_.done.contains(of.key) ? 0 : 1;
        for (const std::string& name : of.step.outputs)
            if (!asks) plays.output += fmt::format("{}=simulated-{:016x}\n", name, host_.dice.next());
    }
    if (!plays.asks.empty()) plays.exit_code = host_.marked.contains(plays.asks) ? 0 : 1;
    return plays;
}

// Takes effect in the middle of its time: who dies meanwhile leaves it done or not done.
Task<SimCommand> SimNodeSteps::command(std::shared_ptr<Performance> of, std::vector<std::string> words,
                                       bool asks) {
    const std::string program = words[0];
    if (host_.missing.contains(program))
        co_return fail(Code::not_found, fmt::format("the program '{}' is not on this host", program),
                       "program_missing");
    ++host_.runs[program];
    SimCommand plays = played(*of, program, asks);
    const bool fails = std::exchange(host_.faults.fail_next, false) || host_.dice.chance(host_.faults.fail);
    if (host_.dice.chance(host_.faults.hang)) plays.time = forever;
    const Duration half = plays.time / 2, rest = plays.time - half;
    const std::uint64_t id = ++host_.begun_;
    host_.alive.insert(program);
    host_.running.emplace(id, NodeHost::Running{.of = of->key,
                                                .words = std::move(words),
                                                .plays = std::move(plays),
                                                .asks = asks,
                                                .works = !fails || host_.dice.chance(0.5)});
    struct Course {
        SimNodeSteps& steps;
        std::uint64_t id;
        Instant middle;
        Duration half, rest;
        bool ended = false;
        ~Course() {
            NodeHost& host = steps.host_;
            if (ended || !steps.life_.expired()) {
                host.end(id);
                return;
            }
            const Duration passed = steps.timers_.now() - middle + half;
            passed < half ? host.go_on_alone(id, half - passed, rest)
                          : host.go_on_alone(id, {}, half + rest - passed);
        }
    } course{*this, id, timers_.now() + half, half, rest};
    CO_TRY(co_await pass(of, half));
    host_.take_effect(host_.running.at(id));
    CO_TRY(co_await pass(of, rest));
    course.ended = true;
    SimCommand end = host_.running.at(id).plays;
    if (fails) end.exit_code = 1;
    for (auto& [name, value] : outputs_in(end.output, of->step.outputs)) of->outputs[name] = value;
    of->last = without_outputs(end.output + end.complaint, of->step.outputs);
    co_return end;
}

Task<> SimNodeSteps::must(std::shared_ptr<Performance> of, std::vector<std::string> words) {
    const auto end = CO_TRY(co_await command(of, words, false));
    if (end.exit_code == 0) co_return Result<>{};
    co_return fail(Code::conflict,
                   fmt::format("'{}' of step {} ended with {}{}{}", words[0], of->step.name, end.exit_code,
                               of->last.empty() ? "" : ":", of->last),
                   "step_failed");
}

Task<bool> SimNodeSteps::is_done(std::shared_ptr<Performance> of) {
    if (of->step.done.empty()) co_return false;
    co_return CO_TRY(co_await command(of, of->step.done, true)).exit_code == 0;
}

Task<> SimNodeSteps::await_done(std::shared_ptr<Performance> of) {
    if (of->step.done.empty()) co_return Result<>{};
    while (!CO_TRY(co_await is_done(of))) {
        if (of->step.start.empty())
            co_return fail(Code::conflict,
                           fmt::format("step {} is not done although its command ended with 0{}{}",
                                       of->step.name, of->last.empty() ? "" : ":", of->last),
                           "step_failed");
        CO_TRY(co_await pass(of, std::chrono::seconds{1}));
    }
    co_return Result<>{};
}

Task<> SimNodeSteps::forget(std::string node) {
    CO_TRY(co_await sleep(timers_, std::chrono::milliseconds{1}));
    std::erase_if(host_.programs, [&](const auto& program) { return program.first.first == node; });
    std::erase_if(host_.done, [&](const NodeHost::Step& step) { return step.first == node; });
    CO_TRY(co_await sleep(timers_, std::chrono::milliseconds{1}));
    co_return Result<>{};
}

Task<std::vector<Leftover>> SimNodeSteps::look(Leftovers what) {
    CO_TRY(co_await sleep(timers_, std::chrono::milliseconds{5}));
    LeftoverList found;
    for (const Leftover& one : host_.left)
        if (is_of(what, one))
            found.add(one.kind,
                      one.kind == "process" || one.kind == "gpu" ? one.name + " (pid 812)" : one.name);
    for (const auto& [step, words] : host_.programs)
        if (fits_any(what.processes, file_name(words[0])))
            found.add("process", file_name(words[0]) + " (pid 813)");
    for (const auto& [path, file] : host_.files)
        if (fits_any(what.files, path)) found.add("file", path);
    co_return found.sorted();
}

Task<NodeApi> SimNodeSteps::api(std::string cluster) {
    CO_TRY(co_await sleep(timers_, std::chrono::milliseconds{1}));
    co_return fail(Code::not_found, fmt::format("no API server of cluster {} runs in a simulation", cluster),
                   "no_cluster_api");
}

}  // namespace hostler::sim
