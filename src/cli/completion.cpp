#include "cli/completion.h"

#include <fmt/format.h>

#include "cli/client.h"
#include "cli/render.h"

namespace hostler::cli {

namespace {

constexpr std::chrono::seconds prompt_patience{1};  // Somebody waits at a prompt.

// What was typed of it before the word that is being completed.
Connection typed_connection(const std::vector<std::string>& words) {
    Connection typed;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const auto take = [&](std::string_view flag, std::string& into) {
            if (words[i] == flag && i + 2 < words.size()) into = words[i + 1];
            if (words[i].starts_with(flag) && words[i].substr(flag.size()).starts_with('='))
                into = words[i].substr(flag.size() + 1);
        };
        take("--api", typed.api);
        take("--key", typed.key);
        take("--ca", typed.ca);
    }
    return typed;
}

// Nothing in it means something to a shell.
bool is_harmless(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._-").contains(c);
    });
}

Task<std::vector<std::string>> names_of(CliWorld& world, Connection typed, const api::Operation& list) {
    const Connection found = CO_TRY(connection(world, std::move(typed)));
    ApiClient client{
        world, CO_TRY(bases_of(found)), found.key, {.total = prompt_patience, .again = Duration{0}}};
    const json::value page = CO_TRY(co_await client.call({.operation = &list, .query = {{"limit", "1000"}}}));
    std::vector<std::string> names;
    const json::value* items = page.is_object() ? page.get_object().if_contains("items") : nullptr;
    if (items && items->is_array())
        for (const json::value& item : items->get_array())
            names.push_back(name_of(*list.response().find("items")->schema->element, item));
    co_return names;
}

}  // namespace

Task<> complete(CliWorld& world, std::vector<std::string> words) {
    CommandTree tree{world};
    const Candidates found = tree.candidates(words);
    for (const std::string& word : found.words) world.out(word + "\n");
    if (found.files) world.out(":files\n");
    if (!found.names) co_return Result<>{};
    const std::string begun = words.empty() ? "" : words.back();
    const auto names = co_await names_of(world, typed_connection(words), *found.names);
    if (!names) co_return Result<>{};  // Whoever types wants no lecture.
    for (const std::string& name : *names)
        if (name.starts_with(begun) && is_harmless(name)) world.out(name + "\n");
    co_return Result<>{};
}

Result<std::string> completion_script(std::string_view shell) {
    // One candidate a line; the line ":files" stands for the names of files.
    if (shell == "bash")
        return R"(_hostler() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o default 2>/dev/null
        else
            COMPREPLY+=("$line")
        fi
    done < <(hostler __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _hostler hostler
)";
    if (shell == "zsh")
        return R"(#compdef hostler
_hostler() {
    local -a found
    found=("${(@f)$(hostler __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if (( ${found[(Ie):files]} )); then
        _files
    elif [[ -n "${found[1]}" ]]; then
        compadd -- "${found[@]}"
    fi
}
compdef _hostler hostler
)";
    if (shell == "fish")
        return R"(function __hostler_complete
    set -l typed (commandline -opc) (commandline -ct)
    set -l found (hostler __complete $typed[2..-1] 2>/dev/null)
    if contains -- :files $found
        __fish_complete_path (commandline -ct)
    else
        for one in $found
            echo $one
        end
    end
end
complete -c hostler -f -a '(__hostler_complete)'
)";
    return fail(Code::invalid, fmt::format("'{}' is none of bash, zsh, fish", shell));
}

}  // namespace hostler::cli
