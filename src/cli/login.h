// Signing in and out: what is kept as the credential of later calls.
#pragma once

#include <string>

#include "cli/config.h"

namespace CLI {
class App;
}

namespace hostler::cli {

struct LoginCommands {
    CLI::App* login = nullptr;
    CLI::App* logout = nullptr;
    std::string user;      // --user
    std::string password;  // --password: "@FILE" or "-"; empty: it is asked for.
    bool browser = false;  // --browser

    void add(CLI::App& app);
};

// With a key of `flags` or the environment; else as a person. Errors: invalid, cancelled, those of the API.
Task<> login(CliWorld& world, Connection flags, LoginCommands wish);
Task<> logout(CliWorld& world, Connection flags);

}  // namespace hostler::cli
