// What people type who know other programs, as the table of operations names it.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler::cli {

// Further commands that are short for one of the table: `hostler logs X` is `hostler instance logs X`.
struct Short {
    std::string_view typed;
    std::string_view noun;
    std::string_view verb;
};
std::span<const Short> shorts();

// Where the first word stands that is neither a global flag nor the value of one; args.size(): nowhere.
std::size_t first_word(const std::vector<std::string>& args, const CLI::App& app);

// Rewrites short forms (`logs X`), plural nouns (`instances list`), the verb before its noun (`get instance
// X`, `list hosts`), `help COMMAND` and `version`, with global flags before them.
void expand(std::vector<std::string>& args, const CLI::App& app);

// Errors: invalid: the first word is no command, of the tree or of `others`; a sentence with what is meant.
Result<> check_first_word(const std::vector<std::string>& args, const CLI::App& app,
                          const std::vector<std::string>& others);

// "delete" of "rm": the verb of ours for one of another program. Empty: none.
std::string_view verb_meant(std::string_view typed);

}  // namespace hostler::cli
