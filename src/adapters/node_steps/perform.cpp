#include "adapters/node_steps/perform.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "adapters/node_steps/command.h"
#include "adapters/node_steps/files.h"
#include "adapters/node_steps/groups.h"

namespace hostler::node_steps {

namespace {

using std::chrono::milliseconds;

class Performance {
public:
    Performance(const StepSettings& settings, const NodeStep& step, const Stop& stop)
        : settings_(settings), step_(step), stop_(stop), programs_(settings) {}

    Result<NodeStepDone> run() {
        // An agent that died may have left it in the middle, or another step of the node: a command that
        // makes what this one cleans.
        (void)end_groups(groups_named(settings_, step_.node, {"done", "undo", "run"}));
        if (TRY(is_done()) && has_all()) return NodeStepDone{std::move(outputs_), true};
        auto done = go();
        // Late or cancelled, nothing of it runs on.
        if (!done && !step_.start.empty() &&
            (done.error().code == Code::timeout || done.error().code == Code::cancelled))
            (void)programs_.end(step_.node, step_.name);
        TRY(std::move(done));
        return NodeStepDone{std::move(outputs_), false};
    }

private:
    std::string group_of(std::string_view part) const {
        return fmt::format("{}.{}.{}", step_.node, step_.name, part);
    }
    Result<> go() {
        if (step_.again && !step_.undo.empty()) TRY(must(step_.undo, "undo"));
        for (const std::string& other : step_.stop) TRY(programs_.end(step_.node, other));
        bool changed = false;
        for (const StepFile& file : step_.files)
            changed = TRY(write_whole(file.path, file.text, static_cast<unsigned>(file.mode))) || changed;
        if (stop_.now()) return over();
        if (!step_.run.empty()) TRY(must(step_.run, "run"));
        if (!step_.start.empty()) TRY(programs_.begin(step_.node, step_.name, step_.start, changed, stop_));
        TRY(await_done());
        for (const std::string& name : step_.outputs)
            if (!outputs_.contains(name))
                return fail(Code::conflict, fmt::format("step {} did not print {}", step_.name, name),
                            "step_failed");
        return {};
    }

    Result<CommandEnd> command(const std::vector<std::string>& arguments, std::string_view part) {
        auto end = TRY(run_command(settings_, group_of(part), arguments, stop_));
        for (auto& [name, value] : outputs_in(end.output, step_.outputs)) outputs_[name] = value;
        return end;
    }
    // Errors: conflict (step_failed), those of the command.
    Result<> must(const std::vector<std::string>& arguments, std::string_view part) {
        const auto end = TRY(command(arguments, part));
        if (end.exit_code == 0) return {};
        return failed(fmt::format("'{}' of step {} ended with {}", arguments[0], step_.name, end.exit_code),
                      end);
    }
    Result<bool> is_done() {
        if (step_.done.empty()) return false;
        last_ = TRY(command(step_.done, "done"));
        return last_.exit_code == 0;
    }
    bool has_all() const {
        return std::ranges::all_of(step_.outputs,
                                   [&](const std::string& name) { return outputs_.contains(name); });
    }
    // A program that was begun needs its time; what has run is done now or failed.
    Result<> await_done() {
        if (step_.done.empty()) return {};
        constexpr milliseconds pause_max{4'000};
        for (milliseconds pause{100}; !TRY(is_done()); pause = std::min(pause * 2, pause_max)) {
            if (step_.start.empty())
                return failed(
                    fmt::format("step {} is not done although its command ended with 0", step_.name), last_);
            for (const auto until = Clock::now() + pause; Clock::now() < until && !stop_.now();)
                std::this_thread::sleep_for(milliseconds{20});
            if (stop_.now()) return over();
        }
        return {};
    }
    Result<> over() const {
        if (stop_.cancelled()) return fail(Code::cancelled, "cancelled");
        return fail(Code::timeout, fmt::format("step {} is not done in time", step_.name), "step_late");
    }
    std::unexpected<Error> failed(std::string sentence, const CommandEnd& end) const {
        const std::string lines = last_lines(end.last, step_.outputs, outputs_);
        if (!lines.empty()) sentence += ":\n" + lines;
        return fail(Code::conflict, std::move(sentence), "step_failed");
    }

    const StepSettings& settings_;
    const NodeStep& step_;
    const Stop& stop_;
    Programs programs_;
    std::map<std::string, std::string> outputs_;
    CommandEnd last_;
};

}  // namespace

Result<NodeStepDone> perform(const StepSettings& settings, const NodeStep& step, const Stop& stop) {
    return Performance{settings, step, stop}.run();
}

}  // namespace hostler::node_steps
