// How hosts are watched and instances run: options of a master, which `hostler up` has too and passes on.
#pragma once

#include <string>
#include <vector>

#include "roles/master/state/settings.h"

namespace CLI {
class App;
}

namespace hostler::bin {

struct RunOptions {
    double report_s = 10;
    double sample_s = 0;
    double unreachable_s = 35;
    double lost_s = 300;
    double move_lease_s = 600;
    double instance_disk_gib = 10;
    double stop_grace_s = 30;
    double stop_grace_max_s = 300;
    double ready_s = 300;
    double job_min_run_s = 60;
    double audit_days = 365;
    bool require_disk_limit = false;
    std::vector<std::string> report_of{};  // "H100=1"
    std::string tenants = "open";          // Or "declared".

    void add_to(CLI::App& app);
    // Errors: invalid, with the option.
    Result<> put_into(master::Settings& settings) const;
    // The same for another process.
    std::vector<std::string> arguments() const;
};

}  // namespace hostler::bin
