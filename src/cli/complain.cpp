#include "cli/complain.h"

#include <fmt/format.h>

#include <array>

#include "api/operation_list.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

// "`hostler spec list` names all", for a wrong name of which the API knows no near one; else empty.
std::string list_that_helps(std::string_view said) {
    constexpr std::string_view begin = "there is no ";
    // Not all that the API names is called so in commands.
    constexpr auto nouns = std::to_array<std::pair<std::string_view, std::string_view>>(
        {{"API key", "key"}, {"access point", "access"}, {"silence", "alert silence"}});
    if (!said.starts_with(begin) || said.contains("; did you mean ")) return {};
    said.remove_prefix(begin.size());
    const auto names = [&](std::string_view kind) {
        return said.starts_with(kind) && said.substr(kind.size()).starts_with(' ');
    };
    std::string_view noun;
    for (const api::Operation* one : api::operations())
        if (one->list && one->verb == "list" && names(one->noun) && one->noun.size() > noun.size())
            noun = one->noun;
    for (const auto& [kind, called] : nouns)
        if (names(kind)) noun = called;
    return noun.empty() ? "" : fmt::format("`hostler {} list` names all", noun);
}

std::string help_of(const Error& error) {
    // The API speaks of headers there.
    if (error.reason == "sign_in_failed" || error.reason == "code_needed") return {};
    if (error.code == Code::unauthenticated) return "`hostler login`, or a key by --key or HOSTLER_KEY";
    if (!error.help.empty()) return safe_lines(error.help);
    if (error.code == Code::not_found) return list_that_helps(error.message);
    for (const FieldError& field : error.fields)
        if (const std::string list = list_that_helps(field.message); !list.empty()) return list;
    return {};
}

}  // namespace

void print_error(CliWorld& world, const Error& error) {
    // A single wrong field is in the message already.
    std::string message = error.message;
    if (error.fields.size() == 1 && message == error.fields[0].path + ": " + error.fields[0].message)
        message = "the request is wrong";
    world.err(fmt::format("hostler: {}\n", safe_lines(message)));
    for (const FieldError& field : error.fields)
        world.err(fmt::format("  {}: {}\n", safe_line(field.path), safe_lines(field.message)));
    if (const std::string help = help_of(error); !help.empty())
        world.err(fmt::format("  would help: {}\n", help));
}

}  // namespace hostler::cli
