#include "bin/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace hostler::bin {

std::optional<int> read_arguments(CLI::App& app, int argc, const char* const* argv) {
    try {
        app.parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::ParseError& end) {
        if (end.get_exit_code() == 0) return app.exit(end);
        return wrong_usage(app, end.what());
    }
}

int wrong_usage(const CLI::App& app, std::string_view what) {
    fmt::print(stderr, "{}: {}; --help tells more\n", app.get_name(), what);
    return 2;
}

}  // namespace hostler::bin
