#include "bin/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace hostler::bin {

std::optional<int> read_arguments(CLI::App& app, int argc, const char* const* argv) {
    constexpr int usage = 2;
    try {
        app.parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::ParseError& end) {
        if (end.get_exit_code() == 0) return app.exit(end);
        fmt::print(stderr, "{}: {}; --help tells more\n", app.get_name(), end.what());
        return usage;
    }
}

}  // namespace hostler::bin
