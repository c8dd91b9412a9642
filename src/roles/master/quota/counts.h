// What operators see of quotas in the metrics of a master that leads.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/metrics.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Of this term.
struct QuotaCounts {
    std::map<std::string, std::uint64_t> refused;  // Asks, by tenant.
};

void write_quota_metrics(MetricsPage& page, const Desk& desk);

}  // namespace hostler::master
