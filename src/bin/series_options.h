// How long a master keeps series, as its options say.
#pragma once

#include <string>
#include <vector>

#include "roles/master/state/settings.h"

namespace CLI {
class App;
}

namespace hostler::bin {

// Texts as people write them; empty: the master's default.
struct SeriesOptions {
    std::string raw, minute, hour;  // "15d", "36h", "2y"
    std::string disk_max;           // "200Gi"; empty: no bound.

    void add_to(CLI::App& app);
    // Errors: invalid, with the option.
    Result<> put_into(master::Settings& settings) const;
    // The same for another process.
    std::vector<std::string> arguments() const;
};

}  // namespace hostler::bin
