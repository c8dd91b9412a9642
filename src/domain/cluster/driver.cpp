#include "domain/cluster/driver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace hostler {

namespace {

constexpr std::string_view open_mark = "{{", close_mark = "}}";
constexpr std::size_t steps_max = 64, files_max = 16, words_max = 64;
constexpr std::size_t text_bytes_max = 64 << 10;
constexpr std::int64_t deadline_s_max = 3600, tries_max = 10;

bool is_word(std::string_view text) {
    return !text.empty() && text.size() <= 63 && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '.';
    });
}

// Collects what is wrong.
struct Faults {
    std::vector<FieldError> fields;
    void add(std::string path, std::string message) {
        fields.push_back({std::move(path), std::move(message)});
    }
};

class StepCheck {
public:
    StepCheck(Faults& faults, const std::set<std::string>& known) : faults_(faults), known_(known) {}

    void look(const DriverStep& step, const std::string& at) {
        if (!is_word(step.name)) faults_.add(at + ".name", "a name has letters, digits, '-' and '.'");
        if (!names_.insert(step.name).second)
            faults_.add(at + ".name", fmt::format("another step is called {}", step.name));
        if (step.run.empty() && step.start.empty() && step.files.empty())
            faults_.add(at + ".run", "it runs nothing and writes no file");
        if (step.deadline_s < 1 || step.deadline_s > deadline_s_max)
            faults_.add(at + ".deadlineS", fmt::format("from 1 to {}", deadline_s_max));
        if (step.tries < 1 || step.tries > tries_max)
            faults_.add(at + ".tries", fmt::format("from 1 to {}", tries_max));
        if (step.files.size() > files_max) faults_.add(at + ".files", fmt::format("at most {}", files_max));
        for (std::size_t i = 0; i < step.files.size(); ++i)
            look(step.files[i], fmt::format("{}.files[{}]", at, i));
        words(step.run, at + ".run"), words(step.start, at + ".start");
        words(step.done, at + ".done"), words(step.undo, at + ".undo");
        for (const std::string& name : step.outputs)
            if (!is_word(name)) faults_.add(at + ".outputs", fmt::format("'{}' is no name of a value", name));
    }

private:
    void look(const StepFile& file, const std::string& at) {
        const bool absolute = file.path.starts_with('/') || file.path.starts_with("{{agent.folder}}/");
        if (!absolute || file.path.find("/../") != std::string::npos || file.path.ends_with("/.."))
            faults_.add(at + ".path", "an absolute path without '..', or one below {{agent.folder}}/");
        text(file.path, at + ".path");
        if (file.mode < 0 || file.mode > 0777) faults_.add(at + ".mode", "from 0 to 0777");
        text(file.text, at + ".text");
    }
    void words(const std::vector<std::string>& words, const std::string& at) {
        if (words.size() > words_max) faults_.add(at, fmt::format("at most {} words", words_max));
        if (!words.empty() && words[0].empty()) faults_.add(at + "[0]", "the name of a program");
        for (std::size_t i = 0; i < words.size(); ++i) text(words[i], fmt::format("{}[{}]", at, i));
    }
    void text(std::string_view text, const std::string& at) {
        if (text.size() > text_bytes_max)
            return faults_.add(at, fmt::format("at most {} bytes", text_bytes_max));
        const auto names = names_in(text);
        if (!names) return faults_.add(at, names.error().message);
        for (const std::string& name : *names)
            if (!known_.contains(name)) faults_.add(at, fmt::format("nothing gives the value {}", name));
    }

    Faults& faults_;
    const std::set<std::string>& known_;
    std::set<std::string> names_;
};

}  // namespace

const std::vector<std::string_view>& given_values() {
    static const std::vector<std::string_view> names{"version",          "cluster.id",        "cluster.name",
                                                     "cluster.endpoint", "cluster.addresses", "node.name",
                                                     "node.address",     "control.address",   "agent.folder",
                                                     "save.id",          "save.file",         "saves.folder"};
    return names;
}

Result<> check(const Driver& driver) {
    Faults faults;
    if (!is_word(driver.name)) faults.add("name", "a name has letters, digits, '-' and '.'");
    if (driver.versions.empty()) faults.add("versions", "at least one");
    if (driver.steps.empty() || driver.steps.size() > steps_max)
        faults.add("steps", fmt::format("from 1 to {}", steps_max));
    std::set<std::string> known(given_values().begin(), given_values().end());
    for (const auto& [name, value] : driver.values) {
        if (!is_word(name)) faults.add("values", fmt::format("'{}' is no name of a value", name));
        known.insert(name);
    }
    for (const DriverStep& step : driver.steps) known.insert(step.outputs.begin(), step.outputs.end());
    StepCheck steps{faults, known};
    for (std::size_t i = 0; i < driver.steps.size(); ++i)
        steps.look(driver.steps[i], fmt::format("steps[{}]", i));
    for (const StepPhase phase : {StepPhase::create, StepPhase::join, StepPhase::leave, StepPhase::clean})
        if (std::ranges::none_of(driver.steps,
                                 [phase](const DriverStep& step) { return step.phase == phase; }))
            faults.add("steps", "there is no step of phase create, join, leave or clean");
    const auto has = [&](StepPhase phase) {
        return std::ranges::any_of(driver.steps,
                                   [phase](const DriverStep& step) { return step.phase == phase; });
    };
    const bool saves = has(StepPhase::save);
    if (saves != has(StepPhase::restore) || saves != has(StepPhase::erase))
        faults.add("steps", "phases save, restore and erase have steps together");
    if (faults.fields.empty()) return {};
    Error error{Code::invalid, fmt::format("the driver {} is wrong", driver.name)};
    error.fields = std::move(faults.fields);
    return std::unexpected(std::move(error));
}

std::vector<const DriverStep*> steps_of(const Driver& driver, StepPhase phase, NodeRole role) {
    std::vector<const DriverStep*> steps;
    for (const DriverStep& step : driver.steps)
        if (step.phase == phase &&
            (step.roles.empty() || std::ranges::find(step.roles, role) != step.roles.end()))
            steps.push_back(&step);
    return steps;
}

const DriverStep* step_named(const Driver& driver, std::string_view name) {
    const auto at = std::ranges::find(driver.steps, name, &DriverStep::name);
    return at == driver.steps.end() ? nullptr : &*at;
}

Result<std::vector<std::string>> names_in(std::string_view text) {
    std::vector<std::string> names;
    for (auto at = text.find(open_mark); at != std::string_view::npos; at = text.find(open_mark, at)) {
        const auto from = at + open_mark.size(), end = text.find(close_mark, from);
        if (end == std::string_view::npos) return fail(Code::invalid, "a '{{' is not closed");
        const std::string name{text.substr(from, end - from)};
        if (!is_word(name)) return fail(Code::invalid, fmt::format("'{}' is no name of a value", name));
        names.push_back(name);
        at = end + close_mark.size();
    }
    return names;
}

Result<std::string> filled(std::string_view text, const StepValues& values) {
    std::vector<std::string> missing;
    for (const std::string& name : TRY(names_in(text)))
        if (!values.contains(name)) missing.push_back(name);
    if (!missing.empty()) return fail(Code::invalid, fmt::format("no value of {}", fmt::join(missing, ", ")));
    std::string out;
    while (true) {
        const auto at = text.find(open_mark);
        out += text.substr(0, at);
        if (at == std::string_view::npos) return out;
        const auto from = at + open_mark.size(), end = text.find(close_mark, from);
        out += values.at(std::string{text.substr(from, end - from)});
        text.remove_prefix(end + close_mark.size());
    }
}

}  // namespace hostler
