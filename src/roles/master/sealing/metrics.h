// What operators see of sealing in the metrics of a master that leads.
#pragma once

#include "core/metrics.h"
#include "ports/sealer.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

void write_sealing_metrics(MetricsPage& page, const Desk& desk, const Sealer& sealer);

}  // namespace hostler::master
