// What may be typed next.
#include <fmt/format.h>

#include <utility>

#include "api/operation_list.h"
#include "api/router.h"
#include "cli/commands.h"
#include "cli/typed.h"

namespace hostler::cli {

namespace {

using api::Kind;

// The list whose items a field names: that of the noun of this name, else of the first with this field in its
// path. Null: none.
const api::Operation* list_of_names(std::string_view field) {
    if (field == "storageID") field = "volume";
    if (field == "specName") field = "spec";
    std::string_view noun;
    const std::string step = fmt::format("{{{}}}", field);
    for (const api::Operation* one : api::operations())
        if (one->path.contains(step) && (noun.empty() || one->noun == field)) noun = one->noun;
    for (const api::Operation* one : api::operations())
        if (!noun.empty() && one->noun == noun && one->list && one->verb == "list") return one;
    return nullptr;
}

}  // namespace

// The value of the option before it. False: that takes none.
bool CommandTree::complete_value(const CLI::App& at, const std::string& before, Candidates& out) const {
    if (before == "-o" || before == "--output") {
        out.words.assign(output_formats.begin(), output_formats.end());
        return true;
    }
    if (before == "-f" || before == "--file" || before == "--ca") {
        out.files = true;
        return true;
    }
    if (!before.starts_with('-')) return false;
    for (const auto& command : commands) {
        if (command->app != &at) continue;
        for (const auto& flag : command->flags) {
            if (!flag->option->check_name(before)) continue;
            const api::Schema& schema = *flag->property->schema;
            if (schema.kind == Kind::boolean) return false;
            out.words.assign(schema.values.begin(), schema.values.end());
            out.names = list_of_names(flag->property->name);
            return true;
        }
    }
    const CLI::Option* option = at.get_option_no_throw(before);
    if (!option) option = app.get_option_no_throw(before);
    return option && option->get_items_expected_min() > 0;
}

Candidates CommandTree::candidates(std::vector<std::string> typed) {
    std::string last;
    if (!typed.empty()) {
        last = typed.back();
        typed.pop_back();
    }
    expand(typed, app);
    add_options(typed);
    const CLI::App* at = &app;
    const auto all = [](const CLI::App*) { return true; };
    std::string before;
    std::size_t given = 0;  // Arguments by position, behind the command's own words.
    bool value = false;     // `word` belongs to the option before it.
    for (const std::string& word : typed) {
        const CLI::App* next = nullptr;
        for (const CLI::App* one : at->get_subcommands(all))
            if (!value && !next && one->check_name(word)) next = one;
        if (next)
            at = next;
        else if (!value && !word.starts_with('-'))
            ++given;
        Candidates ignored;
        value = !value && !word.contains('=') && complete_value(*at, word, ignored);
        before = value ? word : "";
    }
    Candidates out;
    if (!complete_value(*at, before, out) && !last.starts_with('-')) {
        if (at == local.completion) out.words = {"bash", "zsh", "fish"};
        for (const CLI::App* one : at->get_subcommands(all)) out.words.push_back(one->get_name());
        if (at == &app) {
            out.words.insert(out.words.end(), others_.begin(), others_.end());
            for (const Short& one : shorts()) out.words.emplace_back(one.typed);
        }
        for (const auto& command : commands) {
            if (command->app != at) continue;
            std::vector<const Flag*> positional;
            for (const auto& flag : command->flags)
                if (!flag->name.starts_with('-')) positional.push_back(flag.get());
            if (given >= positional.size()) continue;
            const api::Property& property = *positional[given]->property;
            const api::Operation* list = list_of_names(property.name);
            // In a body it is the name of what is to be made.
            const bool fresh = list && list->noun == command->operation->noun &&
                               api::place_of(*command->operation, property) == api::Place::body;
            if (!fresh) out.names = list;
        }
    } else if (before.empty()) {
        for (const CLI::App* from : {at, &std::as_const(app)})
            for (const CLI::Option* option : from->get_options())
                for (const auto& name : option->get_lnames()) out.words.push_back("--" + name);
    }
    std::erase_if(out.words, [&](const std::string& word) { return !word.starts_with(last); });
    std::sort(out.words.begin(), out.words.end());
    out.words.erase(std::unique(out.words.begin(), out.words.end()), out.words.end());
    return out;
}

}  // namespace hostler::cli
