// The command line of a role, read the same way by all programs.
#pragma once

#include <optional>
#include <string_view>

namespace CLI {
class App;
}

namespace hostler::bin {

// The exit code of a program that ends at once: 0: it has shown its help; 2: it has said in a line what is
// wrong. Nothing: it goes on.
std::optional<int> read_arguments(CLI::App& app, int argc, const char* const* argv);
// Says in a line what is wrong with arguments that were read. The exit code.
int wrong_usage(const CLI::App& app, std::string_view what);

}  // namespace hostler::bin
